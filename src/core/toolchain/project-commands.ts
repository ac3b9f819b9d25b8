/** The command lines that a sentence means: typed in it, or known from the tools of the project. */
import { TOOLS } from "./table.ts";
import type { Tool, Topic } from "./tool.ts";

export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;

export interface ProjectFacts {
  readonly packageManager: (typeof PACKAGE_MANAGERS)[number] | null;
  /** Names of the scripts in package.json. */
  readonly scripts: readonly string[];
  /** Names of the files and folders at the top. */
  readonly files: readonly string[];
}

export interface ToolCommand {
  readonly tool: string;
  readonly command: string;
}

/** One for each tool of the project. */
export function commandsFor(topic: Topic, facts: ProjectFacts): ToolCommand[] {
  const script = SCRIPTS[topic].find((name) => facts.scripts.includes(name));
  const run = script === undefined ? null : runScript(facts, script);
  const own: ToolCommand[] = run === null ? [] : [{ tool: facts.packageManager ?? "npm", command: run }];
  // A script of the project replaces the default commands of its tools.
  const others = TOOLS.filter(({ through }) => through !== "node" || own.length === 0).flatMap((tool) =>
    (tool.commands ?? [])
      .filter(({ signs }) => signs.every((sign) => facts.files.some((file) => sign.test(file))))
      .filter((row) => row.topic === topic && row.proposed === undefined)
      .map(({ command }) => ({
        tool: tool.name,
        command: tool.through === "node" ? toolCommand(facts, command) : command,
      })),
  );
  const seen = new Set<string>();
  return [...own, ...others].filter(({ tool }) => !seen.has(tool) && seen.add(tool));
}

/** Known by its lock file. The first one in the table counts. */
export function packageManagerOf(files: readonly string[]): ProjectFacts["packageManager"] {
  const found = TOOLS.find(({ locks = [] }) => locks.some((lock) => files.includes(lock)));
  return PACKAGE_MANAGERS.find((name) => name === found?.name) ?? null;
}

/** null: a shell would not read the name as one word. */
export function runScript(facts: ProjectFacts, name: string, isSilent = false): string | null {
  if (!/^[A-Za-z0-9_@][A-Za-z0-9_:.@/-]*$/.test(name)) return null;
  const manager = facts.packageManager ?? "npm";
  if (isSilent) return runSilently(facts, manager, name);
  if (name === "test" && manager !== "bun") return `${manager} test`;
  return `${manager} run ${name}`;
}

/** Runs a tool that the project has installed. A check never downloads anything. */
export function toolCommand({ packageManager }: ProjectFacts, command: string): string {
  return `${LAUNCHERS[packageManager ?? "npm"]} ${command}`;
}

const LAUNCHERS: Readonly<Record<(typeof PACKAGE_MANAGERS)[number], string>> = {
  npm: "npx --no-install",
  pnpm: "pnpm exec",
  yarn: "yarn run",
  bun: "bunx --no-install",
};

/** Without output of the package manager: "Done in 0.5s" would count as the last number. */
function runSilently({ files }: ProjectFacts, manager: string, name: string): string {
  if (manager === "bun") return `bun run --silent ${name}`;
  // A newer Yarn prints nothing and does not know the flag.
  return manager === "yarn" && files.includes(".yarnrc.yml")
    ? `yarn run ${name}`
    : `${manager} run -s ${name}`;
}

const SCRIPTS: Readonly<Record<Topic, readonly string[]>> = {
  test: ["test"],
  unit: ["test:unit", "unit", "test-unit"],
  integration: ["test:integration", "integration", "test-integration"],
  e2e: ["test:e2e", "e2e", "test-e2e"],
  lint: ["lint"],
  eslint: [],
  tsc: [],
  types: ["typecheck", "type-check", "check-types", "check:types", "types", "tsc"],
  build: ["build"],
  format: ["format:check", "fmt:check", "check:format", "prettier:check"],
};

/** The words as a command, if they are a known tool with plain arguments; null: unknown. */
export function runnerCommand(words: readonly string[]): string | null {
  if (!words.every((word) => SAFE.test(word))) return null;
  const line = words.join(" ");
  const [start] = PHRASES.flatMap((phrase) => phrase.exec(line)?.[0] ?? []);
  if (start === undefined) return null;
  const rest = words.slice(start.split(" ").length);
  return rest.every((word, i) => isArgument(word, rest[i - 1])) ? line : null;
}

/** Called through the package manager of the project. */
export function isNodeTool(command: string): boolean {
  return NODE_TOOLS.has(command.split(" ", 1)[0] ?? "");
}

/** What may precede a tool of which the project has its own copy. */
const IN_FRONT: Readonly<Record<NonNullable<Tool["through"]>, string>> = {
  node: "(?:npx |pnpm exec |yarn exec |bunx )?",
  python: "(?:uv run |poetry run |python -m |python3 -m )?",
  ruby: "(?:bundle exec )?",
};
const PHRASES = TOOLS.flatMap(({ phrases = [], through }) =>
  phrases.map((phrase) => new RegExp(`^${through === undefined ? "" : IN_FRONT[through]}${phrase}(?=$| )`)),
);
const NODE_TOOLS: ReadonlySet<string> = new Set(
  TOOLS.filter(({ through, phrases }) => through === "node" && phrases !== undefined).flatMap(
    ({ programs }) => programs,
  ),
);
/** No special characters of the shell. */
const SAFE = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** "npm test finally passes": an argument is a flag, the value of one, or looks like a path. */
function isArgument(word: string, before: string | undefined): boolean {
  if (/^-/.test(word) || /[./:=\d]/.test(word)) return true;
  return before !== undefined && /^--?\w/.test(before) && !before.includes("=");
}
