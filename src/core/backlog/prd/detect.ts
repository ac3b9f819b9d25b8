/** What a project is made with, and the commands that prove it sound: from names and manifests, nothing is run. */

import { commandsFor, type ProjectFacts, type ToolCommand } from "../../goal/project-commands.ts";
import { parseCheckFlag } from "../../spec/check-flag.ts";

export interface StackFacts extends ProjectFacts {
  /** The texts of those of `MANIFESTS` that are there. */
  readonly manifests: Readonly<Record<string, string>>;
}

/** What is worth reading: the tools that a language's manifest configures are in no file of their own. */
export const MANIFESTS = ["pyproject.toml", "setup.cfg", "tox.ini", "composer.json", "Gemfile"] as const;

export interface Stack {
  /** `node (pnpm)`, `python`; several for a project of several languages. */
  readonly names: readonly string[];
  readonly test: readonly ToolCommand[];
  readonly lint: readonly ToolCommand[];
  readonly types: readonly ToolCommand[];
  /** The same in the form of `--check`. */
  readonly checks: readonly string[];
}

export function detectStack(facts: StackFacts): Stack {
  const has = (sign: RegExp) => facts.files.some((file) => sign.test(file));
  const names = LANGUAGES.filter(({ sign }) => has(sign)).map(({ name }) =>
    name === "node" ? `node (${facts.packageManager ?? "npm"})` : name,
  );
  const found = {
    test: merge("test", facts),
    lint: merge("lint", facts),
    types: merge("types", facts),
  };
  return { names, ...found, checks: toChecks(found) };
}

type Kind = "test" | "lint" | "types";

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

/** What the phrases know comes first; of one tool, its first command. */
function merge(kind: Kind, facts: StackFacts): readonly ToolCommand[] {
  const known = commandsFor(kind, facts).map((one) => inEnvironment(one, facts));
  const tools = new Set(known.map(({ tool }) => tool));
  const isCovered = ({ tool, instead = [] }: Rule) => [tool, ...instead].some((name) => tools.has(name));
  const more = RULES.filter((rule) => rule.kind === kind && rule.isThere(facts)).flatMap((rule) => {
    if (isCovered(rule)) return [];
    tools.add(rule.tool);
    return inEnvironment({ tool: rule.tool, command: rule.command(facts) }, facts);
  });
  return [...known, ...more];
}

interface Rule {
  readonly kind: Kind;
  readonly tool: string;
  /** Not beside these. */
  readonly instead?: readonly string[];
  readonly isThere: (facts: StackFacts) => boolean;
  readonly command: (facts: StackFacts) => string;
}

const hasFile =
  (...signs: RegExp[]) =>
  ({ files }: StackFacts) =>
    signs.every((sign) => files.some((file) => sign.test(file)));
const says =
  (name: (typeof MANIFESTS)[number], what: RegExp) =>
  ({ manifests }: StackFacts) =>
    what.test(manifests[name] ?? "");
const either =
  (...conditions: ((facts: StackFacts) => boolean)[]) =>
  (facts: StackFacts) =>
    conditions.some((condition) => condition(facts));
const all =
  (...conditions: ((facts: StackFacts) => boolean)[]) =>
  (facts: StackFacts) =>
    conditions.every((condition) => condition(facts));
const hasScript = (name: string) => (facts: StackFacts) => composerScripts(facts).includes(name);
const plain = (text: string) => () => text;

const GO = hasFile(/^go\.mod$/);
const PHP = hasFile(/^composer\.json$/);
const DOTNET = hasFile(/\.(?:sln|slnx|csproj|fsproj)$/);

