/** The real engine with goals, in a world in memory. */
import { describe, expect, test } from "vitest";
import type { GoalDraft } from "../../../src/core/goal/create.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import { createTask } from "../../../src/core/task/decide-task.ts";
import { requestGoal } from "../../../src/engine/goals/goals.ts";
import { POLICY } from "../../support/goals/goal-play.ts";
import { COST, GoalWorld, statusBlock, TESTS } from "../../support/goals/goal-world.ts";
import { aCriterion, START } from "../../support/goals/goals.ts";
import { DRAFT } from "../../support/memory-ports.ts";
import { every } from "../../support/tasks.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const FIX = { write: { "src/app.ts": "fixed" } };

/** A goal and an owner for it. */
async function begin(world: GoalWorld, draft: Partial<GoalDraft> = {}): Promise<LoopId> {
  const id = await world.create(draft);
  await world.spawn();
  return id;
}

async function ended(world: GoalWorld, id: LoopId): Promise<void> {
  await world.until(() => world.goal(id).status !== "active");
}

describe("B9 a goal to its proved end", () => {
  test("survey, work, checks; what is done is proved on the files as they are", async () => {
    const world = new GoalWorld();
    world.work = (n) => (n === 1 ? { write: { "src/app.ts": "half" } } : { ...FIX, exit: true });
    const id = await begin(world, { reversibility: "2B" });
    await ended(world, id);
    const goal = world.goal(id);
    expect(goal.end).toMatchObject({ status: "done", verdict: "SHIP" });
    expect(goal).toMatchObject({ iteration: 2, job: null, notice: null });
    expect(goal.evidence.tests).toMatchObject({ met: true, tree: world.snapshot().hash });
    expect(goal.spent).toMatchObject({ costUsd: 2 * COST, tokens: 220, unpriced: 0 });
    expect(goal.receipts.map(({ files, checkpoint }) => [files, checkpoint])).toEqual([
      [["src/app.ts"], 1],
      [["src/app.ts"], 2],
    ]);
    expect(goal.receipts[0]).toMatchObject({ agentMs: 10 * SECOND, checksMs: 2 * SECOND, toolCalls: 2 });
    expect(world.saved.map(({ label }) => label)).toEqual(["before any work", "iteration 1", "iteration 2"]);
    expect(world.notes).toEqual([`Goal ${id} is done: every criterion is proved`]);
    expect(world.processes[0]?.problems).toEqual([]);
  });

  test("B4 what is easy to take back gets one checkpoint, before any work", async () => {
    const world = new GoalWorld();
    world.work = () => ({ ...FIX, exit: true });
    const id = await begin(world, { reversibility: "2A" });
    await ended(world, id);
    expect(world.saved.map(({ label }) => label)).toEqual(["before any work"]);
  });

  test("H3 each turn has a nonce of its own, and a status block with an old one has no weight", async () => {
    const world = new GoalWorld();
    const nonces: string[] = [];
    world.work = (n, turn) => {
      nonces.push(turn.env.LOOP_NONCE ?? "");
      expect(turn.text).toContain(turn.env.LOOP_NONCE);
      return n < 3 ? { ...FIX, block: statusBlock(nonces[0] ?? "", n > 1) } : { exit: true };
    };
    const id = await begin(world);
    await world.until(() => nonces.length > 2 || world.goal(id).gate !== null);
    // Proved twice, and never signalled with a nonce that counts: a person is asked.
    expect(world.goal(id).gate?.kind).toBe("proved");
    expect(new Set(nonces).size).toBe(2);
    expect(world.goal(id).receipts.map(({ claimedExit }) => claimedExit)).toEqual([false, false]);
  });

  test("B21 a plan comes first, and its steps are worked on one by one", async () => {
    const world = new GoalWorld();
    world.other = ({ env }) => ({
      block: statusBlock(env.LOOP_NONCE ?? "", false, ['STEPS: ["find", "fix"]']),
    });
    world.work = (n) => (n === 2 ? { ...FIX, exit: true } : {});
    const id = await begin(world, { needsPlan: true });
    await ended(world, id);
    expect(world.goal(id).receipts.map(({ kind, step }) => [kind, step])).toEqual([
      ["plan", null],
      ["work", "find"],
      ["work", "fix"],
    ]);
    expect(world.goal(id).end?.status).toBe("done");
  });
});

