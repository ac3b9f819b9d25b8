/**
 * A goal whose runner is killed with SIGKILL at random moments, and goes on with `loop continue`. 100 moments with
 * `LOOP_TEST_LONG=1`; `LOOP_TEST_SEED` repeats the same ones. `test/cli/goals/goal.kill.test.ts` is its short form.
 */
import { describe, expect, type TestContext, test } from "vitest";
import { expectSurvival } from "../corpus/killed-goal.ts";
import { seeded } from "../support/pause.ts";
import { isLong } from "./resident.ts";

const SEED = Number(process.env.LOOP_TEST_SEED ?? Date.now() % 1_000_000);
const GOALS = isLong ? 25 : 0;
const KILLS = 5;
/** The early ones meet the start of a runner, the late ones turns and checks. */
const WINDOWS_MS = [300, 900, 2_000] as const;

describe.runIf(isLong)("H1 B20 a goal whose runner is killed at random moments", () => {
  test("H1 ends as done, with no turn run or charged twice, in each of many goals", async ({
    onTestFinished,
  }: TestContext) => {
    let met = 0;
    for (let n = 0; n < GOALS; n++) {
      try {
        met += await expectSurvival(seeded(SEED + n), KILLS, WINDOWS_MS[n % 3] ?? 900, onTestFinished);
      } catch (error) {
        console.error(`LOOP_TEST_SEED=${SEED} (${n})`);
        throw error;
      }
    }
    console.log(`LOOP_TEST_SEED=${SEED}: ${GOALS} goals, ${met} runners killed at work`);
    expect(met).toBeGreaterThanOrEqual(100);
  }, 1_500_000);
});