const RULES: readonly Rule[] = [
  { kind: "test", tool: "pytest", isThere: usesPytest(), command: plain("pytest") },
  { kind: "test", tool: "composer", isThere: all(PHP, hasScript("test")), command: plain("composer test") },
  {
    kind: "test",
    tool: "phpunit",
    instead: ["composer"],
    isThere: all(PHP, hasFile(/^phpunit(?:\.dist)?\.xml(?:\.dist)?$/)),
    command: ({ manifests }) =>
      /"pestphp\/pest"/.test(manifests["composer.json"] ?? "") ? "vendor/bin/pest" : "vendor/bin/phpunit",
  },
  {
    kind: "test",
    tool: "rails",
    instead: ["rspec"],
    isThere: all(hasFile(/^test$/), hasFile(/^bin$/), says("Gemfile", /^\s*gem\s+["']rails["']/m)),
    command: plain("bin/rails test"),
  },
  {
    kind: "test",
    tool: "rake",
    instead: ["rspec", "rails"],
    isThere: hasFile(/^Rakefile$/, /^test$/),
    command: ({ files }) => (files.includes("Gemfile") ? "bundle exec rake test" : "rake test"),
  },
  {
    kind: "lint",
    tool: "ruff",
    isThere: says("pyproject.toml", /^\[tool\.ruff[.\]]/m),
    command: plain("ruff check"),
  },
  {
    kind: "lint",
    tool: "flake8",
    instead: ["ruff"],
    isThere: either(
      hasFile(/^\.flake8$/),
      says("setup.cfg", /^\[flake8\]/m),
      says("tox.ini", /^\[flake8\]/m),
    ),
    command: plain("flake8"),
  },
  { kind: "lint", tool: "composer", isThere: all(PHP, hasScript("lint")), command: plain("composer lint") },
  { kind: "lint", tool: "vet", instead: ["golangci-lint"], isThere: GO, command: plain("go vet ./...") },
  {
    kind: "lint",
    tool: "dotnet",
    isThere: all(DOTNET, hasFile(/^\.editorconfig$/)),
    command: plain("dotnet format --verify-no-changes --no-restore"),
  },
  {
    kind: "types",
    tool: "mypy",
    isThere: either(
      says("pyproject.toml", /^\[tool\.mypy[.\]]/m),
      says("setup.cfg", /^\[mypy\]/m),
      hasFile(/^\.?mypy\.ini$/),
    ),
    command: plain("mypy ."),
  },
  {
    kind: "types",
    tool: "pyright",
    isThere: either(hasFile(/^pyrightconfig\.json$/), says("pyproject.toml", /^\[tool\.pyright[.\]]/m)),
    command: plain("pyright"),
  },
  { kind: "types", tool: "go", isThere: GO, command: plain("go build ./...") },
  { kind: "types", tool: "cargo", isThere: hasFile(/^Cargo\.toml$/), command: plain("cargo check") },
  {
    kind: "types",
    tool: "phpstan",
    isThere: all(PHP, hasFile(/^phpstan(?:\.dist)?\.neon(?:\.dist)?$/)),
    command: plain("vendor/bin/phpstan analyse --no-progress"),
  },
  {
    kind: "types",
    tool: "psalm",
    instead: ["phpstan"],
    isThere: all(PHP, hasFile(/^psalm\.xml(?:\.dist)?$/)),
    command: plain("vendor/bin/psalm --no-progress"),
  },
  { kind: "types", tool: "dotnet", isThere: DOTNET, command: plain("dotnet build --nologo") },
  {
    kind: "types",
    tool: "maven",
    isThere: hasFile(/^pom\.xml$/),
    command: ({ files }) => (files.includes("mvnw") ? "./mvnw -q test-compile" : "mvn -q test-compile"),
  },
  {
    kind: "types",
    tool: "gradle",
    isThere: hasFile(/^build\.gradle(?:\.kts)?$/),
    command: ({ files }) => (files.includes("gradlew") ? "./gradlew testClasses" : "gradle testClasses"),
  },
];

function usesPytest(): (facts: StackFacts) => boolean {
  return either(
    says("pyproject.toml", /^\[tool\.pytest[.\]]/m),
    says("setup.cfg", /^\[tool:pytest\]/m),
    says("tox.ini", /^\[pytest\]/m),
  );
}

const PYTHON_TOOLS: ReadonlySet<string> = new Set(["pytest", "ruff", "flake8", "mypy", "pyright"]);

/** A lock says by what the project's own copies of its tools are called. */
function inEnvironment({ tool, command }: ToolCommand, { files }: StackFacts): ToolCommand {
  if (!PYTHON_TOOLS.has(tool)) return { tool, command };
  const runner = files.includes("uv.lock") ? "uv run " : files.includes("poetry.lock") ? "poetry run " : "";
  return { tool, command: `${runner}${command}` };
}

function composerScripts({ manifests }: StackFacts): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(manifests["composer.json"] ?? "null");
    const scripts = (parsed as { scripts?: unknown } | null)?.scripts;
    return typeof scripts === "object" && scripts !== null ? Object.keys(scripts) : [];
  } catch {
    return [];
  }
}

const NAMES: Readonly<Record<Kind, string>> = { test: "tests", lint: "lint", types: "types" };

/** Of several tools for one thing, each has its own name. */
function toChecks(found: Readonly<Record<Kind, readonly ToolCommand[]>>): readonly string[] {
  return (["test", "lint", "types"] as const).flatMap((kind) =>
    found[kind]
      .map(({ tool, command }) => {
        const name = found[kind].length === 1 ? NAMES[kind] : `${NAMES[kind]}:${tool}`;
        return `${name}=${command}`;
      })
      .filter((text) => parseCheckFlag(text).kind === "ok"),
  );
}