describe("the agent that lies", () => {
  test("B9 signals the end again and again: goes on until a breaker pauses it", async () => {
    const world = new GoalWorld();
    world.work = () => ({ exit: true, write: { "notes.md": "all done!" } });
    const id = await begin(world);
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({ status: "paused", iteration: 5, pause: { code: "breaker" } });
  });

  test("B7 has nothing to do and does nothing: three refused no-ops", async () => {
    const world = new GoalWorld();
    world.write("src/app.ts", "fixed");
    const activity = { toolCalls: 0, edits: {}, denials: [] };
    world.work = () => ({ exit: true, end: { activity } });
    const id = await begin(world);
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({ status: "paused", iteration: 3, pause: { code: "breaker" } });
    expect(world.goal(id).pause?.reason).toContain("without doing anything");
  });

  test("D5 says that it is not done, and quotes the words that would end it", async () => {
    const world = new GoalWorld();
    world.work = (_, { env, text }) => ({
      ...FIX,
      block: `I am NOT done and will not output <promise nonce="${env.LOOP_NONCE}">COMPLETE</promise>.\n\n> ${text}`,
    });
    const id = await begin(world, { policy: { ...POLICY, gateTimeoutMs: null } });
    await world.until(() => world.goal(id).gate !== null);
    expect(world.goal(id)).toMatchObject({ status: "active", gate: { kind: "proved" } });
  });

  test("B7 rewrites the test: told once, then it waits; accepted, it is done", async () => {
    const world = new GoalWorld();
    world.checks = { "npm test": (files) => files.get("test/app.test.ts") === "lax" };
    world.work = () => ({ write: { "test/app.test.ts": "lax" }, exit: true });
    const id = await begin(world);
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({ iteration: 2, pause: { code: "integrity" } });
    const changes = [{ path: "test/app.test.ts", hash: "lax" }];
    await world.request(id, { type: "goal.accepted", changes });
    await ended(world, id);
    expect(world.goal(id).end).toMatchObject({ status: "done", verdict: "MONITOR" });
    expect(world.goal(id).iteration).toBe(2);
  });

  test("B7 destroys the record of the protected files: nothing counts any more", async () => {
    const world = new GoalWorld();
    world.work = () => {
      world.records.clear();
      return { ...FIX, exit: true };
    };
    const id = await begin(world);
    await ended(world, id);
    expect(world.goal(id).pause).toMatchObject({ code: "integrity" });
  });

  test("B8 writes state.json: a claim, told to be none", async () => {
    const world = new GoalWorld();
    world.stateEdited = true;
    world.work = () => ({ ...FIX, exit: true });
    const id = await begin(world);
    await ended(world, id);
    expect(world.goal(id).receipts[0]?.notes).toEqual([
      "the agent wrote state.json; this is a claim, not a fact",
    ]);
  });
});

