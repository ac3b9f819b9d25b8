/** Ends the process after its output has reached the reader. Waits for nothing else. */
import { closeSync } from "node:fs";
import { isatty } from "node:tty";

/** A reader that reads nothing for this long counts as gone. */
const GIVE_UP_MS = 1_500;

/** The process survives a closed terminal or pipe. Returns a function that ends it, even with running children. */
export function surviveLostReaders(): (code: number) => Promise<never> {
  const terminals = [0, 1, 2].filter(isatty);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return async (code) => {
    await drained(GIVE_UP_MS);
    // at exit Node resets terminals, and aborts if one is gone
    for (const fd of terminals) if (!isatty(fd)) closeSync(fd);
    process.exit(code);
  };
}

/** Resolves when all output was read or its reader is gone. `giveUpMs` starts again whenever the reader reads. */
export async function drained(giveUpMs?: number): Promise<void> {
  const drain = (stream: NodeJS.WriteStream) =>
    new Promise<void>((resolve) => {
      if (stream.writableLength === 0 || stream.destroyed) return resolve();
      stream.once("error", () => resolve());
      stream.once("close", () => resolve());
      if (giveUpMs !== undefined) stream.setTimeout(giveUpMs, resolve);
      // after all pending output
      stream.write("", () => resolve());
    });
  await Promise.all([process.stdout, process.stderr].map(drain));
}
