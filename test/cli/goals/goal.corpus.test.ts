/** Agents as real processes: those that lie never end a loop as done, those that do not end it at the first chance. */
import { describe, type TestContext, test } from "vitest";
import { expectDone } from "../../corpus/expect-done.ts";
import { expectGetsThrough, expectLie } from "../../corpus/expect-lie.ts";
import { HONEST } from "../../corpus/honest.ts";
import { LIARS } from "../../corpus/liars.ts";

describe.concurrent("B9 an honest agent ends its loop as done, in the least number of turns", () => {
  for (const agent of HONEST)
    test(`B9 ${agent.name}`, async ({ onTestFinished }: TestContext) => {
      await expectDone(agent, onTestFinished);
    });
});

describe.concurrent("B7 B9 B10 an agent that lies never ends a loop as done", () => {
  for (const liar of LIARS) {
    const [title, expectIt] =
      liar.open === undefined
        ? [liar.name, expectLie]
        : [`gets through still: ${liar.name}`, expectGetsThrough];
    test(`B9 ${title}`, async ({ onTestFinished }: TestContext) => {
      await expectIt(liar, onTestFinished);
    });
  }
});