describe("B7 evidence is never older than the files", () => {
  test("checks that write files are run again on what they wrote", async () => {
    const world = new GoalWorld();
    world.checks = {
      "npm test": (files) => {
        files.set("coverage.txt", "82 %");
        return files.get("src/app.ts") === "fixed";
      },
    };
    world.work = () => ({ write: { "src/app.ts": "fixed", "coverage.txt": null }, exit: true });
    const id = await begin(world);
    await ended(world, id);
    expect(world.goal(id).end?.status).toBe("done");
    expect(world.ran).toHaveLength(3);
    expect(world.goal(id).evidence.tests?.tree).toBe(world.snapshot().hash);
  });

  test("checks that write something else each time prove nothing, unless those files do not count", async () => {
    for (const allowChanges of [[], ["out.log"]]) {
      const world = new GoalWorld();
      let n = 0;
      world.checks = {
        "npm test": (files) => {
          files.set("out.log", `${++n}`);
          return files.get("src/app.ts") === "fixed";
        },
      };
      world.work = () => ({ ...FIX, exit: true });
      const id = await begin(world, { policy: { ...POLICY, allowChanges } });
      await ended(world, id);
      expect(world.goal(id).end?.status).toBe(allowChanges.length === 0 ? undefined : "done");
      if (allowChanges.length === 0) expect(world.goal(id).evidence.tests?.note).toContain("out.log");
    }
  });

  test("what something in the background does to the test while it runs is found", async () => {
    const world = new GoalWorld();
    let isArmed = false;
    world.checks = {
      "npm test": (files) => {
        if (isArmed) files.set("test/app.test.ts", "lax");
        return isArmed || files.get("src/app.ts") === "fixed";
      },
    };
    world.work = () => {
      isArmed = true;
      world.write("test/app.test.ts", "strict");
      return { exit: true, write: { "src/other.ts": "x" } };
    };
    const id = await begin(world);
    await world.until(() => world.goal(id).receipts.length > 1);
    expect(world.goal(id).end).toBeNull();
    expect(world.goal(id).protectedChanges.map(({ path }) => path)).toEqual(["test/app.test.ts"]);
  });

  test("a test that is rewritten between the two parts of one look is found", async () => {
    const world = new GoalWorld();
    world.lookMs = SECOND;
    world.checks = { "npm test": (files) => files.get("test/app.test.ts") === "lax" };
    world.work = () => {
      world.onCompared = () => {
        world.onCompared = () => {};
        world.write("test/app.test.ts", "lax");
      };
      return { exit: true, write: { "src/other.ts": "x", "test/app.test.ts": "strict" } };
    };
    const id = await begin(world);
    await world.until(() => world.goal(id).receipts.length > 1 || world.goal(id).status !== "active");
    expect(world.goal(id).end).toBeNull();
    expect(world.goal(id).protectedChanges.map(({ path }) => path)).toEqual(["test/app.test.ts"]);
  });

  test("files that a person changes while a question stands are checked before the end", async () => {
    const world = new GoalWorld();
    world.work = (n) => (n === 1 ? { ...FIX, exit: true } : "hang");
    const id = await begin(world, { shape: "colleague" });
    await world.until(() => world.goal(id).gate !== null);
    await world.request(id, { type: "goal.answered", gate: "G1", answer: "approve", note: null });
    await world.until(() => world.goal(id).gate?.kind === "G3");
    world.write("src/app.ts", "broken again");
    await world.request(id, { type: "goal.answered", gate: "G3", answer: "approve", note: null });
    await world.until(() => world.agent.running > 0);
    expect(world.goal(id)).toMatchObject({ status: "active", end: null, job: { kind: "work" } });
  });
});

