/** Agents as real processes: those that lie never end a loop as done, those that do not end it at the first chance. */
import { describe, expect, type TestContext, test } from "vitest";
import type { GoalView } from "../../../src/core/goal/view.ts";
import { expectDone } from "../../corpus/expect-done.ts";
import { expectGetsThrough, expectLie } from "../../corpus/expect-lie.ts";
import { HONEST } from "../../corpus/honest.ts";
import { LIARS } from "../../corpus/liars.ts";
import { FILES, initGit, writeFiles } from "../../corpus/project.ts";
import { agentEnv, readRun, runGoal } from "../../corpus/run.ts";
import { loopJson, makeProject, runLoop } from "../../support/cli.ts";

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

test("B20 H1 an agent that kills the engine has not ended the loop, and the loop goes on", async ({
  onTestFinished,
}: TestContext) => {
  const project = makeProject(onTestFinished);
  writeFiles(project, FILES);
  await initGit(project);
  const options = { cwd: project, env: agentEnv(project) };
  const killed = await runGoal(project, {
    ...{
      checks: ["tests=sh check.sh"],
      agentCmd: 'sh "$LIARS/kills-engine.sh"',
      flags: ["--iterations", "2"],
    },
  });
  expect({ code: killed.code, end: killed.end }).toEqual({ code: null, end: null });
  expect(killed.notes).toMatch(/killed/);
  const left = await loopJson<GoalView>(["status"], options);
  expect({ status: left.status, met: left.criteriaStatus.tests?.met }).toEqual({
    status: "in_progress",
    met: false,
  });
  const gone = readRun(project, await runLoop(["continue", "--json"], options));
  expect({ code: gone.code, status: gone.end?.status, iterations: gone.end?.iterations }).toEqual({
    ...{ code: 3, status: "paused", iterations: 2 },
  });
  expect(gone.said).toMatch(/EXIT_SIGNAL: true/);
});
