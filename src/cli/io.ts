/** stdout is data, stderr is for people. Nothing else writes to either. */
import { fstatSync, writeSync } from "node:fs";

export interface Io {
  /** Data: the answer of the command. */
  out(text: string): void;
  /** For the person: notices, warnings, progress. */
  say(text: string): void;
  json(value: unknown): void;
  /** From here on `say` goes there: a live list owns the screen. Returns how to end that. */
  divert(say: (text: string) => void): () => void;
  /** A person sits at both ends: questions and the foreground runner are allowed. */
  readonly interactive: boolean;
  readonly colour: boolean;
}

export function createIo(env: NodeJS.ProcessEnv): Io {
  const tty = Boolean(process.stdout.isTTY);
  let diverted: ((text: string) => void) | null = null;
  return {
    out: (text) => write(1, `${text}\n`),
    say: (text) => (diverted === null ? write(2, `${text}\n`) : diverted(text)),
    json: (value) => write(1, `${JSON.stringify(value)}\n`),
    divert: (say) => {
      diverted = say;
      return () => {
        diverted = null;
      };
    },
    interactive: tty && Boolean(process.stdin.isTTY),
    colour: tty && !env.NO_COLOR && env.TERM !== "dumb",
  };
}

/** Written at once, so that an exit right after it cannot cut the answer short. */
function write(fd: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "EPIPE") return;
      if (code !== "EAGAIN" || !isOpen(fd)) throw error;
    }
  }
}

function isOpen(fd: number): boolean {
  try {
    fstatSync(fd);
    return true;
  } catch {
    return false;
  }
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export function paint(io: Io, style: keyof typeof CODES, text: string): string {
  return io.colour ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text;
}
