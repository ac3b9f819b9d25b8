/**
 * Which test runner a shell line starts, and what the exit code of the line says about it. A line that only names a
 * runner (`npm install vitest`) starts none.
 */
import { outermostCommands, type ShellCommand, type ShellPart } from "../shell/command.ts";
import { CONTAINERS, isPython, STARTERS, WRAPPERS } from "../shell/programs.ts";
import { readShellLine } from "../shell/reader.ts";
import { parsePackageCall } from "./package-manager.ts";
import { isPackageManager, toolOf } from "./table.ts";
import type { Tool } from "./tool.ts";

export interface TestInvocation {
  readonly tool: Tool;
  /** It starts another runner; only the exit code is its own. */
  readonly isDelegating: boolean;
  /** false: it may run tests (`npm run ci`), and only a summary tells. */
  readonly isCertain: boolean;
}

export interface RunnerUse {
  readonly invocation: TestInvocation;
  /** An exit code of 0 means that this runner succeeded. */
  readonly tellsSuccess: boolean;
  /** Another exit code means that this runner failed: no pipe, `|| true` or other command changes it. */
  readonly tellsFailure: boolean;
}

export function runnerUses(line: string, depth = 0): RunnerUse[] {
  const row = joinedRow(readShellLine(line.slice(0, MAX_LETTERS)));
  const hasPipefail = row.some(({ words }) => words[0] === "set" && words.includes("pipefail"));
  return row.flatMap((command, at) => {
    const hidden = command.inner.flatMap((inner) => usesOf(inner, depth)).map(untold);
    const uses = usesOf(command, depth);
    if (uses.length === 0) return hidden;
    if (command.keywords.includes("!")) return [...hidden, ...uses.map(untold)];
    const tellsSuccess = isSuccessTold(row, at, hasPipefail);
    const tellsFailure = isFailureTold(row, at, hasPipefail);
    const told = uses.map((use) => ({
      invocation: use.invocation,
      tellsSuccess: tellsSuccess && use.tellsSuccess,
      tellsFailure: tellsFailure && use.tellsFailure,
    }));
    return [...hidden, ...told];
  });
}

function untold({ invocation }: RunnerUse): RunnerUse {
  return { invocation, tellsSuccess: false, tellsFailure: false };
}

const MAX_LETTERS = 20_000;
const MAX_DEPTH = 3;
const MAX_WORDS = 500;

function usesOf({ words }: ShellCommand, depth: number): RunnerUse[] {
  const script = depth < MAX_DEPTH ? scriptOf(words) : null;
  if (script !== null) return runnerUses(script, depth + 1);
  const invocation = invocationOf(words.slice(0, MAX_WORDS), { left: MAX_TRIES });
  return invocation === null ? [] : [{ invocation, tellsSuccess: true, tellsFailure: true }];
}

/** `bash -lc '…'` */
function scriptOf(words: readonly string[]): string | null {
  const shell = words.findIndex((word) => /(?:^|\/)(?:ba|z|da)?sh$/.test(word));
  const isFirst = shell === 0 || (shell > 0 && (WRAPPERS.has(words[0] ?? "") || words[0] === "docker"));
  const flag = words.findIndex((word, i) => i > shell && /^-[a-z]*c$/.test(word));
  return isFirst && flag !== -1 ? (words[flag + 1] ?? null) : null;
}

/** The commands in order. An operator after a closing bracket or keyword belongs to the command before it. */
function joinedRow(parts: readonly ShellPart[]): ShellCommand[] {
  const row: ShellCommand[] = [];
  const outer = new Set(outermostCommands(parts));
  for (const part of parts) {
    if (part.kind === "open") continue;
    const command = part.kind === "command" ? part.command : null;
    if (command !== null && !outer.has(command)) continue;
    const end = (part.kind === "close" ? part.end : part.command.end).replace(/[()]/, "");
    const last = row.at(-1);
    if (command !== null && (command.words.length > 0 || command.inner.length > 0))
      row.push({ ...command, end });
    else if (last !== undefined && end !== "" && (end !== ";" || last.end === ""))
      row[row.length - 1] = { ...last, end };
  }
  return row;
}

/** Every later command runs only if this one succeeds. */
function isSuccessTold(row: readonly ShellCommand[], at: number, hasPipefail: boolean): boolean {
  for (let i = at; i < row.length - 1; i++) {
    const end = row[i]?.end;
    if (end !== "&&" && !(end === "|" && hasPipefail)) return false;
  }
  // `a || runner` can succeed without the runner.
  return row.at(-1)?.end !== "&" && row[at - 1]?.end !== "||";
}

