/**
 * The real Claude Code in a real terminal (tmux), as a person has it in front of them. Guard with `hasTmux` and
 * `isClaudeMissing`. Each client has a terminal of its own, so that several may be open in one project.
 */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { leftovers } from "../cli.ts";
import { openTerminal, type Terminal } from "../tmux.ts";
import { until } from "../until.ts";
import {
  CLAUDE,
  type Client,
  type ClientOptions,
  prepareClient,
  type TranscriptLine,
  transcriptOf,
} from "./claude-client.ts";

/** A client that starts on a busy machine takes its time. */
const WAIT_MS = 40_000;
/** A look at the screen costs a process: not more often than a person would notice. */
const LOOK_MS = 40;

/** The second: a plugin's monitor, or what the agent left in the background, still runs. */
const IDLE = new Set(["idle", "shell"]);

/** The renderer is named: the client chooses another one after a start that was cut short. */
const TERMINAL = { TERM: "xterm-256color", CLAUDE_CODE_NO_FLICKER: "1" };

export interface TuiOptions extends ClientOptions {
  readonly columns?: number;
  readonly rows?: number;
}

export interface ClaudeTui extends Pick<Terminal, "keys" | "screen" | "resize"> {
  /** Types it, waits until the input box shows it, presses Enter, and waits until it was taken. */
  type(text: string): Promise<void>;
  /** Waits until the screen matches; returns it. */
  sees(pattern: RegExp, withinMs?: number): Promise<string>;
  /** Interrupts the turn. */
  escape(): void;
  /** No turn is under way. */
  isIdle(): boolean;
  idle(withinMs?: number): Promise<void>;
  /** Of the client itself. */
  pid(): number;
  /** Of the conversation that is open now; after the end, of the last one. */
  sessionId(): string;
  /** What the client wrote down of it so far: a little behind the screen. */
  transcript(): readonly TranscriptLine[];
  /** Waits for a line there whose JSON matches; returns the first. */
  records(pattern: RegExp, withinMs?: number): Promise<TranscriptLine>;
  /** `/exit`; returns the exit code. */
  exit(): Promise<number>;
  /** Waits for its end and returns the exit code; 128 + n after a signal. */
  ended(withinMs?: number): Promise<number>;
  /** Closes the window with the client in it and waits for its end; there is no screen and no exit code after it. */
  close(): Promise<void>;
}

/** Starts it and waits for its input box. */
export async function openClaude(project: string, options: TuiOptions): Promise<ClaudeTui> {
  const { columns = 120, rows = 40 } = options;
  const client = prepareClient(project, options, onTestFinished);
  const folder = mkdtempSync(join(dirname(project), "terminal-"));
  writeFileSync(join(folder, "start"), startLines(project, client, join(folder, "pid")));
  const shellDir = join(folder, "shell");
  mkdirSync(shellDir);
  const terminal = openTerminal(shellDir, columns, rows);
  terminal.run("sh ../start; echo $? > ../exit");

  const pid = () => Number(read(join(folder, "pid")));
  const exitCode = () => {
    const text = read(join(folder, "exit"));
    return text === "" ? null : Number(text);
  };
  let last: OpenConversation | null = null;
  const conversation = () => {
    last = openConversation(client.config, pid()) ?? last;
    return last;
  };
  const look = async <T>(find: (screen: string) => T, what: string, withinMs = WAIT_MS) => {
    let screen = "";
    const seen = async () => {
      await pause(LOOK_MS);
      screen = terminal.screen();
      return find(screen);
    };
    return await until(seen, what, withinMs).catch((error: Error) => {
      throw new Error(`${error.message}; the screen was:\n${screen}`);
    });
  };
  const sessionId = () => conversation()?.sessionId ?? "";
  const transcript = () => transcriptOf(project, sessionId());
  const isIdle = () =>
    exitCode() === null &&
    IDLE.has(conversation()?.status ?? "") &&
    !/esc to interrupt/.test(terminal.screen());
  const ended = (withinMs = WAIT_MS) => until(exitCode, "the client ended", withinMs);
  const type = async (text: string) => {
    await look((screen) => inputBox(screen) !== null, "there is an input box");
    // tmux takes its flags from among the keys: these make it type the text as it is
    terminal.keys("-l", "--", text);
    await look((screen) => shows(screen, text), `the input box shows ${JSON.stringify(text)}`);
    terminal.keys("Enter");
    await look((screen) => !shows(screen, text), `${JSON.stringify(text)} was taken`);
  };

  await look((screen) => {
    const code = exitCode();
    if (code !== null) throw new Error(`the client ended with ${code}`);
    return inputBox(screen) !== null && conversation()?.status !== undefined;
  }, "the client is open");
  return {
    keys: terminal.keys,
    screen: terminal.screen,
    resize: terminal.resize,
    type,
    sees: (pattern, withinMs) =>
      look((screen) => (pattern.test(screen) ? screen : null), `the screen has ${pattern}`, withinMs),
    escape: () => terminal.keys("Escape"),
    isIdle,
    idle: async (withinMs) => {
      await look(isIdle, "no turn is under way", withinMs);
    },
    pid,
    sessionId,
    transcript,
    records: (pattern, withinMs = WAIT_MS) =>
      until(
        () => transcript().find((line) => pattern.test(JSON.stringify(line))),
        `the transcript has ${pattern}`,
        withinMs,
      ),
    async exit() {
      conversation();
      await type("/exit");
      return await ended();
    },
    ended,
    async close() {
      conversation();
      terminal.close();
      await until(() => !leftovers(project).includes(pid()), "the client ended with its window", WAIT_MS);
    },
  };
}

function startLines(project: string, { env, args }: Client, pidFile: string): string {
  const all = Object.entries({ ...TERMINAL, ...env }).map(([name, value]) => `${name}=${value}`);
  const command = ["env", "-i", ...all, CLAUDE, ...args].map(quote).join(" ");
  return `cd ${quote(project)} && echo $$ > ${quote(pidFile)} && exec ${command}\n`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** What is between the last two rules on the screen. */
function inputBox(screen: string): string | null {
  const lines = screen.split("\n");
  const isRule = (line: string) => /^─{10}/.test(line);
  const bottom = lines.findLastIndex(isRule);
  const top = lines.slice(0, Math.max(bottom, 0)).findLastIndex(isRule);
  const inside = lines.slice(top + 1, bottom);
  return top >= 0 && inside[0]?.startsWith("❯") ? inside.join("\n") : null;
}

/** The end of the text: a long one is scrolled or, as one that was pasted, named by a number only. */
function shows(screen: string, text: string): boolean {
  const box = inputBox(screen)?.replaceAll(/\s/g, "") ?? "";
  return box.includes("[Pastedtext#") || box.includes(text.replaceAll(/\s/g, "").slice(-60));
}

interface OpenConversation {
  readonly sessionId: string;
  readonly status?: string;
}

/** The client's own note of what it has open, kept by its process id and gone after a clean end. */
function openConversation(config: string, pid: number): OpenConversation | null {
  try {
    return JSON.parse(read(join(config, "sessions", `${pid}.json`))) as OpenConversation;
  } catch {
    return null;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
