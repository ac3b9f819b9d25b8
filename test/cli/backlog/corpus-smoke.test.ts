/** Two agents of the corpus of backlogs. `npm run test:corpus` runs all of them. */
import { describe, expect, type TestContext, test } from "vitest";
import { HONEST_AGENTS } from "../../corpus/backlog-honest.ts";
import { BACKLOG_LIARS } from "../../corpus/backlog-liars.ts";
import { expectKeptOut, expectPassed } from "../../corpus/expect-backlog.ts";

const SMOKE = new Set(["gets a PASS with a failing check", "commits each story"]);
const [liar, ...moreLiars] = BACKLOG_LIARS.filter(({ name }) => SMOKE.has(name));
const [honest, ...moreHonest] = HONEST_AGENTS.filter(({ name }) => SMOKE.has(name));

describe.concurrent("C5 some agents of the corpus", () => {
  test("C5 a story does not pass when its check fails, whatever the evaluator says", async ({
    onTestFinished,
  }: TestContext) => {
    expect(moreLiars).toEqual([]);
    if (liar === undefined) throw new Error("the corpus has no such liar any more");
    await expectKeptOut(liar, onTestFinished);
  });

  test("C5 the stories of an honest agent pass", async ({ onTestFinished }: TestContext) => {
    expect(moreHonest).toEqual([]);
    if (honest === undefined) throw new Error("the corpus has no such agent any more");
    await expectPassed(honest, onTestFinished);
  });
});
