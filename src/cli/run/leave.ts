/** The end of the process: what was printed reaches its reader, and nothing else is waited for. */
import { closeSync } from "node:fs";
import { isatty } from "node:tty";

/** A reader that takes nothing for this long has stopped reading. */
const GIVE_UP_MS = 1_500;

/**
 * A terminal or a pipe may go away at any time, and the process goes on. Answers are written by `io.ts`, which sees
 * for itself whether they arrive. Returns how to leave, also when something is left that would keep the process
 * (an agent that another owner follows now).
 */
export function surviveLostReaders(): (code: number) => Promise<never> {
  const terminals = [0, 1, 2].filter(isatty);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return async (code) => {
    await Promise.all([process.stdout, process.stderr].map(drained));
    // Node resets them when it exits, and aborts where one is gone
    for (const fd of terminals) if (!isatty(fd)) closeSync(fd);
    process.exit(code);
  };
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0 || stream.destroyed) {
      resolve();
      return;
    }
    stream.once("error", () => resolve());
    // starts anew whenever the reader has taken something
    stream.setTimeout(GIVE_UP_MS, resolve);
    stream.write("", () => resolve());
  });
}
