/** Asks one question at a time and prints nothing over it. */
import type { Io } from "../io.ts";

/** Asks after the previous question has ended. Must not be called within a question. */
export type Asker = <T>(put: () => Promise<T>) => Promise<T>;

const MOST_LINES = 200;

/** Holds lines back during a question; keeps the newest `MOST_LINES`. */
export function createAsker(io: Io): Asker {
  const inLine = createLine();
  return (put) => inLine(() => holdLines(io, put));
}

/** Runs one call after another, in order. */
export function createLine(): Asker {
  let last: Promise<unknown> = Promise.resolve();
  return (put) => {
    const next = last.then(put);
    last = next.catch(() => {});
    return next;
  };
}

async function holdLines<T>(io: Io, put: () => Promise<T>): Promise<T> {
  const waiting: (readonly ["out" | "say", string])[] = [];
  let leftOut = 0;
  const hold = (voice: "out" | "say") => (text: string) => {
    waiting.push([voice, text]);
    if (waiting.length <= MOST_LINES) return;
    waiting.shift();
    leftOut++;
  };
  const undo = io.divert({ out: hold("out"), say: hold("say") });
  try {
    return await put();
  } finally {
    undo();
    if (leftOut > 0) io.say(`(${leftOut} earlier lines left out during the question)`);
    for (const [voice, text] of waiting) io[voice](text);
  }
}
