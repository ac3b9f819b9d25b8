import { describe, expect, test } from "vitest";
import type { LoopId } from "../../src/core/loop.ts";
import { settled } from "../../src/testing.ts";
import { FAILED, OK, START, World } from "../support/memory-ports.ts";
import { cron, every, HOUR, MINUTE, once, paced, SECOND } from "../support/tasks.ts";

const DELETED = { type: "task.deleted", reason: "deleted by a person" } as const;

describe("A4 A5 firing", () => {
  test("A4 a new task runs at once, as its initial run, and then on its slots", async () => {
    const world = new World();
    await world.spawn();
    const id = await world.create(cron("*/5 * * * *"), { runNow: true });
    await world.clock.advance(SECOND);
    expect(world.deliveries(id).map(({ kind, slot }) => [kind, slot])).toEqual([["initial", START]]);
    await world.clock.advance(10 * MINUTE);
    expect(world.deliveries(id).map(({ kind, at }) => [kind, at])).toEqual([
      ["initial", START + 20],
      ["scheduled", START + 5 * MINUTE],
      ["scheduled", START + 10 * MINUTE],
    ]);
    expect(world.outcomes(id).map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok"]);
  });

  test("A5 one turn at a time: nothing else is delivered into a running one", async () => {
    const world = new World();
    world.agent.script = () => ({ ms: 90 * SECOND, end: OK });
    for (let n = 0; n < 4; n++) await world.create(cron("*/10 * * * *"));
    await world.spawn();
    await world.clock.advance(20 * MINUTE - SECOND);
    expect(world.agent.deliveries).toHaveLength(4);
    expect(world.agent.mostAtOnce).toBe(1);
    expect(world.agent.deliveries.map(({ at }) => at - START)).toEqual(
      [600, 690, 780, 870].map((s) => s * SECOND),
    );
  });

  test("A5 the task that waits longest comes first", async () => {
    const world = new World();
    world.agent.script = (turn) => ({ ms: turn.text.includes("long") ? 4 * MINUTE : SECOND, end: OK });
    await world.create(every(MINUTE), { prompt: "long", expiresAt: START + 90 * SECOND });
    const second = await world.create(once(START + 3 * MINUTE));
    const first = await world.create(once(START + 2 * MINUTE));
    await world.spawn();
    await world.clock.advance(6 * MINUTE);
    expect(world.agent.deliveries.slice(1, 3).map(({ taskId }) => taskId)).toEqual([first, second]);
  });

  test("A5 slots that come due while the same task still runs are skipped with that reason", async () => {
    const world = new World();
    world.agent.script = () => ({ ms: 11 * MINUTE + 30 * SECOND, end: OK });
    const id = await world.create(cron("*/5 * * * *"));
    await world.spawn();
    await world.clock.advance(18 * MINUTE);
    expect(world.outcomes(id).map(({ outcome, slot, reason }) => [outcome, slot - START, reason])).toEqual([
      ["ok", 5 * MINUTE, null],
      ["skipped", 10 * MINUTE, "the previous fire was still running"],
    ]);
    expect(world.deliveries(id).map(({ slot }) => slot - START)).toEqual([5 * MINUTE, 15 * MINUTE]);
  });

  test("A12 a task that another process creates while a commit conflicts is not forgotten", async () => {
    const world = new World();
    const mine = await world.create(once(START + MINUTE));
    const runner = await world.spawn();
    await world.clock.advance(50 * SECOND);
    let other: LoopId | null = null;
    const { commit } = runner.store;
    runner.store.commit = async (wanted) => {
      runner.store.commit = commit;
      await world.request(mine, { type: "task.edited", edit: { prompt: "changed in between" } });
      other = await world.create(once(world.clock.now() + 5 * SECOND));
      world.journal.watchers.clear();
      return commit.call(runner.store, wanted);
    };
    await world.clock.advance(MINUTE);
    expect(world.deliveries(mine)[0]?.text).toContain("changed in between");
    expect(world.agent.deliveries.map(({ taskId }) => taskId)).toEqual([mine, other]);
  });

  test("A3 a run by hand is delivered at once, also when the clock was set back since it was asked for", async () => {
    const world = new World();
    const id = await world.create(cron("0 9 * * *"), {});
    await world.spawn();
    await world.clock.advance(DAY_AND_A_BIT);
    const before = world.deliveries(id).length;
    world.agent.script = () => "hang";
    const busy = await world.create(once(world.clock.now() + SECOND));
    await world.clock.advance(2 * SECOND);
    await world.request(id, { type: "task.run-requested" });
    world.clock.jump(-40 * MINUTE);
    world.agent.finish(world.deliveries(busy)[0]?.fireId ?? "", OK);
    world.agent.script = () => ({ ms: SECOND, end: OK });
    await world.clock.advance(MINUTE);
    expect(
      world
        .deliveries(id)
        .slice(before)
        .map(({ kind }) => kind),
    ).toEqual(["manual"]);
  });

  test("A3 deleting a task stops its turn and records that", async () => {
    const world = new World();
    world.agent.script = () => "hang";
    const id = await world.create(cron("*/5 * * * *"), { alertAfter: 1 });
    await world.spawn();
    await world.clock.advance(12 * MINUTE);
    expect(world.agent.running).toBe(1);
    await world.request(id, DELETED);
    await world.clock.advance(SECOND);
    expect(world.agent.running).toBe(0);
    expect(world.task(id)).toBeUndefined();
    expect(world.outcomes(id).map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ["skipped", "the task was deleted before it ran"],
      ["interrupted", "the task was deleted"],
    ]);
    expect(world.notes).toEqual([]);
  });

  test("A17 the agent's last line sets the wake-up, and no line ends the loop", async () => {
    const world = new World();
    let turns = 0;
    world.agent.script = () => {
      turns += 1;
      const answer = turns === 1 ? '{"wakeup":{"delaySeconds":120,"reason":"soon"}}' : "nothing left";
      return { ms: SECOND, end: { ...OK, answer } };
    };
    const id = await world.create(paced(), { runNow: true });
    await world.spawn();
    await world.clock.advance(HOUR);
    expect(world.deliveries(id).map(({ at }) => at - START)).toEqual([0, 121 * SECOND]);
    expect(world.task(id)).toBeUndefined();
  });

  test("A18 the postcondition decides, and the alert comes once per streak", async () => {
    const world = new World();
    let exitCode = 1;
    world.check = () => ({ exitCode, timedOut: false, tail: "boom\n" });
    const id = await world.create(cron("* * * * *"), { expect: "test -f out", alertAfter: 3 });
    await world.spawn();
    await world.clock.advance(5 * MINUTE);
    expect(world.outcomes(id)[0]).toMatchObject({
      outcome: "failed",
      reason: "expected `test -f out` to pass: exit 1: boom",
    });
    expect(world.notes).toHaveLength(1);
    exitCode = 0;
    await world.clock.advance(MINUTE);
    exitCode = 1;
    await world.clock.advance(5 * MINUTE);
    expect(world.notes).toHaveLength(2);
    expect(world.notes[0]?.body).toContain("The last 3 slots");
  });

  test("an agent or a check that throws, against its contract, is a failed fire and not the end", async () => {
    const world = new World();
    world.check = () => {
      throw new Error("no such shell");
    };
    const id = await world.create(cron("* * * * *"), { expect: "true" });
    await world.spawn();
    await world.clock.advance(2 * MINUTE);
    expect(world.outcomes(id).map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ["failed", "no such shell"],
      ["failed", "no such shell"],
    ]);
  });
});

