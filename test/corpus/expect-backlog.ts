/** Generators and evaluators as real processes, run and held to what they did. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Finish } from "../support/cli.ts";
import type { HonestAgents } from "./backlog-honest.ts";
import type { BacklogLiar } from "./backlog-lie.ts";
import {
  type BacklogOptions,
  type BacklogProject,
  type BacklogRun,
  isReachable,
  makeBacklog,
  redChecks,
  runStories,
} from "./backlog-run.ts";

const GENERATOR = / \| generator \| /;

/** No story passes that its checks do not prove; one that is known to get through must still do so. */
export async function expectKeptOut(liar: BacklogLiar, finish: Finish): Promise<void> {
  const { project, run } = await runAgents({ ...liar, project: projectOf(liar) }, finish);
  if (liar.open === undefined) expectNoLie(liar, project, run);
  else expect(() => expectNoLie(liar, project, run), 'it is kept out now: take "open" away').toThrow();
}

export async function expectPassed(agents: HonestAgents, finish: Finish): Promise<void> {
  const { project, run } = await runAgents(agents, finish);
  expectHonest(agents, project, run);
}

/** Most lies are told once: a story is blocked at its first rejection. */
function projectOf({ project, evalRetries = 1 }: BacklogLiar): BacklogOptions {
  return { config: { evalRetries }, ...project };
}

async function runAgents(
  { generator, evaluator, project: options = {}, flags = [] }: BacklogLiar | HonestAgents,
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
    const generators = run.prompts.filter((prompt) => GENERATOR.test(prompt));
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

function expectHonest(agents: HonestAgents, { cwd, stories, start }: BacklogProject, run: BacklogRun): void {
  const told = `${run.stderr}\n${JSON.stringify([run.receipts, run.end], null, 1)}`;
  const attempts = run.receipts.map(({ story, outcome }) => `${story} ${outcome}`);
  // several at a time end in any order
  const isAnyOrder = agents.flags?.includes("--parallel");
  expect(isAnyOrder ? attempts.toSorted() : attempts, told).toEqual(agents.attempts);
  expect({ code: run.code, status: run.end?.status }, told).toEqual({ code: 0, status: "done" });
  const done = new Set(agents.attempts.map((attempt) => attempt.split(" ")[0]));
  for (const story of run.stories)
    expect({ [story.id]: story.passes ?? false }).toEqual({ [story.id]: done.has(story.id) });
  for (const story of stories) if (done.has(story.id)) expect(redChecks(cwd, story), story.id).toEqual([]);
  const generators = run.prompts.filter((prompt) => GENERATOR.test(prompt));
  expect(run.prompts.length - generators.length, "evaluations").toBe(
    agents.evaluations ?? agents.attempts.length,
  );
  if (agents.led !== undefined) expect(generators.at(-1)?.slice(0, 600)).toMatch(agents.led);
  if (agents.file !== undefined) expect(existsSync(join(cwd, agents.file)), agents.file).toBe(true);
  expect(isReachable(cwd, start)).toBe(true);
}
