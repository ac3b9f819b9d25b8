/**
 * A goal of four honest turns whose runner is killed with SIGKILL at random moments, and the books: what the agent
 * itself wrote down, held against the receipts.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { GoalView } from "../../src/core/views/goal-view.ts";
import { type Finish, loopJson, makeProject, startLoop } from "../support/cli.ts";
import { pause } from "../support/pause.ts";
import { until } from "../support/until.ts";
import { FILES, initGit, rawExit, writeFiles } from "./project.ts";
import { agentEnv, notesFile, SPEC } from "./run.ts";

export const TURNS = 4;

/** Returns how many kills met a runner that was at work. */
export async function expectSurvival(
  random: () => number,
  kills: number,
  windowMs: number,
  finish: Finish,
): Promise<number> {
  const project = makeProject(finish);
  writeFiles(project, FILES);
  await initGit(project);
  const options = { cwd: project, env: agentEnv(project, { TURN_TAKES: String(0.05 + random() * 0.2) }) };
  const begin = ["until", "--json", "--yes", "--agent-cmd", 'sh "$HONEST/four-turns.sh"'];
  let runner = startLoop([...begin, "--check", "tests=sh check.sh", SPEC], options, finish);
  await runner.line(/"loop\.start"/);
  let met = 0;
  for (let n = 0; n < kills; n++) {
    await pause(random() * windowMs);
    runner.signal("SIGKILL");
    if ((await runner.ended) === null) met += 1;
    const goal = await loopJson<GoalView>(["status"], options);
    expectFreshEvidence(goal);
    if (goal.status === "completed") break;
    expect(goal.status).toBe("in_progress");
    runner = startLoop(["continue", "--json"], options, finish);
  }
  const code = await runner.ended;
  const goal = await loopJson<GoalView>(["status"], options);
  const said = `${runner.output.stdout}${runner.output.stderr}`;
  expect({ status: goal.status, iteration: goal.iteration }, said).toEqual({
    status: "completed",
    iteration: TURNS,
  });
  if (code !== null) expect(code, said).toBe(0);
  expectFreshEvidence(goal);
  expect(await rawExit(project, "sh check.sh")).toBe(0);
  await until(() => !hasOpenTurn(project), "the last turn has ended");
  expectBooks(project, goal);
  return met;
}

/** What is said to be met was found on the files as they are said to be. */
function expectFreshEvidence({ criteriaStatus, tree }: GoalView): void {
  for (const { met, evidence } of Object.values(criteriaStatus)) if (met) expect(evidence?.tree).toBe(tree);
}

interface Line {
  readonly what: string;
  readonly job: string;
  readonly iteration: number;
}

function linesOf(project: string): readonly Line[] {
  const lines = readFileSync(notesFile(project), "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [what = "", job = "", iteration = ""] = line.split(" ");
    return { what, job, iteration: Number(iteration) };
  });
}

function hasOpenTurn(project: string): boolean {
  const lines = linesOf(project);
  return (
    lines.filter(({ what }) => what === "begin").length > lines.filter(({ what }) => what === "end").length
  );
}

/** No job ran twice, each has one receipt, and each iteration was charged once. */
function expectBooks(project: string, { receipts }: GoalView): void {
  const lines = linesOf(project);
  const begun = lines.filter(({ what }) => what === "begin").map(({ job }) => job);
  expect(new Set(begun).size, "no turn was run twice").toBe(begun.length);
  expect(receipts.map(({ jobId }) => jobId).sort(), "each turn has one receipt").toEqual([...begun].sort());
  const charged = receipts.filter(({ charged }) => charged);
  expect(charged.map(({ iteration }) => iteration)).toEqual(Array.from({ length: TURNS }, (_, n) => n + 1));
  for (const { jobId, iteration } of charged)
    expect(lines).toContainEqual({ what: "end", job: jobId, iteration });
  for (const { notes } of receipts.filter((receipt) => !receipt.charged))
    expect(notes.join("\n")).toMatch(/^stopped: /);
  const steps = readFileSync(join(project, "src", "steps.txt"), "utf8")
    .split("\n")
    .slice(0, -1);
  expect(steps.length).toBe(begun.length);
}