function isFailureTold(row: readonly ShellCommand[], at: number, hasPipefail: boolean): boolean {
  if (row.at(-1)?.end === "&") return false;
  for (let i = at; i < row.length - 1; i++) {
    const end = row[i]?.end;
    // After `||` this one has failed, and so has its replacement.
    if (end === "||") break;
    if (!(end === "|" && hasPipefail)) return false;
  }
  if (row.slice(at).some(({ end }, i) => end === ";" && at + i < row.length - 1)) return false;
  for (let i = at - 1; i >= 0 && row[i]?.end === "&&"; i--) {
    if (!HARMLESS.has(row[i]?.words[0] ?? "")) return false;
  }
  return true;
}

/** Commands that hardly ever fail. Any other one may be the reason why the tests did not run. */
const HARMLESS: ReadonlySet<string> = new Set(
  "cd pushd popd export unset source . set echo printf mkdir rm cp touch sleep true clear date pwd which nvm fnm".split(
    " ",
  ),
);

/** Nested wrappers with options are tried in several ways, up to a limit. */
interface Tries {
  left: number;
}

const MAX_TRIES = 100;
const MAX_OPTIONS = 40;

/** null: it runs no tests. */
function invocationOf(words: readonly string[], tries: Tries): TestInvocation | null {
  const [first, ...args] = words;
  if (first === undefined || tries.left-- <= 0) return null;
  const program = programName(first);
  const inner = (rest: readonly string[]) => invocationOf(rest, tries);
  const positionals = wordsOfWrapper(program, args);
  if (positionals !== null) return behindOptions(positionals.args, inner, positionals.own);
  if (isPackageManager(program)) return packageManager(program, args, inner);
  if (isPython(program)) return python(args, inner);
  if (program === "node" || program === "tsx") return node(args, inner);
  if (program === "php") return inner(args);
  const tool = toolOf(program, args);
  return tool === undefined ? null : started(tool, args);
}

/** null: not a wrapper. */
function wordsOfWrapper(
  program: string,
  args: readonly string[],
): { readonly args: readonly string[]; readonly own: number } | null {
  const [verb = ""] = args;
  if (program === "docker" && verb === "compose") return wordsOfWrapper(verb, args.slice(1));
  if (CONTAINERS.has(program) && /^(?:exec|run)$/.test(verb)) return { args: args.slice(1), own: 1 };
  if ((STARTERS.has(program) || program === "coverage") && verb === "run")
    return { args: args.slice(1), own: 0 };
  if (toolOf(program, args)?.reads?.words === "rest") return { args, own: 0 };
  const wrapper = WRAPPERS.get(program);
  if (wrapper?.verbs === undefined) return wrapper === undefined ? null : { args, own: wrapper.own };
  return wrapper.verbs.includes(verb) ? { args: args.slice(1), own: wrapper.own - 1 } : null;
}

type Inner = (words: readonly string[]) => TestInvocation | null;

const VALUED: ReadonlySet<string> = new Set(
  "--filter -F -C --dir --prefix --workspace --cwd -p --package --project --directory --extra --group --with".split(
    " ",
  ),
);

/** The first word that `inner` knows. A word after an option may be its value. */
function behindOptions(args: readonly string[], inner: Inner, own: number): TestInvocation | null {
  let room = own;
  for (let i = 0; i < Math.min(args.length, MAX_OPTIONS); i++) {
    const word = args[i] ?? "";
    const before = args[i - 1] ?? "";
    if (word.startsWith("-") || VALUED.has(before) || /^[A-Za-z_]\w*=/.test(word)) continue;
    const found = inner(args.slice(i));
    if (found !== null) return found;
    if (/^--?\w[^=]*$/.test(before)) continue;
    if (room === 0) return null;
    room--;
  }
  return null;
}

function packageManager(program: string, args: readonly string[], inner: Inner): TestInvocation | null {
  const tool = toolOf(program, []);
  const { command } = parsePackageCall(program, args, () => false);
  if (tool === undefined || isIdle(tool, args)) return null;
  if (command.kind === "script")
    return byName(tool, [command.name]) ?? inner([command.name, ...command.words]);
  if (command.kind !== "program") return null;
  const [name = "", ...rest] = command.words[0] === "bun" ? command.words.slice(1) : command.words;
  if (name === "bun test") return inner(["bun test", ...rest]);
  return inner([name, ...rest]) ?? (testsByName(name) === "certain" ? byName(tool, [name]) : null);
}

