/** A backlog of twelve stories with real tests, from the first story to the last: half a minute of work. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import {
  agentOf,
  besideOf,
  expectGreen,
  expectSoundRepository,
  generated,
  HONEST,
  idOf,
  makeBacklog,
  passedOf,
  runArgs,
  runBacklogJson,
  storiesOf,
  TWELVE,
  trust,
  turnsNoted,
} from "../../support/backlog/backlog-cli.ts";
import { git } from "../../support/goals/goal-cli.ts";

// many runs of real tests, with real git below them
vi.setConfig({ testTimeout: 120_000 });

const ALL = TWELVE.map(({ n }) => idOf(n));

describe("C1 C3 C5 C13 twelve stories that build on each other", () => {
  test.each([1, 3])("C13 with --parallel %i all pass once, and all tests are green", async (parallel) => {
    const cwd = makeBacklog();
    await trust(cwd);
    const args = runArgs(agentOf(cwd), "--parallel", String(parallel));
    const run = await runBacklogJson(args, besideOf(cwd));
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(run.end).toMatchObject({
      type: "backlog.end",
      status: "done",
      passed: 12,
      total: 12,
      blocked: [],
      iterations: 12,
    });
    expect(passedOf(cwd)).toEqual(ALL);
    const made = generated(cwd);
    expect([...made].sort()).toEqual(ALL);
    for (const { n, dependsOn } of TWELVE)
      for (const d of dependsOn) expect(made.indexOf(idOf(d))).toBeLessThan(made.indexOf(idOf(n)));
    expect(turnsNoted(cwd).filter(({ role, what }) => role === "evaluator" && what === "end")).toHaveLength(
      12,
    );
    expectGreen(cwd);
    expectSoundRepository(cwd);
    if (parallel > 1) {
      expect(git(cwd, "status", "--porcelain").trim(), "all of it is merged").toBe("");
      expect(git(cwd, "branch", "--list", "loop/*").trim(), "branches that are left").toBe("");
    }
    const progress = readFileSync(join(cwd, ".loop", "progress.md"), "utf8");
    for (const id of ALL) expect(progress.split(id).length - 1, id).toBeGreaterThanOrEqual(1);
  });
});

test("C13 a story that takes longer is not held to what others merged meanwhile, before it is merged itself", async () => {
  const stories = [
    { n: 1, dependsOn: [] },
    { n: 2, dependsOn: [1] },
    { n: 3, dependsOn: [] },
  ];
  const cwd = makeBacklog({ stories, check: (n) => `test -e src/f${n}.mjs` });
  await trust(cwd);
  const late = `
if [ "$LOOP_ROLE$LOOP_STORY" = generatorUS-003 ]; then
  while ! grep -q US-001 "$PROJECT/.loop/progress.md" 2>/dev/null; do sleep 0.05; done
fi
${HONEST}`;
  const args = runArgs(agentOf(cwd, late), "--parallel", "2");
  const run = await runBacklogJson(args, besideOf(cwd, { PROJECT: cwd }));
  expect(run.end, run.stdout + run.stderr).toMatchObject({ status: "done", passed: 3, iterations: 3 });
  expect(storiesOf(cwd).map(({ rejections }) => rejections)).toEqual([0, 0, 0]);
  expectGreen(cwd);
});
