/**
 * Two runners on one project, killed with SIGKILL at random moments and started again. The agents themselves record
 * what reached them. Short by default; `LOOP_TEST_LONG=1` for 200 rounds; `LOOP_TEST_SEED` repeats the same moments.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pause, seeded } from "../support/pause.ts";
import { until } from "../support/until.ts";
import { audit, installCommand, isLong, Project, type Runner } from "./resident.ts";

const ROUNDS = isLong ? 200 : 10;
const TIMEOUT = isLong ? 1_500_000 : 90_000;
const SEED = Number(process.env.LOOP_TEST_SEED ?? Date.now() % 1_000_000);
/** The last one is longer than the period, so that slots are skipped. */
const AGENT_MS = [0, 300, 1_500] as const;
/** For one takeover on a busy machine; the median is what people feel. */
const LONGEST_TAKEOVER_MS = 5_000;
const MEDIAN_TAKEOVER_MS = 1_000;

const VARIANTS = [
  { name: "without jitter, with an initial run", flags: ["--no-jitter"] },
  { name: "with jitter", flags: ["--no-now"] },
  ...(isLong
    ? [
        { name: "every missed slot made up for", flags: ["--no-now", "--no-jitter", "--missed", "all"] },
        { name: "missed slots dropped", flags: ["--no-now", "--missed", "skip", "--grace", "1s"] },
      ]
    : []),
];

let command = "";
let remove = () => {};

beforeAll(async () => {
  ({ command, remove } = await installCommand());
});
afterAll(() => remove());

describe.concurrent("two runners, killed at random moments", () => {
  VARIANTS.forEach(({ name, flags }, index) => {
    test(
      `A11 H1 invariant 1: ${name}: every slot is delivered at most once, every other one has its reason`,
      async () => {
        const project = new Project(command);
        const seed = SEED + index;
        try {
          await project.create(...flags);
          const takeovers = await killAndRestart(project, seeded(seed));
          await stopBoth(project);
          const closedAt = await project.close();
          const { faults, tally, slots } = audit(
            project.task as NonNullable<Project["task"]>,
            project.records(),
            await project.history(),
            closedAt,
            /^the runner was stopped \(SIGTERM\)$/,
          );
          const middle = median(takeovers);
          console.log(
            `LOOP_TEST_SEED=${SEED}, ${name}: ${ROUNDS} rounds, ${slots} slots ${JSON.stringify(tally)}, ` +
              `${takeovers.length} takeovers, median ${middle} ms, longest ${Math.max(0, ...takeovers)} ms`,
          );
          expect(faults).toEqual([]);
          expect(project.leftOver()).toEqual([]);
          expect(await project.loop("list")).toContain("No loops here");
          // A long run in which next to nothing was delivered would prove little.
          expect(tally.ok ?? 0).toBeGreaterThan(slots / 10);
          for (const ms of takeovers) expect(ms).toBeLessThan(LONGEST_TAKEOVER_MS);
          expect(middle).toBeLessThan(MEDIAN_TAKEOVER_MS);
        } catch (error) {
          console.error(`LOOP_TEST_SEED=${SEED} (${name})${project.describe()}`);
          throw error;
        } finally {
          await project.remove();
        }
      },
      TIMEOUT,
    );
  });
});

/** Returns how long each takeover took, where one runner was there to take over. */
async function killAndRestart(project: Project, random: () => number): Promise<number[]> {
  const takeovers: number[] = [];
  const agentMs = () => AGENT_MS[Math.floor(random() * AGENT_MS.length)] ?? 0;
  const pair: [Runner, Runner] = [project.up(agentMs()), project.up(agentMs())];
  for (let round = 0; round < ROUNDS; round++) {
    await pause(random() * 1_500);
    const dice = random();
    const owner = pair.findIndex((runner) => runner.pid === project.holder()?.pid);
    if (dice < 0.25) {
      await Promise.all(pair.map((runner) => runner.kill()));
      // nobody is there for a while, in half of the cases
      if (random() < 0.5) await pause(random() * 2_500);
      pair[0] = project.up(agentMs());
      pair[1] = project.up(agentMs());
      continue;
    }
    // the owner more often than not: its death is the one that matters
    const victim = dice < 0.75 && owner !== -1 ? owner : random() < 0.5 ? 0 : 1;
    const heir = pair[1 - victim] as Runner;
    const mustTakeOver = victim === owner && heir.role === "passive";
    const killedAt = performance.now();
    await (pair[victim] as Runner).kill();
    if (mustTakeOver) {
      await until(() => project.holder()?.pid === heir.pid, `${heir.pid} takes over`, LONGEST_TAKEOVER_MS);
      takeovers.push(Math.round(performance.now() - killedAt));
    }
    pair[victim] = project.up(agentMs());
  }
  // both: a process that has only just begun to start dies of SIGTERM like any other
  await until(() => pair.every((runner) => runner.role !== null), "both runners are up");
  await until(
    () => pair.some((runner) => runner.role === "owner" && runner.has("outcome")),
    "the survivors fire again",
  );
  return takeovers;
}

async function stopBoth(project: Project): Promise<void> {
  const running = project.runners.filter((runner) => runner.end === null);
  for (const runner of running) runner.signal("SIGTERM");
  for (const runner of running) expect(await runner.exited, runner.stderr).toBe(0);
  expect(project.holder()).toBeNull();
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
