/** stdout is data, stderr is for people. Nothing else writes to either. */
import { fstatSync, writeSync } from "node:fs";

const FULL_PIPE_WAIT_MS = 5;

/** Where the two kinds of text go; the line break is not a part of them. */
export interface Voices {
  readonly out: (text: string) => void;
  readonly say: (text: string) => void;
}

export interface Io extends Voices {
  /** Data: the answer of the command. */
  out(text: string): void;
  /** For the person: notices, warnings, progress. */
  say(text: string): void;
  json(value: unknown): void;
  /**
   * From here on text goes there: a live list owns the screen, a resident runner must not wait for its reader.
   * Returns how to end that.
   */
  divert(to: Partial<Voices>): () => void;
  /** A person sits at both ends: questions and the foreground runner are allowed. */
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

/** Columns to fit a list into; without end where there is no terminal. */
export function terminalWidth(): number {
  return isTerminal(1) ? (process.stdout.columns ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
}

/** Not through `process.stdout`: the first look at it loads all that Node has for streams and terminals. */
function isTerminal(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(fd);
  } catch {
    return false;
  }
}

/**
 * Written at once, so that an exit right after it cannot cut the answer short. A pipe that is full is waited for
 * (Node makes pipes non-blocking); a reader that is gone (EPIPE), or a terminal that is (EIO), is no failure.
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

/** JSON leaves DEL and the C1 controls as they are, and some terminals obey them. */
function renderJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f]/g,
    (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`,
  );
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Style = keyof typeof CODES;

export function paint(io: Pick<Io, "colour">, style: Style, text: string): string {
  return io.colour ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text;
}