function python(args: readonly string[], inner: Inner): TestInvocation | null {
  const at = args.findIndex((word) => word === "-m" || !word.startsWith("-"));
  if (at === -1) return null;
  const [first = "", second = "", ...rest] = args.slice(at);
  if (first === "-m") return inner([second, ...rest]);
  const script = programName(first);
  if (script === "manage.py" && second === "test") return inner(["unittest", ...rest]);
  const found = /^test_\w+\.py$|_test\.py$/.test(script) ? inner(["unittest"]) : null;
  return found === null ? null : { ...found, isCertain: false };
}

function node(args: readonly string[], inner: Inner): TestInvocation | null {
  const runner = toolOf("node --test", []);
  if (args.includes("--test")) return runner === undefined ? null : started(runner, args);
  const run = args.indexOf("--run");
  if (run !== -1) return inner(["npm", "run", ...args.slice(run + 1)]);
  const script = args.findIndex((word) => !word.startsWith("-"));
  if (script === -1) return null;
  const isTest = /[._-](?:test|spec)\.[cm]?[jt]sx?$/.test(args[script] ?? "");
  if (!isTest) return inner(args.slice(script));
  return runner === undefined ? null : { tool: runner, isDelegating: false, isCertain: false };
}

function started(tool: Tool, args: readonly string[]): TestInvocation | null {
  const { tests } = tool;
  if (tests === undefined || isIdle(tool, args)) return null;
  const words = args.filter((word) => !/^[-+]/.test(word) && !word.includes("="));
  if (tests.delegates === "by name") return byName(tool, words);
  const line = words.join(" ");
  const isCertain = tests.when?.test(line) ?? true;
  if (!isCertain && !(tests.maybe?.test(line) ?? false)) return null;
  return { tool, isDelegating: tests.delegates !== undefined, isCertain };
}

function isIdle({ tests }: Tool, args: readonly string[]): boolean {
  const own = tests?.idle ?? ["-h"];
  const line = ` ${args.join(" ")} `;
  return (
    args.some(
      (word, i) => IDLE_EVERYWHERE.has(word) || (own.includes(word) && (i === 0 || word.startsWith("-"))),
    ) || own.some((words) => words.includes(" ") && line.includes(` ${words} `))
  );
}

const IDLE_EVERYWHERE: ReadonlySet<string> = new Set(
  "--help --version --watch --watchAll --ui --list --listTests --collect-only --dry-run".split(" "),
);

function byName(tool: Tool, names: readonly string[]): TestInvocation | null {
  const certainties = names.flatMap((name) => testsByName(name) ?? []);
  if (certainties.length === 0) return null;
  return { tool, isDelegating: true, isCertain: certainties.includes("certain") };
}

const TESTS =
  /^(?:tests?|t|tst|spec|specs|unit|e2e|integration|vitest|jest|mocha|pytest|phpunit|rspec|coverage|cov)$/;
/** `test:watch`, `test:types`, `build:test` do not end with a test result. */
const NO_TESTS =
  /^(?:watch|ui|dev|debug|open|serve|server|start|build|compile|lint|format|fmt|fix|types?|typecheck|tsc|install|setup|prepare|clean|seed|db|gen|generate|codegen|report|update|deps)$/;
const MIXED = /^(?:ci|check|checks|verify|validate|all|prepush|precommit|preflight|qa|prepublishonly)$/;

function testsByName(name: string): "certain" | "possible" | null {
  const parts = name.toLowerCase().split(/[:._/-]/);
  if (parts.some((part) => NO_TESTS.test(part))) return null;
  if (parts.some((part) => TESTS.test(part))) return "certain";
  return parts.some((part) => MIXED.test(part)) ? "possible" : null;
}

/** The plain name of `./node_modules/.bin/vitest`, `vitest@3`, `jest.js` or `mvnw.cmd`. */
function programName(word: string): string {
  const base = word.replaceAll("\\", "/").split("/").at(-1) ?? "";
  return base.replace(/(?!^)@.*$/, "").replace(/\.(?:cmd|exe|bat|[cm]?js)$/, "");
}