describe("B6 kinds of checks", () => {
  const ui = aCriterion("ui", { check: { kind: "judge", question: "Is it blue?" } });
  const verdict = (nonce: string | undefined, word: string) =>
    `I looked.\n\n<verdict nonce="${nonce}">${word}</verdict>`;

  test("a judge is asked last, with a nonce of its own, and only when the commands are green", async () => {
    const world = new GoalWorld();
    const asked: (string | undefined)[] = [];
    world.work = (n, { env }) => {
      expect(asked).not.toContain(env.LOOP_NONCE);
      return n === 1 ? { exit: true } : { ...FIX, exit: true };
    };
    world.other = ({ env }) => {
      expect(env).toMatchObject({ LOOP_KIND: "judge", LOOP_ROLE: "judge" });
      asked.push(env.LOOP_NONCE);
      return { block: verdict(env.LOOP_NONCE, asked.length === 1 ? "REJECT" : "PASS") };
    };
    const id = await begin(world, { criteria: [TESTS, ui] });
    await ended(world, id);
    const goal = world.goal(id);
    expect(goal.end?.status).toBe("done");
    expect([goal.iteration, asked.length]).toEqual([3, 2]);
    expect(goal.evidence.ui).toMatchObject({ met: true, verification: "observation" });
    expect(goal.spent.costUsd).toBeCloseTo(5 * COST);
    expect(goal.receipts.map(({ costUsd }) => costUsd)).toEqual([COST, 2 * COST, 2 * COST]);
  });

  test("the word of a judge without the nonce is none", async () => {
    const world = new GoalWorld();
    world.work = () => ({ ...FIX, exit: true });
    world.other = () => ({ block: verdict("guessed", "PASS") });
    const id = await begin(world, { criteria: [TESTS, ui] });
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({ status: "paused", evidence: { ui: { met: false } } });
  });

  test("B13 a judge that hits a quota is asked again when it is over, and no turn is spent on it", async () => {
    const world = new GoalWorld();
    const failure = { class: "quota", reason: "limit", resetsAt: START + 30 * MINUTE } as const;
    let times = 0;
    world.work = () => ({ ...FIX, exit: true });
    world.other = ({ env }) =>
      ++times === 1
        ? { end: { kind: "failed", failure, usage: null } }
        : { block: verdict(env.LOOP_NONCE, "PASS") };
    const id = await begin(world, { criteria: [TESTS, ui] });
    await world.until(() => world.goal(id).waitUntil !== null);
    expect(world.goal(id).waitUntil).toBe(failure.resetsAt + SECOND);
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({ iteration: 1, end: { status: "done" } });
    expect(world.clock.now()).toBeGreaterThan(failure.resetsAt);
  });

  test.each([
    ["All files | 79.9 %", false],
    ["All files | 80 %", true],
    ["no number", false],
    ["80 lines, took 3 ms", false],
  ])("a measurement takes the last number: %j", async (tail, isMet) => {
    const world = new GoalWorld();
    world.checks = { cov: () => tail };
    world.work = (n) => ({ write: { "src/app.ts": `${n}` }, exit: true });
    const check = { kind: "measure", command: "cov", comparison: ">=", target: 80 } as const;
    const id = await begin(world, { criteria: [aCriterion("coverage", { check })] });
    await ended(world, id);
    expect(world.goal(id).end?.status === "done").toBe(isMet);
  });

  test("B5 what must not be pauses at once", async () => {
    const world = new GoalWorld();
    world.checks = { ...world.checks, "grep secret": (files) => files.has("secret.txt") };
    world.work = () => ({ write: { "src/app.ts": "fixed", "secret.txt": "x" }, exit: true });
    const mustNot = [{ name: "no secrets", command: "grep secret", source: "flag" }] as const;
    const id = await begin(world, { mustNot });
    await ended(world, id);
    expect(world.goal(id).pause).toMatchObject({
      code: "must-not",
      reason: "a must-not condition is true: no secrets",
    });
  });
});

