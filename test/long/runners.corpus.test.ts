/**
 * The whole corpus three times, and with the runners that people use. `test/cli/goals/goal.corpus.test.ts` has each agent once,
 * with the fastest checks. `LOOP_TEST_LONG=1`.
 */
import { describe, type TestContext, test } from "vitest";
import { expectDone } from "../corpus/expect-done.ts";
import { expectGetsThrough, expectLie } from "../corpus/expect-lie.ts";
import { HONEST } from "../corpus/honest.ts";
import { LIARS } from "../corpus/liars.ts";
import { RUNNER_HONEST, RUNNER_LIARS } from "../corpus/runners.ts";
import { isLong } from "./resident.ts";

const ROUNDS = [1, 2, 3] as const;
const TIMEOUT = 120_000;

describe.runIf(isLong)("B7 B9 the corpus of agents, with every runner", () => {
  for (const round of ROUNDS) {
    describe.concurrent(`round ${round}`, () => {
      for (const agent of [...HONEST, ...RUNNER_HONEST])
        test(
          `B9 honest: ${agent.name}`,
          async ({ onTestFinished }: TestContext) => void (await expectDone(agent, onTestFinished)),
          TIMEOUT,
        );
      for (const liar of [...LIARS, ...RUNNER_LIARS]) {
        const expectIt = liar.open === undefined ? expectLie : expectGetsThrough;
        test(
          `B9 ${liar.name}`,
          async ({ onTestFinished }: TestContext) => void (await expectIt(liar, onTestFinished)),
          TIMEOUT,
        );
      }
    });
  }
});
