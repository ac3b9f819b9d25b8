/** stdout is for data, stderr is for people. Only this file writes to them. */
import { fstatSync, writeSync } from "node:fs";
import { EXIT } from "./exit-codes.ts";

const FULL_PIPE_WAIT_MS = 5;

/** Receivers of text without its last line break. */
export interface Voices {
  /** Data: the answer of the command. */
  readonly out: (text: string) => void;
  /** Messages for a person: notices, warnings, progress. */
  readonly say: (text: string) => void;
}

export interface Io extends Voices {
  json(value: unknown): void;
  /** Redirects text, for a live screen or a slow reader. Returns a function that ends the redirection. */
  divert(to: Partial<Voices>): () => void;
  /** stdin and stdout are terminals: questions and a foreground runner are allowed. */
  readonly interactive: boolean;
  readonly colour: boolean;
}

const STANDARD_STREAMS: Voices = {
  out: (text) => writeNow(1, `${text}\n`),
  say: (text) => writeNow(2, `${text}\n`),
};

export function createIo(env: NodeJS.ProcessEnv, streams: Voices = STANDARD_STREAMS): Io {
  const tty = isTerminal(1);
  let voices = streams;
  return {
    out: (text) => voices.out(text),
    say: (text) => voices.say(text),
    json: (value) => voices.out(renderJson(value)),
    divert: (to) => {
      const before = voices;
      voices = { ...before, ...to };
      return () => {
        voices = before;
      };
    },
    interactive: tty && isTerminal(0),
    colour: tty && !env.NO_COLOR && env.TERM !== "dumb",
  };
}

/** The answer of a command that worked: JSON with `--json`, else text. Returns the exit code. */
export function answer(flags: { readonly json?: boolean }, io: Io, value: unknown, text: string): number {
  if (flags.json) io.json(value);
  else io.out(text);
  return EXIT.ok;
}

/** Columns of the terminal; infinite without one. */
export function terminalWidth(): number {
  return isTerminal(1) ? (process.stdout.columns ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
}

/** Avoids `process.stdout`: its first use loads all stream and terminal modules of Node. */
export function isTerminal(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(fd);
  } catch {
    return false;
  }
}

/**
 * Writes synchronously, so that an exit cannot cut the text short. Waits for a full pipe (Node makes pipes
 * non-blocking). A closed reader (EPIPE) or terminal (EIO) is no failure.
 */
export function writeNow(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "EPIPE" || code === "EIO") return;
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_WAIT_MS);
    }
  }
}

/** Escapes controls, hidden letters and changes of direction too: JSON allows them, and terminals obey them. */
function renderJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu, (letter) =>
    letter
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Style = keyof typeof CODES;

export function paint(io: Pick<Io, "colour">, style: Style, text: string): string {
  return io.colour ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text;
}
