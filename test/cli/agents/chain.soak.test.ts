/** A goal whose agent is a chain of commands, run by the command line as a user has it. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import type { LoopId } from "../../../src/core/loop.ts";
import type { GoalView } from "../../../src/core/views/goal-view.ts";
import { addGoal } from "../../../src/engine/goals/goals.ts";
import { FolderStore } from "../../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";
import { type Finish, leftovers, loopJson, runLoop, startLoop } from "../../support/cli.ts";
import { makeAgent, makeRepository, runJson, SPEC, turnsOf } from "../../support/goals/goal-cli.ts";
import { aDraft, POLICY } from "../../support/goals/goal-play.ts";
import { aCriterion } from "../../support/goals/goals.ts";
import { runHere } from "../../support/here.ts";
import { pause, seeded } from "../../support/pause.ts";
import { until } from "../../support/until.ts";

const ID = "c4a10001" as LoopId;

async function begin(cwd: string, ...commands: string[]): Promise<void> {
  const store = new FolderStore(ensureLoopDir(cwd), { now: Date.now, say: () => {} });
  const { id: _, ...draft } = aDraft({
    spec: SPEC,
    criteria: [aCriterion("done", { check: { kind: "command", command: "sh check.sh" } })],
    agent: { kind: "chain", agents: commands.map((command) => ({ kind: "command", command })) },
    policy: { ...POLICY, yes: true },
  });
  await addGoal(store, draft, Date.now(), () => ID);
}

const note = (name: string) => `echo "${name} $LOOP_FIRE_ID" >> ../started`;
const startedIn = (cwd: string) => {
  const file = join(dirname(cwd), "started");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};

describe("a chain of commands (E3)", () => {
  test("E3 B13 the second does the work, and receipts, report and programs are told who did", async () => {
    const cwd = makeRepository();
    const out = makeAgent(cwd, note("A"), "echo 'no capacity' >&2", "exit 75");
    const worker = makeAgent(cwd, note("B"), "touch done.txt", "report true");
    await begin(cwd, out, worker);
    const run = await runJson(["continue", ID], { cwd });
    expect(run.end, run.stderr).toMatchObject({ status: "done", iterations: 1, unpriced: 1 });
    const [a, b] = startedIn(cwd);
    expect([a?.slice(0, 2), b?.slice(0, 2)]).toEqual(["A ", "B "]);
    expect(a?.slice(2)).toBe(b?.slice(2));
    expect(turnsOf(cwd).map(({ prompt }) => prompt)).toEqual([expect.stringContaining(SPEC)]);
    const taken = { type: "taken", by: "command-2", instead: "command" };
    expect(run.lines).toContainEqual(
      expect.objectContaining({
        type: "agent",
        event: { ...taken, reason: "out of service (exit 75: no capacity)" },
      }),
    );
    const { receipts } = await loopJson<GoalView>(["status", ID], { cwd });
    expect(receipts).toMatchObject([{ takenBy: "command-2", charged: true, failure: null }]);
    const report = await runHere(["report", ID], { cwd });
    expect(report.stdout).toContain(
      "command-2 took the turn: command: out of service (exit 75: no capacity)",
    );
  });

  test("E3 B13 a person who watches sees who takes the turn", async () => {
    const cwd = makeRepository();
    await begin(cwd, "exit 77", makeAgent(cwd, "touch done.txt", "report true"));
    const { stdout, stderr } = await runLoop(["continue", ID], { cwd });
    expect(`${stdout}${stderr}`).toContain("command: NO ACCESS (exit 77); command-2 takes the turn");
  });

  test("H1 B16 a cancel without a runner ends the agent that has the turn, also if the first was passed over", async ({
    onTestFinished,
  }: TestContext) => {
    const cwd = makeRepository(onTestFinished);
    // in its second turn the first agent is known to be out, and has no run folder
    const worker = makeAgent(
      cwd,
      note("B"),
      'test "$LOOP_ITERATION" = 2 && touch ../busy && sleep 600',
      "report false open",
    );
    await begin(cwd, makeAgent(cwd, note("A"), "exit 75"), worker);
    const runner = startLoop(["continue", "--json", ID], { cwd }, onTestFinished);
    await until(() => existsSync(join(dirname(cwd), "busy")), "the second turn runs");
    runner.signal("SIGKILL");
    await runner.ended;
    expect(startedIn(cwd).map((line) => line[0])).toEqual(["A", "B", "B"]);
    expect(leftovers(cwd)).not.toEqual([]);
    const cancelled = await runHere(["cancel", ID, "--yes"], { cwd });
    expect(cancelled.code, cancelled.stderr).toBe(0);
    await until(() => leftovers(cwd).length === 0, "nothing of the turn is left");
  });

  for (const n of [1, 2])
    test(`H1 the runner is killed at random moments, and no agent of it runs a turn twice (${n})`, async ({
      onTestFinished,
    }: TestContext) => {
      const seed = Number(process.env.LOOP_TEST_SEED ?? Date.now() % 1_000_000);
      try {
        await expectSurvival(seeded(seed + n), onTestFinished);
      } catch (error) {
        console.error(`LOOP_TEST_SEED=${seed} (${n})`);
        throw error;
      }
    });
});

async function expectSurvival(random: () => number, finish: Finish): Promise<void> {
  const cwd = makeRepository(finish);
  const takes = () => `sleep ${(0.05 + random() * 0.2).toFixed(2)}`;
  const out = makeAgent(cwd, note("A"), takes(), "exit 75");
  const lines = [
    note("B"),
    takes(),
    "touch b$LOOP_ITERATION",
    'test "$LOOP_ITERATION" = 3 && touch done.txt',
  ];
  const worker = makeAgent(cwd, ...lines, "test -f done.txt && report true || report false open");
  await begin(cwd, out, worker);
  for (let kills = 0; ; kills++) {
    const runner = startLoop(["continue", "--json", ID], { cwd }, finish);
    if (kills < 4) {
      await pause(200 + random() * 1_200);
      runner.signal("SIGKILL");
    }
    const code = await runner.ended;
    const { status } = await loopJson<GoalView>(["status", ID], { cwd });
    if (status === "completed") break;
    // only a runner that was killed leaves it undone
    expect(code, `${runner.output.stdout}${runner.output.stderr}`).toBeNull();
  }
  const { receipts, status, iteration } = await loopJson<GoalView>(["status", ID], { cwd });
  expect({ status, iteration }).toEqual({ status: "completed", iteration: 3 });
  const started = startedIn(cwd);
  expect(new Set(started).size, `a turn was started twice: ${started.join(", ")}`).toBe(started.length);
  const charged = receipts.filter((receipt) => receipt.charged);
  expect(charged.map((receipt) => receipt.iteration)).toEqual([1, 2, 3]);
  for (const { jobId, takenBy } of charged) {
    expect(takenBy).toBe("command-2");
    expect(started).toContain(`B ${jobId}`);
  }
}