describe("waiting", () => {
  async function withTask(world: GoalWorld): Promise<LoopId> {
    const id = "0000000a" as LoopId;
    const { loop, effects, outcomes } = createTask({ ...DRAFT, id, cadence: every(MINUTE) }, START);
    const event = { type: "task.created" } as const;
    await world.person.commit({
      id,
      expectedVersion: 0,
      loop,
      event,
      effects,
      outcomes,
      at: START,
      token: null,
    });
    return id;
  }

  test("B13 a quota sleeps until the named time, over a crash too, and tasks fire meanwhile", async () => {
    const world = new GoalWorld();
    const resetsAt = START + 20 * MINUTE;
    const failure = { class: "quota", reason: "5-hour limit", resetsAt } as const;
    const works: number[] = [];
    world.work = (n) => {
      works.push(world.clock.now());
      return n === 1 ? { end: { kind: "failed", failure, usage: null } } : { ...FIX, exit: true };
    };
    const task = await withTask(world);
    const id = await begin(world);
    await world.clock.advanceTo(START + 10 * MINUTE);
    expect(world.goal(id)).toMatchObject({ waitUntil: resetsAt + SECOND, iteration: 0 });
    world.processes[0]?.kill();
    await world.spawn();
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({ iteration: 1, end: { status: "done" }, spent: { costUsd: COST } });
    expect(works[1]).toBeGreaterThanOrEqual(resetsAt + SECOND);
    expect(works[1]).toBeLessThan(resetsAt + MINUTE);
    const fires = world.agent.deliveries.filter(({ taskId }) => taskId === task);
    expect(fires.length).toBeGreaterThan(15);
  });

  test("A5 a goal that always has work to do does not starve the tasks, nor they it", async () => {
    const world = new GoalWorld();
    world.work = (n) => ({ write: { "src/app.ts": `${n}` }, ms: 40 * SECOND });
    world.checks = { cov: (files) => files.get("src/app.ts") ?? "0" };
    const check = { kind: "measure", command: "cov", comparison: ">=", target: 1_000 } as const;
    const task = await withTask(world);
    const limits = { budgetUsd: 100, iterations: 50, timeMs: null, tokens: null };
    await begin(world, { criteria: [aCriterion("coverage", { check })], limits });
    await world.clock.advanceTo(START + 20 * MINUTE);
    const fires = world.agent.deliveries.filter(({ taskId }) => taskId === task);
    expect(fires.length).toBeGreaterThan(10);
    expect(world.agent.deliveries.length - fires.length).toBeGreaterThan(15);
    expect(world.agent.mostAtOnce).toBe(1);
  });

  test("B14 gates hold nothing while they wait; each answer moves it on", async () => {
    const world = new GoalWorld();
    world.work = (n) => (n === 1 ? { write: { "src/app.ts": "half" } } : { ...FIX, exit: true });
    const task = await withTask(world);
    const id = await begin(world, { shape: "colleague" });
    for (const gate of ["G1", "G2", "G3"] as const) {
      await world.until(() => world.goal(id).gate !== null);
      const before = world.agent.deliveries.length;
      await world.clock.advance(5 * MINUTE);
      expect(world.goal(id).gate?.kind).toBe(gate);
      const since = world.agent.deliveries.slice(before);
      expect(since.length).toBeGreaterThan(3);
      expect(since.every(({ taskId }) => taskId === task)).toBe(true);
      await world.request(id, { type: "goal.answered", gate, answer: "approve", note: null });
    }
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({ iteration: 2, end: { status: "done" } });
  });

  test("B14 the default answer comes when nobody answers", async () => {
    const world = new GoalWorld();
    world.work = () => ({ ...FIX, exit: true });
    const policy = { ...POLICY, gateTimeoutMs: 10 * MINUTE, gateDefault: "approve" } as const;
    const id = await begin(world, { shape: "colleague", policy });
    await ended(world, id);
    expect(world.goal(id).end?.status).toBe("done");
    expect(world.clock.now()).toBeGreaterThan(START + 20 * MINUTE);
  });
});

test.each([
  ["what is left of its time", 5 * MINUTE, 5 * MINUTE - 2 * SECOND],
  ["the limit of a turn", 60 * MINUTE, POLICY.turnTimeoutMs],
  ["the limit of a turn", null, POLICY.turnTimeoutMs],
])("B12 a turn may take no longer than %s", async (_, timeMs, expected) => {
  const world = new GoalWorld();
  let mayTake = 0;
  world.work = (_n, { deadlineAt }) => {
    mayTake = deadlineAt - world.clock.now();
    return { ...FIX, exit: true };
  };
  const limits = { budgetUsd: 25, iterations: 10, timeMs, tokens: null };
  await ended(world, await begin(world, { limits }));
  // The survey took two seconds.
  expect(mayTake).toBe(expected);
});