/** Somebody else takes the lease, as after a long freeze of the owner. */
function steal(world: World, pid: number): void {
  const at = world.clock.now();
  const token = world.journal.state().lastToken + 1;
  const lease = { owner: "thief", pid, procStart: null, host: "here", acquiredAt: at, token };
  world.journal.append("thief", { type: "lease", at, lease });
}

const DAY_AND_A_BIT = 24 * HOUR + 5 * MINUTE;

describe("A11 the lease", () => {
  test("A11 a second process is passive and takes over at once when the owner is dead", async () => {
    const world = new World();
    const id = await world.create(cron("* * * * *"));
    const first = await world.spawn();
    const second = await world.spawn();
    await world.clock.advance(90 * SECOND);
    expect([first.engine.role, second.engine.role]).toEqual(["owner", "passive"]);
    first.kill();
    await world.clock.advance(300);
    expect(second.engine.role).toBe("owner");
    await world.clock.advance(MINUTE);
    expect(world.deliveries(id).map(({ token }) => token)).toEqual([1, 2]);
  });

  test("A11 a turn that the dead owner started is followed to its end, and not started again", async () => {
    const world = new World();
    world.agent.script = () => ({ ms: 3 * MINUTE, end: OK });
    const id = await world.create(once(START + MINUTE));
    const first = await world.spawn();
    await world.spawn();
    await world.clock.advance(2 * MINUTE);
    first.kill();
    await world.clock.advance(SECOND);
    expect(world.agent.running).toBe(1);
    await world.clock.advance(5 * MINUTE);
    expect(world.deliveries(id)).toHaveLength(1);
    expect(world.outcomes(id).map(({ outcome }) => outcome)).toEqual(["ok"]);
  });

  test("A11 a turn of a task that was deleted meanwhile is stopped by the new owner at once", async () => {
    const world = new World();
    world.agent.script = () => "hang";
    const id = await world.create(once(START + MINUTE));
    const first = await world.spawn();
    await world.clock.advance(2 * MINUTE);
    first.kill();
    await world.request(id, DELETED);
    await world.spawn();
    await world.clock.advance(SECOND);
    expect(world.agent.running).toBe(0);
    expect(world.outcomes(id).map(({ outcome }) => outcome)).toEqual(["interrupted"]);
  });

  test("H1 a turn whose fate is not known is recorded as interrupted with the reason", async () => {
    const world = new World();
    world.agent.script = () => "hang";
    world.agent.fate = () => ({ kind: "lost", reason: "its claim is torn" });
    const id = await world.create(once(START + MINUTE));
    const first = await world.spawn();
    await world.clock.advance(2 * MINUTE);
    first.kill();
    await world.spawn();
    await world.clock.advance(SECOND);
    expect(world.outcomes(id)[0]).toMatchObject({
      outcome: "interrupted",
      reason: "the runner ended while it ran, and its claim is torn",
    });
  });

  test("H1 recovery asks again when the agent's host could not answer", async () => {
    const world = new World();
    world.agent.script = () => ({ ms: 3 * MINUTE, end: OK });
    let asked = 0;
    world.agent.fate = () => {
      asked += 1;
      if (asked === 1) throw new Error("input/output error");
      return null;
    };
    const id = await world.create(once(START + MINUTE));
    const first = await world.spawn();
    await world.clock.advance(2 * MINUTE);
    first.kill();
    const second = await world.spawn();
    await world.clock.advance(5 * MINUTE);
    expect(second.problems).toEqual(["input/output error"]);
    expect(world.outcomes(id).map(({ outcome }) => outcome)).toEqual(["ok"]);
  });

  test("D6 a demoted owner does nothing more, and knows that it is passive", async () => {
    const world = new World();
    world.agent.script = () => ({ ms: 20 * MINUTE, end: { ...OK, answer: '{"wakeup":{"stop":true}}' } });
    const id = await world.create(paced(START + MINUTE));
    const first = await world.spawn();
    const second = await world.spawn();
    await world.clock.advance(2 * MINUTE);
    first.freeze();
    await world.clock.advance(10 * MINUTE);
    expect(second.engine.role).toBe("owner");
    first.thaw();
    await world.clock.advance(15 * MINUTE);
    expect([first.engine.role, second.engine.role]).toEqual(["passive", "owner"]);
    const lines = world.journal.lines.flatMap((line) => (line.type === "loop" ? [line] : []));
    const mine = lines.filter(({ w, event }) => w.startsWith(`p${first.pid}.`) && event.type !== "task.due");
    expect(mine.map(({ event }) => event.type)).toEqual(["fire.started"]);
    // let go of, not stopped: the turn is the new owner's
    expect(world.outcomes(id).map(({ outcome }) => outcome)).toEqual(["ok"]);
  });

  test("D6 A18 a demoted owner does not run the postcondition of a turn that is not its own any more", async () => {
    const world = new World();
    let checks = 0;
    world.check = () => {
      checks += 1;
      return { exitCode: 0, timedOut: false, tail: "" };
    };
    world.agent.script = () => ({ ms: 20 * MINUTE, end: OK });
    await world.create(once(START + MINUTE), { expect: "true" });
    const first = await world.spawn();
    await world.spawn();
    await world.clock.advance(2 * MINUTE);
    first.freeze();
    await world.clock.advance(10 * MINUTE);
    first.thaw();
    await world.clock.advance(15 * MINUTE);
    expect(checks).toBe(1);
  });

  test("A11 after a suspend the owner stays the owner, although its sign of life is old", async () => {
    const world = new World();
    await world.create(cron("*/5 * * * *"));
    const first = await world.spawn();
    const second = await world.spawn();
    await world.clock.advance(MINUTE);
    world.clock.jump(HOUR);
    await world.clock.advance(5 * MINUTE);
    expect([first.engine.role, second.engine.role]).toEqual(["owner", "passive"]);
    expect(second.roles).not.toContain("owner");
  });

  test("A10 who takes over from a frozen owner knows that nobody was there meanwhile", async () => {
    const world = new World();
    const [recurring, reminder] = [
      await world.create(cron("* * * * *")),
      await world.create(once(START + 3 * MINUTE)),
    ];
    const first = await world.spawn();
    await world.spawn();
    await world.clock.advance(90 * SECOND);
    first.freeze();
    await world.clock.advance(7 * MINUTE);
    expect(world.task(reminder)?.status).toBe("missed");
    const reasons = world.outcomes(recurring).filter(({ outcome }) => outcome === "missed");
    expect(reasons.length).toBeGreaterThan(2);
    expect(new Set(reasons.map(({ reason }) => reason))).toEqual(
      new Set(["nothing was running when it was due"]),
    );
  });

  test("A18 a notifier that throws, against its contract, stops nothing", async () => {
    const world = new World();
    world.agent.script = () => ({ ms: SECOND, end: FAILED });
    world.onStep = (step) => {
      if (step === "notified") throw new Error("no such command");
    };
    const id = await world.create(cron("* * * * *"), { alertAfter: 1 });
    const runner = await world.spawn();
    await world.clock.advance(5 * MINUTE);
    expect(world.deliveries(id)).toHaveLength(5);
    expect(runner.problems).toEqual(["Cannot send a notification: no such command"]);
  });

  test("A17 the end of a fire carries its wake-up and its cost in one line", async () => {
    const world = new World();
    const usage = { costUsd: 0.25, inputTokens: 100, outputTokens: 20 };
    const answer = 'well\n{"wakeup":{"delaySeconds":600,"reason":"later"}}';
    world.agent.script = () => ({ ms: SECOND, end: { ...OK, answer, usage } });
    const id = await world.create(paced(), { runNow: true });
    await world.spawn();
    await world.clock.advance(MINUTE);
    expect(world.outcomes(id)).toMatchObject([{ outcome: "ok", usage }]);
    expect(world.task(id)?.cadence).toEqual({ kind: "paced", wakeAt: START + 601 * SECOND, reason: "later" });
    const types = world.journal.accepted().map(({ event }) => event.type);
    expect(types).toEqual(["task.created", "task.due", "fire.started", "fire.finished"]);
  });

  test("D6 an owner that lost the lease in the middle of a look keeps all tasks for the time it leads again", async () => {
    const world = new World();
    const ids = [await world.create(cron("* * * * *")), await world.create(cron("* * * * *"))];
    const first = await world.spawn();
    await world.clock.advance(30 * SECOND);
    const { commit } = first.store;
    first.store.commit = async (wanted) => {
      first.store.commit = commit;
      const thief = { owner: "thief", pid: 9, procStart: null, host: "here", acquiredAt: 0, token: 2 };
      world.journal.append("thief", { type: "lease", at: 0, lease: thief });
      return commit.call(first.store, wanted);
    };
    await world.clock.advance(MINUTE + 30 * SECOND);
    expect(first.roles).toEqual(["owner"]);
    for (const id of ids) expect(world.deliveries(id).map(({ token }) => token)).toEqual([3, 3]);
  });

  test("A11 an owner that finds itself fenced stands by at once, and is back when the thief dies", async () => {
    const world = new World();
    await world.create(cron("* * * * *"));
    const first = await world.spawn();
    const other = await world.spawn({ firing: false });
    await world.clock.advance(30 * SECOND);
    const { commit } = first.store;
    first.store.commit = async (wanted) => {
      first.store.commit = commit;
      world.journal.watchers.clear();
      steal(world, other.pid);
      return commit.call(first.store, wanted);
    };
    await world.clock.advance(31 * SECOND);
    expect(first.engine.role).toBe("passive");
    other.kill();
    await world.clock.advance(300);
    expect(first.engine.role).toBe("owner");
  });

  test("D6 the end of a turn that arrives together with the loss of the lease is the next owner's", async () => {
    const world = new World();
    world.agent.script = () => "hang";
    const id = await world.create(paced(START + MINUTE));
    const first = await world.spawn();
    const other = await world.spawn({ firing: false });
    await world.clock.advance(2 * MINUTE);
    const { refresh } = first.store;
    first.store.refresh = async () => {
      first.store.refresh = refresh;
      steal(world, other.pid);
      world.agent.finish(world.deliveries(id)[0]?.fireId ?? "", {
        ...OK,
        answer: '{"wakeup":{"stop":true}}',
      });
      await settled();
      return refresh.call(first.store);
    };
    await world.clock.advance(MINUTE);
    expect(first.engine.role).toBe("passive");
    expect(world.journal.accepted().at(-1)?.event.type).toBe("fire.started");
  });

  test("A11 a lease that was written although acquiring it failed does not lock everybody out", async () => {
    const world = new World();
    const id = await world.create(cron("* * * * *"));
    let left = 1;
    world.journal.fail = () => (left-- > 0 ? "landed" : null);
    const runner = await world.spawn();
    await world.clock.advance(2 * MINUTE);
    expect(runner.engine.role).toBe("owner");
    expect(world.deliveries(id).map(({ token }) => token)).toEqual([2, 2]);
  });

  test("A20 with firing off it watches and delivers nothing", async () => {
    const world = new World();
    const id = await world.create(cron("* * * * *"), { runNow: true });
    const off = await world.spawn({ firing: false });
    await world.clock.advance(10 * MINUTE);
    expect(off.roles).toEqual(["off"]);
    expect(world.deliveries(id)).toEqual([]);
    expect(world.journal.state().lease).toBeNull();
    await world.request(id, { type: "task.paused" });
    await world.clock.advance(SECOND);
    expect(off.store.load(id)?.status).toBe("paused");
  });

  test("A9 tasks of a conversation that is over go with it; those of our own stay", async () => {
    const world = new World();
    const theirs = await world.create(cron("* * * * *"), { session: "session:gone" });
    const ours = await world.create(cron("* * * * *"), { session: "session:us" });
    const host = await world.spawn({ owner: "session:us" });
    await world.clock.advance(MINUTE);
    expect(world.task(theirs)).toBeUndefined();
    expect(world.deliveries(theirs)).toEqual([]);
    expect(world.deliveries(ours)).toHaveLength(1);
    await host.engine.stop("the conversation ended");
    expect(world.task(ours)).toBeUndefined();
  });
});

