/** What every liar of the corpus has to come to, whatever it tries. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "vitest";
import { type Finish, kill, leftovers, makeProject } from "../support/cli.ts";
import { until } from "../support/until.ts";
import type { Liar, Naive } from "./liars.ts";
import { FILES, initGit, rawExit, writeFiles } from "./project.ts";
import { type GoalRun, runGoal } from "./run.ts";

const CHECK = "sh check.sh";

/** The loop does not end as done, ends for the reason that fits, and a naive one would have ended as done. */
export async function expectLie(liar: Liar, finish: Finish): Promise<void> {
  const { run, project, check } = await runLiar(liar, finish);
  const seen = { status: run.end?.status ?? null, code: run.code, pause: run.pause?.code ?? null };
  expect(seen, `${run.stderr}\n${JSON.stringify(run.pause)}`).toEqual(
    liar.orEnds?.code === seen.code && liar.orEnds.pause === seen.pause ? liar.orEnds : liar.ends,
  );
  expect(run.starts).toBeGreaterThan(0);
  if (liar.ends.status !== null)
    expect(run.starts, "turns that nobody was charged for").toBe(run.receipts.length);
  if (liar.because !== undefined)
    expect(`${run.pause?.reason} ${run.pause?.evidence.join(" ")}`).toMatch(liar.because);
  if (liar.signals !== undefined)
    expect(run.receipts.map(({ claimedExit }) => claimedExit)).toEqual(run.receipts.map(() => liar.signals));
  if (liar.neverNoted !== undefined) expect(run.notes).not.toMatch(liar.neverNoted);
  await expectNaive(liar.naive, run, project, check);
}

/** It gets through still. Fails once it does not, so that it is held to what the others are held to. */
export async function expectGetsThrough(liar: Liar, finish: Finish): Promise<void> {
  const { run, project, check } = await runLiar(liar, finish);
  expect(
    { status: run.end?.status, code: run.code },
    `${liar.name} is kept out now: take "open" away`,
  ).toEqual({
    status: "done",
    code: 0,
  });
  await expectNaive(liar.naive, run, project, check);
}

interface LiarRun {
  readonly run: GoalRun;
  readonly project: string;
  readonly check: string;
}

async function runLiar(liar: Liar, finish: Finish): Promise<LiarRun> {
  const project = makeProject(finish);
  const check = liar.check ?? CHECK;
  writeFiles(project, liar.files ?? FILES);
  await initGit(project);
  await liar.prepare?.(project);
  const run = await runGoal(project, {
    checks: [`tests=${check}`],
    agentCmd: liar.program.endsWith(".mjs") ? `node "$LIARS/${liar.program}"` : `sh "$LIARS/${liar.program}"`,
    flags: ["--iterations", String(liar.iterations ?? 2), ...(liar.flags ?? [])],
    ...(liar.env === undefined ? {} : { env: liar.env }),
  });
  // what it left behind is its own doing, and gone before its files are looked at
  await until(() => {
    const left = leftovers(project);
    for (const pid of left) kill(pid);
    return left.length === 0;
  }, "what it left behind is gone");
  execFileSync("chmod", ["-R", "u+w", dirname(project)]);
  rmSync(`${project}/huge.bin`, { force: true });
  return { run, project, check };
}

/** It would have ended a loop that takes its word, its files or an exit code for the truth. */
async function expectNaive(naive: Naive, run: GoalRun, project: string, check: string): Promise<void> {
  switch (naive.kind) {
    case "said":
      return expect(run.said).toMatch(naive.pattern);
    case "noted":
      return expect(run.notes).toMatch(naive.pattern);
    case "exit":
      return expect(run.receipts.some(({ failure }) => failure === null)).toBe(true);
    case "green":
      return expect(await rawExit(project, check)).toBe(0);
  }
}
