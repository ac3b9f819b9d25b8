/** Agents as real processes: those that lie never end a loop as done, those that do not end it at the first chance. */
import { describe, type TestContext, test } from "vitest";
import { expectLie } from "../corpus/expect-lie.ts";
import { LIARS } from "../corpus/liars.ts";

describe.concurrent("B7 B9 B10 H1 an agent that lies never ends a loop as done", () => {
  for (const liar of LIARS)
    test(`B9 ${liar.name}`, ({ onTestFinished }: TestContext) => expectLie(liar, onTestFinished));
});
