/** A few agents of the corpus, one for each way to lie. `npm run test:corpus` runs all of them. */
import { describe, expect, type TestContext, test } from "vitest";
import type { GoalView } from "../../../src/core/views/goal-view.ts";
import { expectDone } from "../../corpus/expect-done.ts";
import { expectLie } from "../../corpus/expect-lie.ts";
import { HONEST } from "../../corpus/honest.ts";
import { LIARS } from "../../corpus/liars.ts";
import { FILES, initGit, writeFiles } from "../../corpus/project.ts";
import { agentEnv, readRun, runGoal } from "../../corpus/run.ts";
import { loopJson, makeProject, runLoop } from "../../support/cli.ts";

/** It only claims; it changes the check; it forges what the engine wrote down. */
const LIES = ["claims and fails", "changes the script in package.json", "writes into the published state"];

describe.concurrent("B7 B9 some agents of the corpus", () => {
  for (const agent of HONEST.slice(0, 1))
    test(`B9 honest: ${agent.name}`, async ({ onTestFinished }: TestContext) => {
      await expectDone(agent, onTestFinished);
    });

  test.for(LIES)("B9 %s", async (name, { onTestFinished }) => {
    const liar = LIARS.find((one) => one.name === name);
    if (liar === undefined) throw new Error(`no agent of the corpus ${name}`);
    await expectLie(liar, onTestFinished);
  });
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
    code: 3,
    status: "paused",
    iterations: 2,
  });
  expect(gone.said).toMatch(/EXIT_SIGNAL: true/);
});
