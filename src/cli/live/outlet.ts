/**
 * The output of a long-running process. Owns the amount of unread output.
 *
 * 1. A write neither blocks nor throws: a slow, stopped or closed reader must not delay the engine.
 * 2. The unread output stays below the limit plus one text.
 * 3. Dropped lines are counted and reported when the reader reads again, before newer output.
 */
import { Socket } from "node:net";
import { type Io, writeNow } from "../io.ts";
import { drained } from "../run/leave.ts";

const LIMIT_BYTES = 8 * 1024 * 1024;

export interface Outlet {
  /** Writes the whole text or drops it (false). `lines`: its line count if the line breaks do not tell. */
  write(text: string, lines?: number): boolean;
  /** The reader is slow: output that is soon replaced can wait. */
  readonly isBehind: boolean;
}

/** Calls `onBack` with the number of dropped lines. */
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
      // after a drop, wait until half is free, so that lines are not dropped one by one
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
  // Node makes terminals blocking, so Ctrl-S would stop the engine too. There is no public way to change that. libuv
  // has reopened the terminal, so the shell is not affected.
  (stream as { _handle?: { setBlocking?(on: boolean): void } })._handle?.setBlocking?.(false);
  return (text) => void stream.write(text);
}

/** A full disk loses lines of the log; the runner continues. */
function putIntoFile(fd: number, text: string): void {
  try {
    writeNow(fd, text);
  } catch {
    // there is no other place to report it
  }
}

/** Makes output non-blocking. The returned function waits for the reader and makes output blocking again. */
export function writeInBackground(io: Io, renderLeftOut: (lines: number) => string): () => Promise<void> {
  const out = createOutlet(process.stdout, (lines) => out.write(`${renderLeftOut(lines)}\n`));
  const err = createOutlet(process.stderr, (lines) => err.write(`${leftOutText(lines)}\n`));
  const undo = io.divert({ out: (text) => out.write(`${text}\n`), say: (text) => err.write(`${text}\n`) });
  return async () => {
    await drained();
    undo();
  };
}

export function leftOutText(lines: number): string {
  return `(${lines === 1 ? "1 line was" : `${lines} lines were`} dropped: nobody read the output)`;
}
