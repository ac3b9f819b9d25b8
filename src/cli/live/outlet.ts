/**
 * The output of a process that stays. Owns how much of it is unread.
 *
 * 1. A write neither blocks nor throws: a reader that is slow, stopped or gone must not hold up the engine.
 * 2. What is unread stays below the limit and one text more.
 * 3. What was left out is counted, and told once the reader is back, in front of what comes after it.
 */
import { Socket } from "node:net";
import { type Io, writeNow } from "../io.ts";

const LIMIT_BYTES = 8 * 1024 * 1024;

export interface Outlet {
  /** Whole or not at all; false: left out. `lines`: how many that is, where it is not told by the line breaks. */
  write(text: string, lines?: number): boolean;
  /** The reader has not taken all yet: what would be replaced soon anyway can wait. */
  readonly isBehind: boolean;
}

/** `onBack` is called with the number of lines that were left out. */
export function createOutlet(
  stream: NodeJS.WriteStream,
  onBack: (lines: number) => void,
  limitBytes = LIMIT_BYTES,
): Outlet {
  let leftOut = 0;
  const put = putterFor(stream);

  function tell(): void {
    const lines = leftOut;
    leftOut = 0;
    if (lines > 0) onBack(lines);
  }

  stream.on("drain", tell);
  return {
    write(text, lines = text.split("\n").length - 1) {
      // once behind, not for every line that fits again
      const limit = leftOut === 0 ? limitBytes : limitBytes / 2;
      if (stream.writableLength > limit) {
        leftOut += lines;
        return false;
      }
      tell();
      put(text);
      return true;
    },
    get isBehind() {
      return stream.writableNeedDrain;
    },
  };
}

function putterFor(stream: NodeJS.WriteStream & { readonly fd?: number }): (text: string) => void {
  const { fd = 1 } = stream;
  if (!((stream as unknown) instanceof Socket)) return (text) => putIntoFile(fd, text);
  // Node makes terminals blocking, and one that is stopped by Ctrl-S would stop the engine too. libuv has opened
  // it anew for us, so this does not reach the shell. There is no public way.
  (stream as { _handle?: { setBlocking?(on: boolean): void } })._handle?.setBlocking?.(false);
  return (text) => void stream.write(text);
}

/** A full disk takes lines from the log; the runner goes on. */
function putIntoFile(fd: number, text: string): void {
  try {
    writeNow(fd, text);
  } catch {
    // there is no other place to say it
  }
}

/**
 * From here on the process stays: what it prints waits for the reader, the process does not. Returns how to end
 * that: once the reader has taken all there is, so that what comes then is the last and is never left out.
 */
export function writeInBackground(io: Io, renderLeftOut: (lines: number) => string): () => Promise<void> {
  const out = createOutlet(process.stdout, (lines) => out.write(`${renderLeftOut(lines)}\n`));
  const err = createOutlet(process.stderr, (lines) => err.write(`${leftOutText(lines)}\n`));
  const undo = io.divert({ out: (text) => out.write(`${text}\n`), say: (text) => err.write(`${text}\n`) });
  return async () => {
    await Promise.all([process.stdout, process.stderr].map(taken));
    undo();
  };
}

/** Everything was read, or nobody is left to read it. */
function taken(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) {
      resolve();
      return;
    }
    stream.once("error", () => resolve());
    stream.once("close", () => resolve());
    // behind everything that waits
    stream.write("", () => resolve());
  });
}

export function leftOutText(lines: number): string {
  return `(${lines === 1 ? "1 line was" : `${lines} lines were`} left out: nobody read them)`;
}
