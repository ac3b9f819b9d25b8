/**
 * Finds files whose existence changes what a check does: `[ ! -f tests.skip ] || exit 0`. Most files that a script tests
 * are the product (`test -f dist/a.js || exit 1`), and the agent has to create them. So a file counts only if the check
 * does less, or gets instructions, when the file exists.
 */
import { outermostCommands, type ShellCommand, type ShellPart } from "../../core/shell/command.ts";
import { isPython, WRAPPERS } from "../../core/shell/programs.ts";
import { isPackageManager, toolOf } from "../../core/toolchain/table.ts";
import { isInterpreter } from "../trace/trace-languages.ts";

/** File names by the command that tests them, as written in the shell line. */
export function askedIn(parts: readonly ShellPart[]): ReadonlyMap<ShellCommand, readonly string[]> {
  const commands = outermostCommands(parts);
  const asked = new Map<ShellCommand, readonly string[]>();
  for (const [at, command] of commands.entries()) {
    const names = [...guardsIn(commands, at), ...obeyed(command)];
    if (names.length > 0) asked.set(command, names);
  }
  return asked;
}

/** Files that a command writes or removes. They do not count, because the check creates them itself. */
export function writtenBy({ words: [program = "", ...args], outputs }: ShellCommand): readonly string[] {
  const made = MAKERS.has(program) ? args.filter((word) => !word.startsWith("-")) : [];
  return [...outputs, ...made];
}

const MAKERS: ReadonlySet<string> = new Set("touch mkdir cp mv tee ln rm install truncate mkfifo".split(" "));
/** The most commands in one branch. */
const MAX_BRANCH = 100;
const MAX_WRAPPERS = 5;
const SHELL = /^(?:ba|da|z|k|a)?sh$/;
const READER = /^(?:cat|head|tail)$/;
/** A `for` loop over files counts only with such a name. Most loops read results. */
const LIST = /test|spec|suite|skip|case/i;
/** Variables that tell a check what to skip. */
const TELLING = /skip|only|exclude|ignore|flag|opt|arg|filter|quick|fast/i;

function guardsIn(commands: readonly ShellCommand[], at: number): readonly string[] {
  const command = commands[at];
  const question = command === undefined ? null : questionOf(command);
  if (command === undefined || question === null) return [];
  const [then, otherwise] = branchesOf(commands, at, command);
  const [whenThere, whenNot] = question.isNegated ? [otherwise, then] : [then, otherwise];
  const isTold = whenThere.some(isTelling) || (whenNot.some(isWork) && !whenNot.some(isRefusal));
  return isTold ? question.names : [];
}

interface Question {
  readonly names: readonly string[];
  readonly isNegated: boolean;
}

function questionOf({ keywords, words: [program = "", ...args] }: ShellCommand): Question | null {
  if (!/^(?:test|\[|\[\[)$/.test(program)) return null;
  const names = args.flatMap((word, at) => (/^-[defhrsxL]$/.test(word) ? (args[at + 1] ?? []) : []));
  const negations = [...keywords, ...args].filter((word) => word === "!").length;
  return names.length === 0 ? null : { names, isNegated: negations % 2 === 1 };
}

/** The commands that run when the test succeeds, and when it fails. */
function branchesOf(
  commands: readonly ShellCommand[],
  at: number,
  { keywords, end }: ShellCommand,
): [ShellCommand[], ShellCommand[]] {
  if (keywords.includes("if") || keywords.includes("elif")) return branchesOfIf(commands, at + 1);
  if (end !== "&&" && end !== "||") return [[], []];
  const first = groupAt(commands, at + 1);
  const next = first.at(-1);
  const second = end === "&&" && next?.end === "||" ? groupAt(commands, at + 1 + first.length) : [];
  return end === "&&" ? [first, second] : [[], first];
}

function branchesOfIf(commands: readonly ShellCommand[], from: number): [ShellCommand[], ShellCommand[]] {
  const branches: [ShellCommand[], ShellCommand[]] = [[], []];
  let branch = branches[0];
  let depth = 0;
  for (const command of commands.slice(from, from + MAX_BRANCH)) {
    for (const word of command.keywords) {
      if (word === "if") depth++;
      if (word === "fi" && depth-- === 0) return branches;
      if (depth === 0 && (word === "else" || word === "elif")) branch = branches[1];
    }
    branch.push(command);
  }
  return branches;
}

/** One command, or all commands in braces. */
function groupAt(commands: readonly ShellCommand[], from: number): ShellCommand[] {
  const group: ShellCommand[] = [];
  let depth = 0;
  for (const command of commands.slice(from, from + MAX_BRANCH)) {
    group.push(command);
    for (const word of command.keywords) depth += word === "{" ? 1 : word === "}" ? -1 : 0;
    if (depth <= 0) break;
  }
  return group;
}

function isTelling({ words: [program, first = ""], assignments }: ShellCommand): boolean {
  if (program === "exit" || program === "return") return !/^[1-9]/.test(first);
  if (program === undefined) return assignments.some(({ name }) => TELLING.test(name));
  if (program === "export") return TELLING.test(first);
  return /^(?:continue|break|eval|set)$/.test(program);
}

function isRefusal({ words: [program, first = ""] }: ShellCommand): boolean {
  return program === "false" || ((program === "exit" || program === "return") && /^[1-9]/.test(first));
}

/** Runs a program that could find an error. */
function isWork({ words: [program = "", ...args] }: ShellCommand): boolean {
  if (SHELL.test(program) || /^\.{0,2}\//.test(program) || /^g?make$/.test(program)) return true;
  return (
    isPackageManager(program) ||
    isInterpreter(program) ||
    isPython(program) ||
    toolOf(program, args)?.reads !== undefined
  );
}

/** `exit $(cat result)`, `for test in $(cat tests.txt)`, `npx vitest $(cat list)`: the file controls the check. */
function obeyed({ words, inner }: ShellCommand): readonly string[] {
  if (inner.length === 0) return [];
  const [program = ""] = words;
  const isObeyed = /^(?:exit|return|eval)$/.test(program) || startsTests(words);
  if (!isObeyed && program !== "for") return [];
  const names = inner.flatMap(({ words: [reader = "cat", ...rest], inputs }) => [
    ...(READER.test(reader) ? rest.filter((word) => !word.startsWith("-")) : []),
    ...inputs,
  ]);
  return isObeyed ? names : names.filter((name) => LIST.test(name));
}

/** Also through wrappers such as `npx`. */
function startsTests(words: readonly string[]): boolean {
  for (let at = 0; at < MAX_WRAPPERS; at++) {
    const program = words[at] ?? "";
    if (toolOf(program, words.slice(at + 1))?.reads?.words === "tests") return true;
    if (!WRAPPERS.has(program) && !isPackageManager(program)) return false;
  }
  return false;
}
