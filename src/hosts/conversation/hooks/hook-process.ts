/**
 * A hook as a process that the client starts: the event is JSON on stdin, only the answer is on stdout. After an error
 * it exits with 0, so the client continues.
 */
import { readFileSync } from "node:fs";

/** `script`: the path of the running program. */
export async function runHookProcess(
  answer: (input: string, script: string) => Promise<string>,
): Promise<void> {
  try {
    const text = await answer(readFileSync(0, "utf8"), process.argv[1] ?? "");
    if (text !== "") process.stdout.write(text);
  } catch (error) {
    process.stderr.write(`loop hook: ${String(error)}\n`);
  }
}

/** The client sends a signal when the hook takes too long or the person does not want to wait. */
export async function untilStopped<T>(
  signals: readonly NodeJS.Signals[],
  act: (stopping: AbortSignal) => Promise<T>,
): Promise<T> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of signals) process.once(signal, stop);
  try {
    return await act(stopping.signal);
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}
