/** Generators and evaluators as real processes: no story passes that its checks do not prove on the files at the end. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import { BACKLOG_LIARS, type BacklogLiar } from "../corpus/backlog-liars.ts";
import {
  type BacklogProject,
  type BacklogRun,
  isReachable,
  makeBacklog,
  redChecks,
  runStories,
} from "../corpus/backlog-run.ts";
import type { Finish } from "../support/cli.ts";

describe.concurrent("C5 C6 C7 C8 C9 no story passes that its checks do not prove on the final tree", () => {
  for (const liar of BACKLOG_LIARS)
    test(
      liar.open === undefined ? `C5 ${liar.name}` : `C5 gets through still: ${liar.name}`,
      async ({ onTestFinished }: TestContext) => {
        const { project, run } = await runLiar(liar, onTestFinished);
        if (liar.open === undefined) expectNoLie(liar, project, run);
        else expect(() => expectNoLie(liar, project, run), 'it is kept out now: take "open" away').toThrow();
      },
    );
});

async function runLiar(
  { generator, evaluator, project: options = {}, flags = [] }: BacklogLiar,
  finish: Finish,
): Promise<{ readonly project: BacklogProject; readonly run: BacklogRun }> {
  const project = makeBacklog(options, finish);
  const roles = [
    ...(generator === undefined ? [] : [`generator() {\n${generator}\n}`]),
    ...(evaluator === undefined ? [] : [`evaluator() {\n${evaluator}\n}`]),
  ];
  return { project, run: await runStories(project.cwd, roles.join("\n"), flags) };
}

function expectNoLie(liar: BacklogLiar, { cwd, stories, start }: BacklogProject, run: BacklogRun): void {
  const told = `${run.stderr}\n${JSON.stringify([run.receipts, run.end], null, 1)}`;
  expect(run.notes, told).toMatch(/: lied/);
  const passed = run.stories.filter(({ passes }) => passes).map(({ id }) => id);
  expect({ passed, code: run.code }, told).toEqual({ passed: liar.passed, code: liar.code });
  for (const story of stories)
    if (passed.includes(story.id)) expect(redChecks(cwd, story), `${story.id} has passed`).toEqual([]);
  expect(run.end?.passed ?? 0, told).toBe(liar.losesFile ? (run.end?.passed ?? 0) : passed.length);
  if (liar.iterations !== undefined) expect(run.end?.iterations, told).toBe(liar.iterations);
  if (liar.because !== undefined)
    expect(run.receipts.find(({ outcome }) => outcome !== "passed")?.reason, told).toMatch(liar.because);
  if (liar.never !== undefined) {
    const generators = run.prompts.filter((prompt) => / \| generator \| /.test(prompt));
    expect(generators.length).toBeGreaterThan(1);
    for (const text of [run.notes, ...generators]) expect(text).not.toMatch(liar.never);
  }
  if (!liar.losesFile)
    expect(run.stories.map(({ id, title, checks }) => ({ id, title, checks }))).toEqual(
      stories.map(({ id, title, checks }) => ({ id, title, checks })),
    );
  if (!liar.removesCommits && existsSync(join(cwd, ".git")))
    expect(isReachable(cwd, start), "the commits from before").toBe(true);
}
