/**
 * Runs the loop commands that a person types in a conversation. The command line program runs them in a separate
 * process, so a conversation has the same commands as a terminal. No model and no shell is involved.
 */
import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseTypedLine } from "../../core/typed-line.ts";

export interface TypedParts {
  /** Node and the path of the command line program. */
  readonly command: readonly [string, ...string[]];
  readonly root: string;
  readonly session: string;
  readonly env: NodeJS.ProcessEnv;
  /** The command that a person types in this client, such as `/loop`. The program uses it in its messages. */
  readonly commandName: string;
}

export interface Carried {
  readonly text: string;
  readonly isOk: boolean;
  /** May a loop of this conversation continue at once? */
  readonly mayGoOn: boolean;
}

/** Commands that work in a conversation. */
const COMMANDS = new Set(
  `list ls show inspect history status score pause continue cancel approve reject accept rollback report delete
   remove rm stop clear resume run edit import trust doctor until help ? route capabilities worktrees backlog
   next-task register-task mark-complete mark-blocked init`.split(/\s+/),
);
/** Commands that need a terminal, or that change the program of this conversation. */
const TERMINAL_ONLY = new Set(
  "up watch demo completions mcp install uninstall hook statusline setup-loop teardown-loop heartbeat release-lock".split(
    " ",
  ),
);
const GOES_ON = new Set(["until", "continue", "approve", "reject", "accept"]);
/** In a terminal these run in the foreground. */
const DETACHED = new Set(["until", "continue", "run"]);
const MOST_CHARACTERS = 20_000;
const PATIENCE_MS = 60_000;

export async function carryOutTyped(typed: string, parts: TypedParts): Promise<Carried> {
  const { command, argv } = parseTypedLine(typed, new Set([...COMMANDS, ...TERMINAL_ONLY]));
  if (command !== null && TERMINAL_ONLY.has(command))
    return { text: `\`loop ${command}\` works only in a terminal.`, isOk: false, mayGoOn: false };
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
            ? `loop: the command could not be run (${error.message.split("\n")[0] ?? ""})`
            : text;
        resolve({ text: said.slice(0, MOST_CHARACTERS), isOk, mayGoOn: isOk && mayGoOn });
      },
    );
    child.stdin?.end();
  });
}

/** The command line program next to the running program. */
export function commandBeside(script: string): readonly [string, string] {
  const folder = dirname(realpathSync(script));
  const found = [join(folder, "loop", "loop.cjs"), join(folder, "loop.cjs")].find((path) => existsSync(path));
  return [process.execPath, found ?? join(folder, "loop.cjs")];
}
