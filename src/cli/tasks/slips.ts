/** Finds typing mistakes: `loop lst` means `loop list` and is not a prompt. */
import type { Command, CommanderError } from "commander";
import { type LoopError, usageError } from "../../errors.ts";

/** Commands of later versions: they must not become prompts by accident. */
const RESERVED = new Set(["watch"]);

export function checkFirstWord(program: Command, words: readonly string[]): void {
  const [first = "", ...rest] = words;
  if (RESERVED.has(first)) {
    throw usageError(
      `This version has no command \`loop ${first}\`.`,
      `If this word starts a prompt, write the interval first: loop 10m ${first} …`,
    );
  }
  if (!isShortCommand(rest)) return;
  const asPrompt = `To schedule it as a prompt: loop 10m ${words.join(" ")}`;
  const close = closestName(program, first) ?? (isSame(first, "version") ? "--version" : undefined);
  if (close !== undefined)
    throw usageError(
      `There is no command "${first}"; did you mean \`${["loop", close, ...rest].join(" ")}\`?`,
      asPrompt,
    );
  const reserved = [...RESERVED].find((word) => isSame(first, word) || isMistyped(first, word));
  if (reserved !== undefined)
    throw usageError(
      `There is no command "${first}", and this version has no command \`loop ${reserved}\`.`,
      asPrompt,
    );
}

/** Nothing follows, or only a word that looks like an id. Anything longer is a prompt. */
function isShortCommand(rest: readonly string[]): boolean {
  const [id = ""] = rest;
  return rest.length === 0 || (rest.length === 1 && /^[0-9a-f]{1,8}$/i.test(id));
}

/** For `loop help lst`, commander would print the whole help. */
export function checkHelpWord(program: Command, word: string | undefined): void {
  if (word === undefined || word.startsWith("-") || namesOf(program).includes(word)) return;
  const close = closestName(program, word);
  throw usageError(
    `There is no command "${word}"${close === undefined ? "." : `; did you mean \`loop help ${close}\`?`}`,
    "See all commands with: loop help",
  );
}

/** The error of commander as a sentence with a hint; null when it is no error (help, version). */
export function explainParseError(
  error: CommanderError,
  program: Command,
  argv: readonly string[],
): LoopError | null {
  if (error.exitCode === 0) return null;
  const [first = ""] = argv;
  const command = namesOf(program).includes(first) ? first : null;
  const text = error.message.replace(/^error: /, "").replace(/[.\s]+$/, "");
  const message = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  const help = command === null ? "loop help" : `loop help ${command}`;
  switch (error.code) {
    case "commander.unknownOption":
      return usageError(
        message,
        command === null
          ? `If it is a part of the prompt, write -- before the prompt. More: ${help}`
          : `See: ${help}`,
      );
    case "commander.excessArguments":
      return usageError(
        message,
        `See: ${help}. If this word starts a prompt, write the interval first: loop 10m ${first} …`,
      );
    default:
      return usageError(message, `See: ${help}`);
  }
}

/** `loop -C dir list`: flags before a command belong to the command. A flag that it does not have is an error. */
export function flagsBefore(command: Command): Record<string, unknown> {
  const { parent } = command;
  const flags: Record<string, unknown> = {};
  for (const option of parent?.options ?? []) {
    const name = option.attributeName();
    if (parent?.getOptionValueSource(name) !== "cli") continue;
    if (!command.options.some((own) => own.long === option.long))
      throw usageError(
        `\`loop ${command.name()}\` has no flag ${option.long}.`,
        `See: loop help ${command.name()}`,
      );
    flags[name] = parent.getOptionValue(name);
  }
  return flags;
}

function namesOf(program: Command): string[] {
  return ["help", ...program.commands.flatMap((command) => [command.name(), ...command.aliases()])];
}

function closestName(program: Command, word: string): string | undefined {
  // hidden commands are for programs
  const shown = program.createHelp().visibleCommands(program);
  const names = ["help", ...shown.flatMap((command) => [command.name(), ...command.aliases()])];
  return names.find((name) => isSame(word, name)) ?? names.find((name) => isSlip(word, name));
}

function isSame(typed: string, name: string): boolean {
  return typed.toLowerCase() === name;
}

/** A mistake that is no other word: `stauts`, but not `look`, which is close to `hook`. */
function isMistyped(typed: string, name: string): boolean {
  const letters = (word: string) => [...word.toLowerCase()].sort().join("");
  return isSlip(typed, name) && (typed.length !== name.length || letters(typed) === letters(name));
}

/** One letter is changed, missing or added, or two are swapped. */
function isSlip(word: string, name: string): boolean {
  const typed = word.toLowerCase();
  // Nearly every short word is one letter away from a name of two letters: allow only `upp` and `pu`.
  if (name.length < 3) return typed.replace(/(.)\1/, "$1") === name || typed === [...name].reverse().join("");
  if (Math.abs(typed.length - name.length) > 1) return false;
  let start = 0;
  while (start < typed.length && typed[start] === name[start]) start += 1;
  let end = 0;
  while (end < typed.length - start && end < name.length - start && typed.at(-1 - end) === name.at(-1 - end))
    end += 1;
  const a = typed.slice(start, typed.length - end);
  const b = name.slice(start, name.length - end);
  return (
    (a.length <= 1 && b.length <= 1) || (a.length === 2 && b.length === 2 && a[0] === b[1] && a[1] === b[0])
  );
}