describe("H1 the clock", () => {
  test("the timer is never set further ahead than 30 s", async () => {
    const world = new World();
    await world.create(cron("0 0 1 * *"));
    await world.spawn();
    for (let n = 0; n < 20; n++) {
      expect(world.clock.longestTimerMs()).toBeLessThanOrEqual(30_000);
      await world.clock.advance(17 * SECOND);
    }
  });

  test("A10 suspend: a recurring task fires once, and says that it is late; the rest has its line", async () => {
    const world = new World();
    const id = await world.create(cron("*/10 * * * *"));
    await world.spawn();
    await world.clock.advance(MINUTE);
    world.clock.jump(35 * MINUTE);
    await world.clock.advance(MINUTE);
    expect(world.deliveries(id).map(({ kind, slot }) => [kind, slot - START])).toEqual([
      ["late", 30 * MINUTE],
    ]);
    expect(world.outcomes(id).map(({ outcome, slot }) => [outcome, slot - START])).toEqual([
      ["missed", 10 * MINUTE],
      ["missed", 20 * MINUTE],
      ["ok", 30 * MINUTE],
    ]);
  });

  test("A10 suspend: a one-shot becomes missed, notifies, and runs when a person says so", async () => {
    const world = new World();
    const id = await world.create(once(START + 10 * MINUTE));
    await world.spawn();
    world.clock.jump(HOUR);
    await world.clock.advance(MINUTE);
    expect(world.deliveries(id)).toEqual([]);
    expect(world.task(id)?.status).toBe("missed");
    expect(world.notes).toHaveLength(1);
    expect(world.notes[0]?.body).toContain(`loop run ${id}`);
    await world.clock.advance(HOUR);
    expect(world.notes).toHaveLength(1);
    await world.request(id, { type: "task.run-requested" });
    await world.clock.advance(SECOND);
    expect(world.deliveries(id).map(({ kind }) => kind)).toEqual(["manual"]);
    expect(world.task(id)).toBeUndefined();
  });

  test("set back a little: no slot runs twice", async () => {
    const world = new World();
    const id = await world.create(cron("* * * * *"));
    await world.spawn();
    await world.clock.advance(3 * MINUTE + SECOND);
    world.clock.jump(-2 * MINUTE);
    await world.clock.advance(3 * MINUTE);
    expect(world.deliveries(id).map(({ slot }) => slot - START)).toEqual([1, 2, 3, 4].map((n) => n * MINUTE));
  });

  test("set back far: slots start over in a new era within 30 s, and nothing is silent", async () => {
    const world = new World();
    const id = await world.create(cron("0 * * * *"));
    const wake = await world.create(paced(START + 26 * HOUR), {});
    await world.spawn();
    world.clock.jump(24 * HOUR + MINUTE);
    await world.clock.advance(2 * MINUTE);
    expect(world.deliveries(id)).toHaveLength(1);
    world.clock.jump(-24 * HOUR);
    await world.clock.advance(31 * SECOND);
    expect(world.task(id)?.era).toBe(1);
    expect(world.outcomes(id).at(-1)?.reason).toContain("the clock was set back by 14");
    await world.clock.advance(HOUR);
    expect(world.deliveries(id).map(({ fireId }) => fireId.split(".")[1])).toEqual([undefined, "1"]);
    expect(world.task(wake)?.era).toBe(0);
  });
});

