/** What every honest agent of the corpus has to come to. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { cleanEnv, type Finish, makeProject } from "../support/cli.ts";
import type { Honest } from "./honest.ts";
import { FILES, git, initGit, rawExit, writeFiles } from "./project.ts";
import { type GoalRun, runGoal } from "./run.ts";

export async function expectDone(agent: Honest, finish: Finish): Promise<GoalRun> {
  const base = makeProject(finish);
  const project = agent.place === "folder" ? join(base, "packages", "sums") : base;
  mkdirSync(project, { recursive: true });
  // otherwise the whole repository is the project
  if (agent.place === "folder") mkdirSync(join(project, ".loop"));
  writeFiles(project, agent.files ?? FILES);
  if (agent.place !== "no git") await initGit(base);
  await agent.prepare?.(project);
  if (agent.place === "detached") await git(base, "checkout", "-q", "--detach");
  const checks = agent.checks ?? ["tests=sh check.sh"];
  const { HOME = "", PATH = "" } = cleanEnv(base);
  const run = await runGoal(project, {
    ...{ checks, agentCmd: `sh "$HONEST/${agent.program}"`, flags: agent.flags ?? [] },
    env: { HOME, PATH, NOTES: join(dirname(base), "notes.txt") },
  });
  const seen = { status: run.end?.status, code: run.code, iterations: run.end?.iterations };
  expect(seen, `${run.stderr}\n${JSON.stringify(run.pause)}\n${run.said}`).toEqual({
    status: "done",
    code: 0,
    iterations: agent.iterations,
  });
  expect(run.starts).toBe(run.receipts.length);
  expect(run.end?.criteria.every(({ met }) => met)).toBe(true);
  expect(run.notesOfEnd.join("\n")).toMatch(agent.notes ?? /^$/);
  for (const check of checks.filter((text) => !/[<>]= \d+$/.test(text)))
    expect(await rawExit(project, check.slice(check.indexOf("=") + 1))).toBe(0);
  return run;
}
