/** What a person says to a goal loop, from one terminal or from two. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { GoalView } from "../../../src/core/views/goal-view.ts";
import { loopJson, runLoop, startLoop } from "../../support/cli.ts";
import {
  CHECK,
  git,
  idler,
  makeAgent,
  makeRepository,
  runJson,
  SPEC,
  sleeper,
  sleepingPids,
  stateOf,
  statusOf,
  turnsOf,
  untilArgs,
  worker,
} from "../../support/goals/goal-cli.ts";
import { runHere } from "../../support/here.ts";
import { until } from "../../support/until.ts";

const COLLEAGUE = { env: { LOOP_SHAPE: "colleague" } };

describe("B16 status and report", () => {
  test("no goal is no error; the newest is shown, a prefix names another", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    expect(await runHere(["status"], { cwd })).toMatchObject({
      code: 0,
      stdout: 'There is no goal loop here. Start one with: loop until "npm test passes" <what to do>\n',
    });
    expect(await statusOf(cwd)).toBeNull();
    const first = await runJson(untilArgs(worker(cwd)), { cwd });
    rmSync(join(cwd, "done.txt"));
    const second = await runJson(untilArgs(idler(cwd), "--iterations", "1"), { cwd });
    expect(await statusOf(cwd)).toMatchObject({ id: second.end.loop, status: "paused", owner: null });
    expect(await statusOf(cwd, first.end.loop.slice(0, 6))).toMatchObject({ status: "completed" });
    const { stdout } = await runHere(["status"], { cwd });
    expect(stdout).toMatch(/^Goal \w{8} \| paused .* ago \(iterations\)\n/);
    expect(stdout).toContain(`Resume: loop continue ${second.end.loop} --iterations=5\n`);
    const report = await runHere(["report", first.end.loop], { cwd });
    expect(report).toMatchObject({ code: 0, stderr: "" });
    expect(report.stdout).toMatch(/^# Loop \w{8}\n[\s\S]*\*\*done\*\*[\s\S]*## Receipts\n/);
  });

  test("while a turn runs it says so, and who does the work", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const run = startLoop(untilArgs(sleeper(cwd)), { cwd }, onTestFinished);
    await until(() => sleepingPids(cwd), "the agent is in its turn");
    expect(await statusOf(cwd)).toMatchObject({
      owner: expect.stringMatching(/^runner:/),
      running: { kind: "work" },
      iteration: 0,
    });
    const { stdout, stderr } = await runHere(["status"], { cwd });
    expect({ stdout, stderr }).toEqual({
      stdout: expect.stringMatching(/iteration 1\/10 under way/),
      stderr: "",
    });
    run.signal("SIGINT");
    expect(await run.ended).toBe(130);
  });
});

describe("B16 B19 pause and continue", () => {
  test("pause from a second terminal: the agent is gone at once, the first terminal ends with 6", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const run = startLoop(untilArgs(sleeper(cwd)), { cwd }, onTestFinished);
    const pids = await until(() => sleepingPids(cwd), "the agent is in its turn");
    const paused = await runHere(["pause"], { cwd });
    const { id } = stateOf(cwd);
    expect(paused).toMatchObject({
      code: 0,
      stdout: `Paused goal ${id}. Continue it with: loop continue ${id}\n`,
    });
    await until(() => !pids.some(isAlive), "the agent's processes are gone", 4_000);
    expect(await run.ended).toBe(6);
    expect(run.output.stdout).toContain("[LOOP] ⏸ Paused: paused by a person\n");
    expect(await statusOf(cwd)).toMatchObject({ status: "paused", iteration: 0, running: null, owner: null });
  });

  test("continue adds to the limits, refuses while one is reached, and starts no turn then", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    await runLoop(untilArgs(idler(cwd), "--iterations", "1", "--budget", "5", "--tokens", "1000"), { cwd });
    const { id } = stateOf(cwd);
    const refused = await runLoop(["continue"], { cwd });
    expect(refused).toEqual({
      code: 64,
      stdout: "",
      stderr: `loop: Goal ${id} cannot go on: 1 of 1 iterations are used. Raise the limit: loop continue ${id} --iterations=5\n`,
    });
    const other = await runLoop(["continue", "--budget=3"], { cwd });
    expect(other.code).toBe(64);
    expect(turnsOf(cwd)).toHaveLength(1);
    const flags = ["--iterations=1", "--budget=3", "--tokens=500", "--time=1h"];
    expect((await runLoop(["continue", id, ...flags], { cwd })).code).toBe(3);
    expect(stateOf(cwd).limits).toMatchObject({ iterations: 2, budgetUsd: 8, tokens: 1500 });
    expect(turnsOf(cwd)).toHaveLength(2);
    const tooMuch = await runLoop(["continue", "--iterations=49"], { cwd });
    expect(tooMuch).toMatchObject({ code: 64, stdout: "" });
    expect(stateOf(cwd).limits.iterations).toBe(2);
  });

  test("limits are raised while it runs", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const run = startLoop(untilArgs(sleeper(cwd), "--iterations", "2"), { cwd }, onTestFinished);
    await until(() => sleepingPids(cwd), "the agent is in its turn");
    const raised = await runLoop(["continue", "--iterations=3", "--detach"], { cwd });
    expect(raised).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^runner:\S+ continues goal \w{8}\./),
    });
    expect(await statusOf(cwd)).toMatchObject({ limits: { iterations: 5 }, running: { kind: "work" } });
    run.signal("SIGTERM");
    expect(await run.ended).toBe(130);
  });

  test("B13 an outage waits and costs nothing; continue --now does not wait any longer", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = makeAgent(cwd, "[ -f ../back ] || exit 75", "touch done.txt", "report true");
    const run = startLoop(untilArgs(agent), { cwd }, onTestFinished);
    await run.line(/\[LOOP\] ⏳ Waiting: exit 75 \| Goes on: in \ds/);
    expect(await statusOf(cwd)).toMatchObject({ iteration: 0, waiting: { reason: "exit 75" } });
    writeFileSync(join(cwd, "..", "back"), "");
    const before = performance.now();
    const now = await runLoop(["continue", "--now"], { cwd });
    expect(now).toMatchObject({ code: 0, stdout: expect.stringContaining("<loop-complete>") });
    expect(performance.now() - before).toBeLessThan(4_500);
    expect(await run.ended).toBe(0);
    expect(stateOf(cwd)).toMatchObject({ iteration: 1, status: "completed" });
  });
});

describe("B16 cancel", () => {
  test("keeps the state by default; nothing goes on with it", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    await runLoop(untilArgs(idler(cwd), "--iterations", "1"), { cwd });
    const { id } = stateOf(cwd);
    expect(await runHere(["cancel"], { cwd })).toMatchObject({
      code: 0,
      stdout: `Cancelled goal ${id}. Its state stays in .loop/runs/${id}/. See it with: loop report ${id}\n`,
    });
    expect(stateOf(cwd).status).toBe("cancelled");
    expect(git(cwd, "for-each-ref", "refs/loopwright")).not.toBe("");
    for (const args of [["continue"], ["continue", id], ["cancel", id], ["approve", id], ["accept", id]])
      expect(await runHere(args, { cwd }), args.join(" ")).toMatchObject({ code: 64, stdout: "" });
  });

  test("--no-keep removes its files and refs, and those of no other goal", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    await runLoop(untilArgs(idler(cwd), "--iterations", "1"), { cwd });
    const old = stateOf(cwd).id;
    await runLoop(untilArgs(idler(cwd), "--iterations", "1"), { cwd });
    const { id } = stateOf(cwd);
    expect((await runHere(["cancel", old, "--no-keep"], { cwd })).code).toBe(0);
    expect(readdirSync(join(cwd, ".loop", "runs"))).toEqual([id]);
    expect(stateOf(cwd).id).toBe(id);
    const cancelled = await loopJson<GoalView & { kept: boolean }>(["cancel", "--no-keep"], { cwd });
    expect(cancelled).toMatchObject({ id, status: "cancelled", kept: false });
    expect(readdirSync(join(cwd, ".loop", "runs"))).not.toContain(id);
    expect(existsSync(join(cwd, ".loop", "state.json"))).toBe(false);
    expect(git(cwd, "for-each-ref", "refs/loopwright")).toBe("");
    expect((await runHere(["status"], { cwd })).code).toBe(0);
  });

  test("while a turn runs: the agent is gone at once, the first terminal ends with 130", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const run = startLoop(untilArgs(sleeper(cwd)), { cwd }, onTestFinished);
    const pids = await until(() => sleepingPids(cwd), "the agent is in its turn");
    expect((await runHere(["cancel", "--yes"], { cwd })).code).toBe(0);
    await until(() => !pids.some(isAlive), "the agent's processes are gone", 4_000);
    expect(await run.ended).toBe(130);
    expect(run.output.stdout).toContain("[LOOP] Cancelled: cancelled by a person\n");
  });
});

describe("B14 approve and reject", () => {
  test("notes reach the next prompt, whatever their first word looks like", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const first = await runLoop(untilArgs(worker(cwd)), { cwd, ...COLLEAGUE });
    expect(first.code).toBe(6);
    expect(turnsOf(cwd)).toEqual([]);
    const { id } = stateOf(cwd);
    const approved = await runHere(["approve", "add", "a", "test", "\u001b[31mtoo"], { cwd });
    expect(approved).toMatchObject({
      code: 0,
      stdout: "Approved: This is one step. Proceed?\n",
      stderr: `Nothing runs this goal now. Continue it with: loop continue ${id}\n`,
    });
    expect((await runLoop(["continue"], { cwd })).code).toBe(6);
    expect(turnsOf(cwd)[0]?.prompt).toMatch(/\n> A person said yes: add a test .*too\n/);
    expect(turnsOf(cwd)[0]?.prompt).not.toContain("\u001b");
    const rejected = await runHere(["reject", id, "the name is wrong"], { cwd });
    expect(rejected).toMatchObject({ code: 0, stdout: "Rejected: All criteria met. Confirm done?\n" });
    expect((await runLoop(["continue"], { cwd })).code).toBe(6);
    expect(turnsOf(cwd)[1]?.prompt).toContain("> A person said no: the name is wrong\n");
    await runHere(["approve", id.slice(0, 4)], { cwd });
    const end = await runLoop(["continue"], { cwd });
    expect(end.code).toBe(0);
    // the round that confirms it is no turn
    expect(end.stdout).not.toMatch(/complete \| Progress[\s\S]*complete \| Progress/);
  });

  test("a plan that is turned down pauses; a question that is not there is not answered", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    await runLoop(untilArgs(worker(cwd)), { cwd, ...COLLEAGUE });
    const { id } = stateOf(cwd);
    expect((await runHere(["reject", "no such thing"], { cwd })).code).toBe(0);
    expect(stateOf(cwd).pause).toMatchObject({
      code: "rejected",
      reason: "a person said no to the plan: no such thing",
    });
    const again = await runHere(["approve"], { cwd });
    expect(again).toEqual({
      code: 64,
      stdout: "",
      stderr: `loop: Goal ${id} has no open question.\n  See: loop status ${id}\n`,
    });
    const unknown = await runHere(["approve", "0123abcd"], { cwd });
    expect(unknown).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/^loop: There is no goal 0123abcd here\./),
    });
  });

  test("G2 asks after an iteration that proved nothing", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    await runLoop(untilArgs(idler(cwd)), { cwd, ...COLLEAGUE });
    await runHere(["approve"], { cwd });
    const { stdout } = await runLoop(["continue"], { cwd });
    expect(stdout).toMatch(/\nG2: .*\. Continue\?\n {2}✗ done.*\nAnswer: loop approve/);
    expect(stateOf(cwd).gate?.kind).toBe("G2");
  });

  test("an agent cannot answer for the person from inside its turn", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const tries = ["approve", "accept --yes", "continue --iterations=9"]
      .map((args) => `loop ${args} >> ../tried 2>&1; echo "code=$?" >> ../tried`)
      .join("\n");
    const agent = makeAgent(cwd, tries, "touch done.txt", "report true");
    expect((await runJson(untilArgs(agent), { cwd })).code).toBe(0);
    const tried = readFileSync(join(cwd, "..", "tried"), "utf8");
    expect(tried.match(/called from inside a turn of goal/g)).toHaveLength(3);
    expect(tried.match(/^code=\d+$/gm)).toEqual(["code=64", "code=64", "code=64"]);
  });
});

describe("B7 accept", () => {
  const bender = (cwd: string) => makeAgent(cwd, "echo true > check.sh", "report true");

  test("shows the diff, asks, and accepts exactly that content", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const run = await runLoop(untilArgs(bender(cwd)), { cwd });
    const { id } = stateOf(cwd);
    expect(run.code).toBe(6);
    expect(run.stdout).toContain(
      `[LOOP] ⏸ Paused: the checks pass, but files they depend on were changed\nProgress: 0 steps complete, 1 remaining\nResume: loop accept ${id}\n  - check.sh\n`,
    );
    const look = await runHere(["accept"], { cwd });
    expect(look.code).toBe(64);
    expect(look.stdout).toContain("changed check.sh (done)\n--- check.sh\n+++ check.sh\n");
    expect(look.stdout).toContain("\n-test -f done.txt\n+true\n");
    expect(look.stderr).toBe(
      "loop: `loop accept` asks first, but there is no terminal.\n  Read the changes, then write: loop accept --yes\n",
    );
    expect(stateOf(cwd).accepted).toEqual([]);
    const accepted = await loopJson<object>(["accept", "--yes"], { cwd });
    expect(accepted).toMatchObject({
      accepted: [{ path: "check.sh" }],
      changes: [{ diff: expect.any(String) }],
    });
    const end = await runJson(["continue"], { cwd });
    expect({ code: end.code, verdict: end.end.verdict }).toEqual({ code: 0, verdict: "MONITOR" });
  });

  test("changed since it was compared: refused, and nothing is accepted", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    await runLoop(untilArgs(bender(cwd)), { cwd });
    const { id } = stateOf(cwd);
    writeFileSync(join(cwd, "check.sh"), "exit 0\n");
    expect(await runHere(["accept", "--yes"], { cwd })).toEqual({
      code: 64,
      stdout: "",
      stderr: `loop: check.sh was changed again after the checks ran; nothing was accepted.\n  Compare the files again with: loop continue ${id}\n`,
    });
    expect(stateOf(cwd)).toMatchObject({ accepted: [], status: "paused" });
  });

  test("nothing to accept is said", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    await runLoop(untilArgs(idler(cwd), "--iterations", "1"), { cwd });
    expect(await runHere(["accept"], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/changed no file that its checks depend on\.\n$/),
    });
  });
});

describe("B4 rollback", () => {
  test("lists, puts back by number and by commit, and can be undone", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = makeAgent(cwd, 'echo "$LOOP_ITERATION" > work.txt', "report false open");
    await runLoop(untilArgs(agent, "--iterations", "2"), { cwd });
    const list = await loopJson<{ step: number; commit: string; label: string }[]>(["rollback"], { cwd });
    expect(list.map(({ step, label }) => `${step} ${label.split(":")[0]}`)).toEqual([
      "0 before any work",
      "1 iteration 1",
      "2 iteration 2",
    ]);
    const shown = await runHere(["rollback"], { cwd });
    expect(shown.stdout.trimEnd().split("\n")).toHaveLength(3);
    const first = await runHere(["rollback", "1"], { cwd });
    expect(first.stdout).toMatch(
      /^Restored 1 file to "iteration 1: .*"\.\nUndo this with: loop rollback \w{8} \w{10}\n$/,
    );
    expect(readFileSync(join(cwd, "work.txt"), "utf8")).toBe("1\n");
    const undo = /loop rollback (\w{8} \w{10})\n$/.exec(first.stdout)?.[1]?.split(" ") ?? [];
    await runHere(["rollback", ...undo], { cwd });
    expect(readFileSync(join(cwd, "work.txt"), "utf8")).toBe("2\n");
    await runHere(["rollback", list[0]?.commit.slice(0, 8) ?? ""], { cwd });
    expect(existsSync(join(cwd, "work.txt"))).toBe(false);
    expect(git(cwd, "status", "--short", "check.sh")).toBe("");
    for (const wrong of [["99"], ["zz"], [stateOf(cwd).id, ""], ["a", "b", "c"]])
      expect(await runHere(["rollback", ...wrong], { cwd }), wrong.join(" ")).toMatchObject({
        code: 64,
        stdout: "",
      });
  });

  test("puts back what the agent changed of the checks, and the loop goes on from there", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = makeAgent(cwd, "[ -f ../good ] && touch done.txt || echo true > check.sh", "report true");
    expect((await runLoop(untilArgs(agent), { cwd })).code).toBe(6);
    await runHere(["rollback", "0"], { cwd });
    expect(readFileSync(join(cwd, "check.sh"), "utf8")).toBe("test -f done.txt\n");
    writeFileSync(join(cwd, "..", "good"), "");
    const end = await runJson(["continue"], { cwd });
    expect({ code: end.code, verdict: end.end.verdict }).toEqual({ code: 0, verdict: "SHIP" });
    expect(turnsOf(cwd).at(-1)?.prompt).toContain("A person put the files back to checkpoint");
  });

  test("not while a turn is under way", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const run = startLoop(untilArgs(sleeper(cwd)), { cwd }, onTestFinished);
    await until(() => sleepingPids(cwd), "the agent is in its turn");
    const { id } = stateOf(cwd);
    expect(await runHere(["rollback", "0"], { cwd })).toMatchObject({
      code: 64,
      stderr: `loop: Goal ${id} is running.\n  Pause it first with: loop pause ${id}\n`,
    });
    run.signal("SIGINT");
    await run.ended;
  });
});

describe("two terminals", () => {
  test("A11 a second goal in the same folder is refused, and the first is not disturbed", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const run = startLoop(untilArgs(sleeper(cwd)), { cwd }, onTestFinished);
    await until(() => sleepingPids(cwd), "the agent is in its turn");
    const { id } = stateOf(cwd);
    const second = await runLoop(untilArgs(worker(cwd)), { cwd });
    expect(second).toMatchObject({ code: 64, stdout: "" });
    expect(second.stderr).toMatch(
      new RegExp(`^loop: Goal ${id} is at work in this folder.*\n {2}Pause it \\(loop pause ${id}\\)`),
    );
    expect(await statusOf(cwd)).toMatchObject({ id, running: { kind: "work" } });
    run.signal("SIGINT");
    expect(await run.ended).toBe(130);
  });

  test("A11 loop up does the work, loop until follows; Ctrl-C ends the follower only", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const up = startLoop(["up", "--agent-cmd", "cat"], { cwd }, onTestFinished);
    await up.line(/this runner fires/);
    const follower = startLoop(untilArgs(sleeper(cwd)), { cwd }, onTestFinished);
    await until(() => sleepingPids(cwd), "the agent is in its turn");
    await follower.line(/\[LOOP\] Iteration 1\/10/);
    expect(follower.output.stderr).toMatch(/^runner:\S+ runs the loop; this terminal shows its work\.\n/);
    follower.signal("SIGINT");
    expect(await follower.ended).toBe(130);
    const { id } = stateOf(cwd);
    expect(follower.output.stderr).toContain(
      `The other process continues the loop. To stop it: loop pause ${id}\n`,
    );
    expect(await statusOf(cwd)).toMatchObject({ status: "in_progress", running: { kind: "work" } });
    expect((await runHere(["pause"], { cwd })).code).toBe(0);
    await until(async () => (await statusOf(cwd))?.running === null, "the turn is stopped");
    up.signal("SIGTERM");
    expect(await up.ended).toBe(0);
  });

  test("A11 what loop up did to the end is shown by the follower with the right code", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const up = startLoop(["up", "--agent-cmd", "cat"], { cwd }, onTestFinished);
    await up.line(/this runner fires/);
    const run = await runJson(untilArgs(worker(cwd)), { cwd });
    expect({ code: run.code, status: run.end.status }).toEqual({ code: 0, status: "done" });
    up.signal("SIGTERM");
    expect(await up.ended).toBe(0);
  });
});

describe("B20 a stopped loop stays stopped", () => {
  test.for(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s pauses it with 130, no process is left, and loop up does not revive it",
    async (signal, { onTestFinished }) => {
      const cwd = makeRepository(onTestFinished);
      const run = startLoop(untilArgs(sleeper(cwd)), { cwd }, onTestFinished);
      const pids = await until(() => sleepingPids(cwd), "the agent is in its turn");
      run.signal(signal);
      expect(await run.ended).toBe(130);
      expect(pids.filter(isAlive)).toEqual([]);
      expect(run.output.stdout).toContain(`[LOOP] ⏸ Paused: stopped by a person (${signal})\n`);
      expect(stateOf(cwd)).toMatchObject({ status: "paused", pause: { code: "interrupted" }, iteration: 0 });
      const up = await runLoop(["up", "--for", "500ms", "--agent-cmd", "cat"], { cwd });
      expect(up.code).toBe(0);
      expect(turnsOf(cwd)).toHaveLength(1);
      expect(await statusOf(cwd)).toMatchObject({ status: "paused" });
    },
  );

  test("H1 kill -9 in a turn: continue follows the turn that still runs, and counts it once", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = makeAgent(
      cwd,
      "touch ../in-turn",
      "while [ ! -f ../go ]; do sleep 0.05; done",
      "touch done.txt",
      "report true",
    );
    const run = startLoop(untilArgs(agent), { cwd }, onTestFinished);
    await until(() => existsSync(join(cwd, "..", "in-turn")), "the agent is in its turn");
    run.signal("SIGKILL");
    await run.ended;
    const { stderr } = await runHere(["status"], { cwd });
    expect(stderr).toMatch(/^Nothing runs this goal now\. Continue it with: loop continue \w{8}\n$/);
    const again = startLoop(["continue", "--json"], { cwd }, onTestFinished);
    await again.line(/"loop\.start"/);
    writeFileSync(join(cwd, "..", "go"), "");
    expect(await again.ended).toBe(0);
    expect(turnsOf(cwd)).toHaveLength(1);
    expect(stateOf(cwd)).toMatchObject({ status: "completed", iteration: 1, receipts: [{ iteration: 1 }] });
  });

  test("H1 kill -9 and then pause: the turn that is left over is stopped from here", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const run = startLoop(["until", ...CHECK, "--agent-cmd", sleeper(cwd), SPEC], { cwd }, onTestFinished);
    const pids = await until(() => sleepingPids(cwd), "the agent is in its turn");
    run.signal("SIGKILL");
    await run.ended;
    expect((await runHere(["pause"], { cwd })).code).toBe(0);
    await until(() => !pids.some(isAlive), "the agent's processes are gone", 4_000);
    expect(await statusOf(cwd)).toMatchObject({ status: "paused", running: null });
  });
});

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