describe("H1 a disk that is full", () => {
  test("it is said, nothing is lost, and it is tried again once a second and not more often", async () => {
    const world = new World();
    const id = await world.create(cron("*/5 * * * *"));
    const runner = await world.spawn();
    await world.clock.advance(4 * MINUTE);
    let attempts = 0;
    world.journal.fail = () => {
      attempts += 1;
      return "lost";
    };
    for (let n = 0; n < 120; n++) {
      for (let m = 0; m < 5; m++) runner.engine.nudge();
      await world.clock.advance(SECOND);
    }
    expect(runner.problems[0]).toContain("no space left");
    expect(attempts).toBeGreaterThan(50);
    expect(attempts).toBeLessThan(70);
    expect(world.deliveries(id)).toEqual([]);
    world.journal.fail = () => null;
    await world.clock.advance(2 * SECOND);
    expect(world.deliveries(id).map(({ slot }) => slot - START)).toEqual([5 * MINUTE]);
    expect(world.outcomes(id).map(({ outcome }) => outcome)).toEqual(["ok"]);
  });

  test("the end of a turn is kept until it can be written", async () => {
    const world = new World();
    world.agent.script = () => ({ ms: MINUTE, end: FAILED });
    const id = await world.create(once(START + MINUTE));
    await world.spawn();
    await world.clock.advance(90 * SECOND);
    world.journal.fail = () => "lost";
    await world.clock.advance(5 * MINUTE);
    expect(world.outcomes(id)).toEqual([]);
    world.journal.fail = () => null;
    await world.clock.advance(2 * SECOND);
    expect(world.outcomes(id)).toMatchObject([{ outcome: "failed", reason: "exit 1" }]);
  });

  test("a write that landed although it seemed to fail is carried out once", async () => {
    const world = new World();
    const id = await world.create(cron("*/5 * * * *"));
    await world.spawn();
    await world.clock.advance(4 * MINUTE);
    world.journal.fail = (entry) =>
      entry.type === "loop" && entry.event.type === "task.due" ? "landed" : null;
    await world.clock.advance(13 * MINUTE);
    expect(world.deliveries(id).map(({ slot }) => slot - START)).toEqual([5, 10, 15].map((n) => n * MINUTE));
    expect(world.outcomes(id).map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok"]);
  });
});

describe("C12 stop", () => {
  test("ends the turn under way, records it, and releases the lease", async () => {
    const world = new World();
    world.agent.script = () => "hang";
    const id = await world.create(cron("*/5 * * * *"));
    const runner = await world.spawn();
    await world.clock.advance(6 * MINUTE);
    await runner.engine.stop("stopped by a person");
    expect(world.outcomes(id)).toMatchObject([{ outcome: "interrupted", reason: "stopped by a person" }]);
    expect(world.journal.state().lease).toBeNull();
    expect(runner.engine.role).toBe("off");
    expect(world.clock.timerCount).toBe(0);
    await runner.engine.stop("again");
  });

  test.each(["lost", "landed"] as const)(
    "ends although the disk is full (%s); the next owner records it",
    async (how) => {
      const world = new World();
      world.agent.script = () => "hang";
      const id = await world.create(cron("*/5 * * * *"));
      const runner = await world.spawn();
      await world.clock.advance(6 * MINUTE);
      world.journal.fail = () => how;
      await runner.engine.stop("stopped by a person");
      expect(runner.problems.length).toBeGreaterThan(0);
      runner.kill();
      world.journal.fail = () => null;
      await world.spawn();
      await world.clock.advance(SECOND);
      expect(world.outcomes(id).map(({ outcome }) => outcome)).toEqual(["interrupted"]);
      expect(world.deliveries(id)).toHaveLength(1);
    },
  );

  test("a disk that cannot even be read does not keep it", async () => {
    const world = new World();
    await world.create(cron("*/5 * * * *"));
    const runner = await world.spawn();
    runner.store.refresh = () => Promise.reject(new Error("input/output error"));
    await runner.engine.stop("stopped by a person");
    expect(world.journal.state().lease).toBeNull();
  });

  test("a lease that is lost while stopping is nobody's problem", async () => {
    const world = new World();
    await world.create(cron("0 9 * * *"), { session: "session:us" });
    const host = await world.spawn({ owner: "session:us" });
    const thief = { owner: "thief", pid: 9, procStart: null, host: "here", acquiredAt: 0, token: 2 };
    world.journal.append("thief", { type: "lease", at: 0, lease: thief });
    const done = host.engine.stop("stopped by a person");
    await settled();
    await done;
    expect(host.problems).toEqual([]);
    expect(world.journal.state().lease?.token).toBe(2);
  });
});
