/** The end of the process: what was printed reaches its reader, and nothing else is waited for. */

/** A reader that takes nothing for this long has stopped reading. */
const GIVE_UP_MS = 3_000;

/** A terminal or a pipe may go away at any time. Answers are written by `io.ts`, which sees for itself. */
export function surviveLostReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/** Ends the process also when something is left that would keep it, such as an agent that another owner follows. */
export async function leave(code: number): Promise<never> {
  await Promise.all([process.stdout, process.stderr].map(drained));
  process.exit(code);
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
