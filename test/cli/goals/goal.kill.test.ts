/** A goal whose runner dies at random moments. `test/long/goal.kill.test.ts` has a hundred of them. */
import { describe, type TestContext, test } from "vitest";
import { expectSurvival } from "../../corpus/killed-goal.ts";
import { seeded } from "../../support/pause.ts";

const SEED = Number(process.env.LOOP_TEST_SEED ?? Date.now() % 1_000_000);
const KILLS = 4;

describe.concurrent("H1 B20 a goal whose runner is killed at random moments", () => {
  for (const n of [1, 2])
    test(`H1 ends as done, with no turn run or charged twice (${n})`, async ({
      onTestFinished,
    }: TestContext) => {
      try {
        await expectSurvival(seeded(SEED + n), KILLS, 900, onTestFinished);
      } catch (error) {
        console.error(`LOOP_TEST_SEED=${SEED} (${n})`);
        throw error;
      }
    });
});