describe("B19 pause and cancel are always honoured", () => {
  const paused = { type: "goal.paused", code: "person", reason: "a person paused it" } as const;

  test("a pause from another terminal stops the running turn; continue goes on to the end", async () => {
    const world = new GoalWorld();
    world.work = (n) => (n === 1 ? "hang" : { ...FIX, exit: true });
    const id = await begin(world);
    await world.until(() => world.agent.running === 1);
    await world.request(id, paused);
    await world.clock.advance(SECOND);
    expect(world.agent.running).toBe(0);
    expect(world.goal(id)).toMatchObject({ status: "paused", job: null, iteration: 0 });
    expect(world.goal(id).receipts[0]?.notes).toEqual(["stopped: a person paused it"]);
    await world.clock.advance(10 * MINUTE);
    expect(world.agent.deliveries).toHaveLength(1);
    await world.request(id, { type: "goal.continued", raise: {}, retryNow: false });
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({ iteration: 1, end: { status: "done" } });
  });

  test("a pause while checks run stops them; the round is taken again after it", async () => {
    const world = new GoalWorld();
    world.work = () => ({ ...FIX, exit: true });
    const id = await begin(world);
    await world.until(() => world.goal(id).job?.kind === "checks");
    await world.request(id, paused);
    await world.clock.advance(SECOND);
    expect(world.goal(id)).toMatchObject({
      status: "paused",
      job: null,
      phase: { kind: "checking" },
      end: null,
    });
    await world.request(id, { type: "goal.continued", raise: {}, retryNow: false });
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({ iteration: 1, end: { status: "done" } });
    expect(world.agent.deliveries).toHaveLength(1);
  });

  test("cancel ends it at once, and the turn with it", async () => {
    const world = new GoalWorld();
    world.work = () => "hang";
    const id = await begin(world);
    await world.until(() => world.agent.running === 1);
    await world.request(id, { type: "goal.cancelled", reason: "a person cancelled it" });
    await world.clock.advance(SECOND);
    expect(world.agent.running).toBe(0);
    expect(world.goal(id)).toMatchObject({ status: "ended", job: null, end: { status: "cancelled" } });
    await world.clock.advance(10 * MINUTE);
    expect(world.agent.deliveries).toHaveLength(1);
  });

  test("stopping the runner records the turn, gives the lease back and leaves the goal to the next", async () => {
    const world = new GoalWorld();
    world.work = (n) => (n === 1 ? "hang" : { ...FIX, exit: true });
    const id = await begin(world);
    await world.until(() => world.agent.running === 1);
    const done = world.processes[0]?.engine.stop("Ctrl-C");
    await world.clock.advance(SECOND);
    await done;
    expect(world.journal.state().lease).toBeNull();
    expect(world.goal(id)).toMatchObject({ status: "active", job: null, phase: { kind: "checking" } });
    await world.spawn();
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({ iteration: 1, end: { status: "done" } });
  });

  test("C12 a runner that is told to stop as the turn ends does not begin the checks", async () => {
    const world = new GoalWorld();
    world.checkMs = 10 * MINUTE;
    world.work = () => ({ ...FIX, exit: true });
    const id = await begin(world);
    world.onStep = (step, process) => {
      if (step === "turn ended") void process.engine.stop("Ctrl-C");
    };
    await world.until(() => world.journal.state().lease === null, 15 * MINUTE);
    expect(world.goal(id)).toMatchObject({ iteration: 1, job: null, phase: { kind: "checking" }, end: null });
    expect(world.ran).toHaveLength(1);
  });
});

