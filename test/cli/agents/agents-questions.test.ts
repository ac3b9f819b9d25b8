/** Questions on a terminal to which others print (hold.ts). */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Io, Voices } from "../../../src/cli/io.ts";
import { createAsker } from "../../../src/cli/live/hold.ts";

/** What reaches the screen, in its order. */
function screen() {
  const shown: string[] = [];
  let voices: Voices = {
    out: (text) => void shown.push(`out ${text}`),
    say: (text) => void shown.push(`say ${text}`),
  };
  const io: Io = {
    out: (text) => voices.out(text),
    say: (text) => voices.say(text),
    json: () => {},
    divert: (to) => {
      const before = voices;
      voices = { ...before, ...to };
      return () => {
        voices = before;
      };
    },
    interactive: true,
    colour: false,
  };
  return { io, shown };
}

/** A question that the test answers. */
function question<T>() {
  let answer: (value: T) => void = () => {};
  let fail: (error: Error) => void = () => {};
  let isOpen = false;
  const answered = new Promise<T>((resolve, reject) => {
    answer = resolve;
    fail = reject;
  });
  const put = () => {
    isOpen = true;
    return answered;
  };
  return {
    put,
    answer: (value: T) => answer(value),
    fail: (error: Error) => fail(error),
    isOpen: () => isOpen,
  };
}

const settled = () => new Promise((done) => setImmediate(done));

test("E3 lines wait for the answer, and come in their order after it", async () => {
  const { io, shown } = screen();
  const first = question<string>();
  const asked = createAsker(io)(first.put);
  await settled();
  io.out("a");
  io.say("b");
  expect(shown).toEqual([]);
  first.answer("yes");
  expect(await asked).toBe("yes");
  io.out("c");
  expect(shown).toEqual(["out a", "say b", "out c"]);
});

test("E3 the second question is put when the first is gone, whatever became of it", async () => {
  const { io, shown } = screen();
  const ask = createAsker(io);
  const [first, second] = [question<string>(), question<string>()];
  const failed = ask(first.put).catch((error: Error) => error.message);
  const asked = ask(second.put);
  await settled();
  io.out("between");
  expect([first.isOpen(), second.isOpen()]).toEqual([true, false]);
  first.fail(new Error("the terminal is gone"));
  expect(await failed).toBe("the terminal is gone");
  await settled();
  expect([second.isOpen(), shown]).toEqual([true, ["out between"]]);
  second.answer("no");
  expect(await asked).toBe("no");
});

test("E3 of a flood the newest lines are kept, and it is said how many were not", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 500 }), async (count) => {
      const { io, shown } = screen();
      const open = question<null>();
      const asked = createAsker(io)(open.put);
      await settled();
      const lines = Array.from({ length: count }, (_, n) => `${n}`);
      for (const line of lines) io.out(line);
      open.answer(null);
      await asked;
      const left = Math.max(0, count - 200);
      const note = left === 0 ? [] : [`say (${left} earlier lines left out during the question)`];
      expect(shown).toEqual([...note, ...lines.slice(-200).map((line) => `out ${line}`)]);
    }),
    { numRuns: 20 },
  );
});
