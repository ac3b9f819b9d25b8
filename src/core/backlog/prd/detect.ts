/** Detects languages, tools and check commands of a project from file names and manifests. Runs nothing. */
import { isRecord, parseJson } from "../../json.ts";
import { parseCheckFlag } from "../../spec/check-flag.ts";
import { commandsFor, type ProjectFacts, type ToolCommand } from "../../toolchain/project-commands.ts";
import { TOOLS } from "../../toolchain/table.ts";
import type { ProjectCommand } from "../../toolchain/tool.ts";

export interface StackFacts extends ProjectFacts {
  /** The texts of the `MANIFESTS` that exist. */
  readonly manifests: Readonly<Record<string, string>>;
}

/** Files that configure tools which have no file of their own. */
export const MANIFESTS = ["pyproject.toml", "setup.cfg", "tox.ini", "composer.json", "Gemfile"] as const;

type Kind = "test" | "lint" | "types";

type Commands = Readonly<Record<Kind, readonly ToolCommand[]>>;

export interface Stack extends Commands {
  /** `node (pnpm)`, `python`; several for a project of several languages. */
  readonly names: readonly string[];
  /** All commands in the form of `--check`. */
  readonly checks: readonly string[];
}

export function detectStack(facts: StackFacts): Stack {
  const has = (sign: RegExp) => facts.files.some((file) => sign.test(file));
  const names = LANGUAGES.filter(({ sign }) => has(sign)).map(({ name }) =>
    name === "node" ? `node (${facts.packageManager ?? "npm"})` : name,
  );
  const found = { test: merge("test", facts), lint: merge("lint", facts), types: merge("types", facts) };
  return { names, ...found, checks: toChecks(found) };
}

const LANGUAGES: readonly { readonly name: string; readonly sign: RegExp }[] = [
  { name: "node", sign: /^package\.json$/ },
  { name: "python", sign: /^(?:pyproject\.toml|setup\.py|setup\.cfg|requirements.*\.txt|Pipfile)$/ },
  { name: "go", sign: /^go\.mod$/ },
  { name: "rust", sign: /^Cargo\.toml$/ },
  { name: "ruby", sign: /^(?:Gemfile|Rakefile|.+\.gemspec)$/ },
  { name: "php", sign: /^composer\.json$/ },
  { name: ".net", sign: /\.(?:sln|slnx|csproj|fsproj)$/ },
  { name: "java (maven)", sign: /^pom\.xml$/ },
  { name: "java (gradle)", sign: /^build\.gradle(?:\.kts)?$/ },
];

/** Commands that a sentence would mean come first. Each tool adds its first matching command. */
function merge(kind: Kind, facts: StackFacts): readonly ToolCommand[] {
  const found = [...commandsFor(kind, facts)];
  for (const { name, commands = [] } of TOOLS) {
    const fits = commands.find((row) => row.topic === kind && isProposed(row, facts));
    const others = [name, ...(fits?.proposed?.instead ?? [])];
    if (fits !== undefined && !found.some(({ tool }) => others.includes(tool)))
      found.push({ tool: name, command: fits.command });
  }
  return found.map((one) => inEnvironment(one, facts));
}

function isProposed({ proposed, signs }: ProjectCommand, facts: StackFacts): boolean {
  if (proposed === undefined) return false;
  const { says, script } = proposed;
  const isSaid =
    says === undefined || Object.entries(says).some(([name, what]) => what.test(facts.manifests[name] ?? ""));
  const hasScript = script === undefined || composerScripts(facts).includes(script);
  return isSaid && hasScript && signs.every((sign) => facts.files.some((file) => sign.test(file)));
}

const PYTHON_TOOLS: ReadonlySet<string> = new Set(
  TOOLS.filter(({ through }) => through === "python").map(({ name }) => name),
);

/** A lock file names the program that runs the project's own copy of a tool. */
function inEnvironment({ tool, command }: ToolCommand, { files }: StackFacts): ToolCommand {
  if (!PYTHON_TOOLS.has(tool)) return { tool, command };
  const runner = files.includes("uv.lock") ? "uv run " : files.includes("poetry.lock") ? "poetry run " : "";
  return { tool, command: `${runner}${command}` };
}

function composerScripts({ manifests }: StackFacts): readonly string[] {
  const parsed = parseJson(manifests["composer.json"] ?? "");
  const scripts = isRecord(parsed) ? parsed.scripts : null;
  return typeof scripts === "object" && scripts !== null ? Object.keys(scripts) : [];
}

const NAMES: Readonly<Record<Kind, string>> = { test: "tests", lint: "lint", types: "types" };

/** Several tools of one kind get distinct names. */
function toChecks(found: Commands): readonly string[] {
  return (["test", "lint", "types"] as const).flatMap((kind) =>
    found[kind]
      .map(({ tool, command }) => {
        const name = found[kind].length === 1 ? NAMES[kind] : `${NAMES[kind]}:${tool}`;
        return `${name}=${command}`;
      })
      .filter((text) => parseCheckFlag(text).kind === "ok"),
  );
}
