/**
 * What the person types at us in a conversation. It is carried out by the command line program itself, in a process of
 * its own, so that a conversation has just what a terminal has; the model is not asked. The text never meets a shell.
 */
import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseTypedLine } from "../../core/typed-line.ts";

export interface TypedParts {
  /** The program and the words before ours: node and the command's file. */
  readonly command: readonly [string, ...string[]];
  readonly root: string;
  readonly session: string;
  readonly env: NodeJS.ProcessEnv;
  /** What a person types in this client to reach us, such as `/loop`: the program says so where it names commands. */
  readonly commandName: string;
}

export interface Carried {
  readonly text: string;
  readonly isOk: boolean;
  /** May a loop of this conversation go on from here, at once? */
  readonly mayGoOn: boolean;
}

/** Carried out here, with a word that stands alone. */
const COMMANDS = new Set(
  `list ls show inspect history status score pause continue cancel approve reject accept rollback report delete
   remove rm stop clear resume run edit import trust doctor until help ? route capabilities worktrees backlog
   next-task register-task mark-complete mark-blocked init`.split(/\s+/),
);
/** These own a terminal, or change what runs this very conversation. */
const TERMINAL_ONLY = new Set(
  "up watch demo completions mcp install uninstall hook statusline setup-loop teardown-loop heartbeat release-lock".split(
    " ",
  ),
);
const GOES_ON = new Set(["until", "continue", "approve", "reject", "accept"]);
/** They would run in the foreground of a terminal. */
const DETACHED = new Set(["until", "continue", "run"]);
const MOST_CHARACTERS = 20_000;
const PATIENCE_MS = 60_000;

export async function carryOutTyped(typed: string, parts: TypedParts): Promise<Carried> {
  const { command, argv } = parseTypedLine(typed, new Set([...COMMANDS, ...TERMINAL_ONLY]));
  if (command !== null && TERMINAL_ONLY.has(command))
    return { text: `\`loop ${command}\` is for a terminal.`, isOk: false, mayGoOn: false };
  if (typed === "") return run(["help"], parts, false);
  const isCreated = command === null;
  const flags = isCreated || DETACHED.has(command) ? ["--detach"] : [];
  const words = isCreated ? [...flags, ...argv] : [argv[0] ?? "", ...flags, ...argv.slice(1)];
  const isRun = command === "backlog" && argv[1] === "run";
  return run(words, parts, isRun || (command !== null && GOES_ON.has(command)));
}

function run(words: readonly string[], parts: TypedParts, mayGoOn: boolean): Promise<Carried> {
  const [program, ...before] = parts.command;
  const { session: LOOP_SESSION, commandName: LOOP_COMMAND_NAME } = parts;
  const env = { ...parts.env, LOOP_SESSION, LOOP_COMMAND_NAME, LOOP_TYPED: "1", NO_COLOR: "1" };
  return new Promise((resolve) => {
    const child = execFile(
      program,
      [...before, ...words],
      { cwd: parts.root, env, timeout: PATIENCE_MS, maxBuffer: 4 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const text = [stdout, stderr]
          .map((part) => part.trimEnd())
          .filter((part) => part !== "")
          .join("\n");
        const isOk = error === null;
        const said =
          text === "" && !isOk
            ? `loop: it could not be carried out (${error.message.split("\n")[0] ?? ""})`
            : text;
        resolve({ text: said.slice(0, MOST_CHARACTERS), isOk, mayGoOn: isOk && mayGoOn });
      },
    );
    child.stdin?.end();
  });
}

/** The command line program that came with the program that runs now. */
export function commandBeside(script: string): readonly [string, string] {
  const folder = dirname(realpathSync(script));
  const found = [join(folder, "loop", "loop.cjs"), join(folder, "loop.cjs")].find((path) => existsSync(path));
  return [process.execPath, found ?? join(folder, "loop.cjs")];
}
