/**
 * Backlogs whose runner is killed with SIGKILL at random moments, and go on with `--resume`: no story is lost, none
 * is done twice, and nothing is left over. A few moments in the short form, more than 100 with `LOOP_TEST_LONG=1`;
 * `LOOP_TEST_SEED` repeats the same ones.
 */
import { describe, expect, type TestContext, test } from "vitest";
import {
  agentOf,
  type BacklogEndLine,
  besideOf,
  expectGreen,
  expectSoundRepository,
  generated,
  idOf,
  makeBacklog,
  runArgs,
  type StoryWish,
  storiesOf,
  trust,
  turnsNoted,
} from "../support/backlog/backlog-cli.ts";
import { type Finish, startLoop } from "../support/cli.ts";
import { pause, seeded } from "../support/pause.ts";
import { until } from "../support/until.ts";
import { isLong } from "./resident.ts";

const SEED = Number(process.env.LOOP_TEST_SEED ?? Date.now() % 1_000_000);
const BACKLOGS = isLong ? 26 : 2;
const KILLS = isLong ? 5 : 3;
/** The early ones meet the start of a runner, the late ones turns, checks and merges. */
const WINDOWS_MS = [400, 1_000, 2_000] as const;

const STORIES: readonly StoryWish[] = [
  { n: 1, dependsOn: [] },
  { n: 2, dependsOn: [] },
  { n: 3, dependsOn: [1] },
  { n: 4, dependsOn: [1, 2] },
  { n: 5, dependsOn: [3] },
];

/** Takes its time, so that kills meet it at work. */
const SLOW = `
if [ "$LOOP_ROLE" = generator ]; then
  sleep "$TURN_TAKES"
  solve
  [ $((n % 2)) = 0 ] || { git add -A; git commit -qm "feat: $LOOP_STORY"; }
  echo "made f$n"
else sleep "$TURN_TAKES"; pass; fi
`;

describe("H1 C12 C13 a backlog whose runner is killed at random moments", () => {
  for (const parallel of [1, 3])
    test(`H1 with --parallel ${parallel}, each story passes once and nothing is left over`, {
      timeout: isLong ? 1_500_000 : 120_000,
    }, async ({ onTestFinished }: TestContext) => {
      let met = 0;
      for (let n = 0; n < BACKLOGS / 2; n++) {
        const seed = SEED + n * 2 + parallel;
        const windowMs = WINDOWS_MS[n % WINDOWS_MS.length] ?? 1_000;
        try {
          met += await expectSurvival(seeded(seed), parallel, windowMs, onTestFinished);
        } catch (error) {
          console.error(`LOOP_TEST_SEED=${SEED} (${n}, --parallel ${parallel})`);
          throw error;
        }
      }
      if (isLong)
        console.log(`LOOP_TEST_SEED=${SEED}: --parallel ${parallel}, ${met} runners killed at work`);
      expect(met).toBeGreaterThanOrEqual(isLong ? 50 : 1);
    });
});

/** Returns how many kills met a runner that was at work. */
async function expectSurvival(
  random: () => number,
  parallel: number,
  windowMs: number,
  finish: Finish,
): Promise<number> {
  const check = (n: number) => `grep -q "f${n} = " src/f${n}.mjs && sleep 0.05`;
  const cwd = makeBacklog({ stories: STORIES, check, finish });
  await trust(cwd);
  const beside = besideOf(cwd);
  const options = { cwd, env: { ...beside.env, TURN_TAKES: String(0.05 + random() * 0.2) } };
  const args = runArgs(agentOf(cwd, SLOW), "--json", "--parallel", String(parallel));
  let runner = startLoop(args, options, finish);
  await runner.line(/"iteration"/);
  let met = 0;
  for (let n = 0; n < KILLS; n++) {
    await pause(random() * windowMs);
    runner.signal("SIGKILL");
    if ((await runner.ended) === null) met += 1;
    runner = startLoop([...args, "--resume"], options, finish);
  }
  const code = await runner.ended;
  const said = `${runner.output.stdout}${runner.output.stderr}`;
  expect(code, said).toBe(0);
  const end = JSON.parse(runner.output.stdout.trimEnd().split("\n").at(-1) ?? "") as BacklogEndLine;
  expect(end, said).toMatchObject({ type: "backlog.end", status: "done", passed: STORIES.length });
  await expectBooks(cwd, said);
  return met;
}

async function expectBooks(cwd: string, said: string): Promise<void> {
  const wanted = STORIES.map(({ n }) => idOf(n));
  const passed = storiesOf(cwd).filter(({ passes, rejections }) => passes && rejections === 0);
  expect(
    passed.map(({ id }) => id),
    said,
  ).toEqual(wanted);
  await until(() => openTurns(cwd) === 0, "the last turn has ended");
  expect([...generated(cwd)].sort(), "each story was made once").toEqual(wanted);
  const begun = turnsNoted(cwd).filter(({ what }) => what === "begin");
  expect(new Set(begun.map(({ job }) => job)).size, "no turn was run twice").toBe(begun.length);
  expectSoundRepository(cwd);
  expectGreen(cwd);
}

function openTurns(cwd: string): number {
  const turns = turnsNoted(cwd);
  const count = (wanted: string) => turns.filter(({ what }) => what === wanted).length;
  return count("begin") - count("end");
}
