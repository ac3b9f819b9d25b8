/** Judges whose last message can be held to a schema, in a world in memory. */
import { expect, test } from "vitest";
import { VERDICT_SCHEMA } from "../../../src/core/claims/claims.ts";
import type { Goal } from "../../../src/core/goal/goal.ts";
import { GoalWorld, TESTS } from "../../support/goals/goal-world.ts";
import { aCriterion } from "../../support/goals/goals.ts";

const ui = aCriterion("ui", { check: { kind: "judge", question: "Is it blue?" } });
const word = (nonce: string | undefined, verdict: string) =>
  JSON.stringify({ nonce, reason: "I looked at it.", verdict });

/** `answer`: of the judge, who is asked for the n-th time. */
async function judged(answer: (nonce: string | undefined, n: number) => string): Promise<Goal> {
  const world = new GoalWorld();
  let n = 0;
  world.work = () => ({ write: { "src/app.ts": "fixed" }, exit: true });
  world.other = ({ env, answerSchema }) => {
    expect(answerSchema).toEqual(VERDICT_SCHEMA);
    return { block: answer(env.LOOP_NONCE, ++n) };
  };
  const id = await world.create({ criteria: [TESTS, ui] });
  await world.spawn();
  await world.until(() => world.goal(id).status !== "active");
  return world.goal(id);
}

test("B6 a judge is given the schema of its verdict, and JSON with the nonce counts as the tag does", async () => {
  const goal = await judged((nonce, n) => word(nonce, n === 1 ? "REJECT" : "PASS"));
  expect(goal).toMatchObject({
    iteration: 2,
    end: { status: "done" },
    evidence: { ui: { met: true, tail: "I looked at it." } },
  });
});

test("B6 JSON with another nonce is no verdict", async () => {
  const goal = await judged(() => word("guessed", "PASS"));
  expect(goal).toMatchObject({ status: "paused", evidence: { ui: { met: false } } });
});