test("H1 what the checks of a dead runner left running is ended before they are run again", async () => {
  const world = new GoalWorld();
  world.work = () => ({ ...FIX, exit: true });
  const id = await begin(world);
  await world.until(() => world.goal(id).job?.kind === "checks");
  const jobId = world.goal(id).job?.id;
  world.processes[0]?.kill();
  await world.spawn();
  await ended(world, id);
  expect(world.swept).toEqual([jobId]);
  expect(world.goal(id)).toMatchObject({ iteration: 1, end: { status: "done" } });
});

describe("broken surroundings", () => {
  test("files that cannot be read pause it with the reason, and leave nothing under way", async () => {
    const world = new GoalWorld();
    world.work = () => {
      world.snapshotFails = true;
      return { ...FIX, exit: true };
    };
    const id = await begin(world);
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({
      job: null,
      pause: { code: "surroundings", reason: "the disk cannot be read" },
    });
    expect(world.goal(id).receipts).toHaveLength(1);
    world.snapshotFails = false;
    await world.request(id, { type: "goal.continued", raise: {}, retryNow: false });
    await ended(world, id);
    expect(world.goal(id).evidence.tests?.met).toBe(true);
  });

  test("an owner that does not have the agent says so, and its other loops go on", async () => {
    const world = new GoalWorld();
    world.work = () => "hang";
    const id = await begin(world);
    await world.until(() => world.agent.running === 1);
    world.processes[0]?.kill();
    world.agentIsMissing = true;
    const next = await world.spawn();
    await ended(world, id);
    expect(world.goal(id)).toMatchObject({ status: "paused", job: null, pause: { code: "surroundings" } });
    expect(next.problems).toEqual([]);
  });

  test.each(["lost", "landed"] as const)(
    "H1 every write in turn fails (%s): the same end, nothing twice",
    async (how) => {
      for (let k = 1, isThere = true; isThere; k++) {
        const world = new GoalWorld();
        world.work = (n) => (n === 1 ? {} : { ...FIX, exit: true });
        const id = await world.create();
        let writes = 0;
        world.journal.fail = () => (++writes === k ? how : null);
        await world.spawn();
        await ended(world, id);
        const goal = world.goal(id);
        expect(goal.end?.status, `write ${k}`).toBe("done");
        expect(goal, `write ${k}`).toMatchObject({ iteration: 2, spent: { costUsd: 2 * COST } });
        expect(world.agent.deliveries, `write ${k}`).toHaveLength(2);
        isThere = writes >= k;
      }
    },
  );
});

describe("one goal at a time works on the files of a project", () => {
  test("a second one is refused, and so is going on with one that was paused meanwhile", async () => {
    const world = new GoalWorld();
    const first = await world.create();
    const second = { id: "0000000b" as LoopId };
    await expect(world.create(second)).rejects.toThrow(`Goal ${first} is at work in this folder`);
    await world.request(first, { type: "goal.paused", code: "person", reason: "paused by a person" });
    const id = await world.create(second);
    const event = { type: "goal.continued", raise: {}, retryNow: false } as const;
    const going = requestGoal(world.person, world.goal(first), event, START);
    await expect(going).rejects.toThrow(`Goal ${id} is at work in this folder`);
    await world.request(id, { type: "goal.cancelled", reason: "cancelled by a person" });
    expect(await requestGoal(world.person, world.goal(first), event, START)).toMatchObject({
      status: "active",
    });
  });
});

test("H1 B12 a clock that is set back while checks run gives no time back", async () => {
  const world = new GoalWorld();
  world.checkMs = MINUTE;
  world.work = () => ({ ...FIX, exit: true });
  const id = await begin(world);
  await world.until(() => world.goal(id).job?.kind === "checks");
  const before = world.goal(id).spent.timeMs;
  world.clock.jump(-10 * MINUTE);
  await ended(world, id);
  expect(world.goal(id).end?.status).toBe("done");
  expect(world.goal(id).spent.timeMs).toBeGreaterThanOrEqual(before);
  expect(world.goal(id).evidence.tests?.durationMs).toBe(0);
});
