/**
 * A hook on its own, as a process of the client's: the event is JSON on stdin, the answer is on stdout, and nothing
 * else. Whatever goes wrong, it exits with 0 and lets things happen.
 */
import { readFileSync } from "node:fs";

/** `script`: the program that runs. */
export async function runHookProcess(
  answer: (input: string, script: string) => Promise<string>,
): Promise<void> {
  try {
    // The end of stdin may never come where somebody else holds it open: a hook's input always ends.
    const text = await answer(readFileSync(0, "utf8"), process.argv[1] ?? "");
    if (text !== "") process.stdout.write(text);
  } catch (error) {
    process.stderr.write(`loop hook: ${String(error)}\n`);
  }
}

/** The client ends a hook that takes too long, or that the person does not want to wait for. */
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

/** null: it is no object. */
export function parseInput(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const input: unknown = JSON.parse(text);
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    return isObject ? (input as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
