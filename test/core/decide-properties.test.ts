/**
 * Any order of events keeps the invariants. What is checked at every step:
 *
 * (1) A fire is delivered at most once: its id (task, era, slot) is not delivered again unless it was withdrawn.
 * (2) Every slot is accounted for. When the cursor moves from c to d in one era, every slot of the cadence in
 *     (c, d] that lies before the expiry is the one that is delivered or is in exactly one outcome line of the same
 *     change. A new cadence begins at the moment of the edit: slots of the old one up to it have their line there.
 *     The cursor goes back only to reopen a withdrawn slot, or together with a new era. And no id has two lines.
 * (3) Only an active task with nothing in flight starts a fire.
 * (4) The same events give the same states, and news of a settled fire change nothing.
 * (5) Versions rise by one. (6) A task survives JSON.
 * (7) An active task is never silent: it knows when it must be looked at, and that look changes something.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../src/core/decide.ts";
import type { Decision, LoopEvent, TaskEdit } from "../../src/core/event.ts";
import type { Cadence, FireId, LoopId, MissedPolicy, Task } from "../../src/core/loop.ts";
import { wakeAt } from "../../src/core/task/slots.ts";
import { checkAccounts } from "../support/accounts.ts";
import { runs } from "../support/runs.ts";
import { cron, DAY, every, HOUR, MINUTE, once, paced, START, task, wakeIn } from "../support/tasks.ts";

type Action =
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "back"; readonly ms: number }
  | { readonly do: "due"; readonly awake: boolean }
  | { readonly do: "wakeup-and-due" }
  | {
      readonly do:
        | "pause"
        | "resume"
        | "delete"
        | "run"
        | "created"
        | "started"
        | "interrupted"
        | "withdrawn";
    }
  | { readonly do: "finished"; readonly ok: boolean }
  | { readonly do: "wakeup"; readonly stop: boolean; readonly delayMs: number }
  | { readonly do: "edit"; readonly edit: (now: number) => TaskEdit };

const cadences: fc.Arbitrary<(now: number) => Cadence> = fc.oneof(
  fc
    .constantFrom("* * * * *", "*/5 * * * *", "7 */2 * * *", "0 9 * * 1-5", "0,1,30 * * * *", "0 0 */2 * *")
    .map((expr) => () => cron(expr)),
  fc.constantFrom(45_000, 7 * MINUTE, 90 * MINUTE).map((ms) => (now: number) => every(ms, now)),
  fc.integer({ min: 1, max: 3 * HOUR }).map((ms) => (now: number) => once(now + ms)),
  fc.constantFrom(1, 2).map((halves) => (now: number) => {
    const next = (Math.floor(now / (30 * MINUTE)) + halves) * 30 * MINUTE;
    return once(next);
  }),
  fc.integer({ min: 1, max: HOUR }).map((ms) => (now: number) => paced(now + ms)),
);
const policies = fc.constantFrom<MissedPolicy>("ask", "once", "skip", "all");
const graces = fc.constantFrom(null, 0, 30_000, 10 * MINUTE);
const ids = fc.integer({ min: 0, max: 0xffff_ffff }).map((n) => n.toString(16).padStart(8, "0") as LoopId);

const edits: fc.Arbitrary<(now: number) => TaskEdit> = fc.oneof(
  cadences.map((make) => (now: number) => ({ cadence: make(now) })),
  fc.tuple(policies, graces).map(([missed, graceMs]) => () => ({ missed, graceMs })),
  fc.integer({ min: 1, max: DAY }).map((ms) => (now: number) => ({ expiresAt: now + ms })),
  fc.boolean().map((jitter) => () => ({ jitter })),
  fc.constant(() => ({ expiresAt: null })),
);

const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(20 * MINUTE) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(2 * DAY) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("back" as const), ms: fc.nat(5 * MINUTE) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("back" as const), ms: fc.nat(3 * DAY) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("due" as const), awake: fc.boolean() }) },
  { weight: 6, arbitrary: fc.constant({ do: "wakeup-and-due" } as const) },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom("pause", "resume", "resume", "run", "created", "started", "interrupted", "withdrawn")
      .map((name) => ({ do: name }) as Action),
  },
  { weight: 3, arbitrary: fc.constant({ do: "withdrawn" } as const) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("finished" as const), ok: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("wakeup" as const),
      stop: fc.boolean(),
      delayMs: fc.integer({ min: -5, max: 2 * HOUR }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("edit" as const), edit: edits }) },
  { weight: 1, arbitrary: fc.constant({ do: "delete" } as const) },
);

const tasks = fc
  .record({
    id: ids,
    make: cadences,
    missed: fc.option(policies),
    graceMs: graces,
    expiresIn: fc.constantFrom(null, 20 * MINUTE, 3 * HOUR, DAY),
    jitter: fc.boolean(),
    runNow: fc.boolean(),
    alertAfter: fc.constantFrom(null, 1, 3),
  })
  .map(({ make, expiresIn, ...draft }) =>
    task(make(START), { ...draft, expiresAt: expiresIn === null ? null : START + expiresIn }),
  );

test("A5 A7 A10 H1 no slot twice, none without a line, none while paused, in any order of events", () => {
  fc.assert(
    fc.property(tasks, fc.array(actions, { maxLength: 60 }), (first, script) => {
      const history = run(first, script);
      expect(replay(first, history)).toEqual(history.at(-1)?.after ?? first);
    }),
    { numRuns: runs(3_000, 60_000) },
  );
});

interface Seen {
  readonly event: LoopEvent;
  readonly now: number;
  readonly after: Task;
}

/** Plays the actions and checks every step; returns the events that were decided on. */
function run(first: Task, script: readonly Action[]): Seen[] {
  const history: Seen[] = [];
  const delivered = new Set<FireId>();
  const lines = new Set<FireId>();
  let loop = first;
  let now = START;
  let awakeSince = START;
  let lastFireId = "none" as FireId;
  const apply = (event: LoopEvent): Decision => {
    const before = deepFreeze(loop);
    const decision = decide(before, event, now);
    expect(decide(JSON.parse(JSON.stringify(before)), event, now)).toEqual(decision);
    if (decision.kind !== "change") return decision;
    const after = decision.loop;
    expect(JSON.parse(JSON.stringify(after))).toEqual(after);
    expect(after.version).toBe(before.version + 1);
    checkDelivery(before, decision, delivered, lines);
    checkAccounts(before, event, decision, now);
    for (const line of decision.outcomes) {
      expect(lines.has(line.fireId), `two lines for ${line.fireId}`).toBe(false);
      lines.add(line.fireId);
    }
    if (event.type === "fire.withdrawn" && decision.outcomes.length === 0) delivered.delete(event.fireId);
    checkAwake(after, now);
    history.push({ event, now, after });
    loop = after;
    lastFireId = after.fire?.id ?? lastFireId;
    return decision;
  };
  for (const action of script) {
    const fireId = loop.fire?.id ?? lastFireId;
    switch (action.do) {
      case "wait":
        now += action.ms;
        break;
      case "back":
        now -= action.ms;
        awakeSince = Math.min(awakeSince, now);
        break;
      case "due":
        if (!action.awake) awakeSince = now;
        apply({ type: "task.due", token: 1, awakeSince });
        break;
      case "wakeup-and-due": {
        const at = wakeAt(loop);
        if (at === null) break;
        now = Math.max(now, at);
        const decision = apply({ type: "task.due", token: 1, awakeSince });
        expect(decision.kind, "a look at the moment that the task asked for changes something").toBe(
          "change",
        );
        break;
      }
      case "edit":
        apply({ type: "task.edited", edit: action.edit(now) });
        break;
      case "finished": {
        const outcome = action.ok ? "ok" : "failed";
        const event: LoopEvent = { type: "fire.finished", fireId, outcome, reason: null };
        apply(event);
        expect(decide(loop, event, now)).toEqual({ kind: "none" });
        break;
      }
      case "wakeup": {
        const { stop, delayMs } = action;
        const reason = "as it is";
        apply({
          type: "fire.wakeup",
          fireId,
          wakeup: stop ? { kind: "stop", reason } : wakeIn(delayMs),
        });
        break;
      }
      default:
        apply(eventFor(action.do, fireId));
    }
  }
  return history;
}

function eventFor(name: Exclude<Action, { ms: number }>["do"], fireId: FireId): LoopEvent {
  switch (name) {
    case "pause":
      return { type: "task.paused" };
    case "resume":
      return { type: "task.resumed" };
    case "delete":
      return { type: "task.deleted", reason: "deleted by a person" };
    case "run":
      return { type: "task.run-requested" };
    case "started":
      return { type: "fire.started", fireId, process: { pid: 7, start: null } };
    case "interrupted":
      return { type: "fire.interrupted", fireId, reason: "the runner was stopped" };
    case "withdrawn":
      return { type: "fire.withdrawn", fireId, reason: "the runner ended before it was delivered" };
    default:
      return { type: "task.created" };
  }
}

type Change = Extract<Decision<Task>, { kind: "change" }>;

function checkDelivery(before: Task, change: Change, delivered: Set<FireId>, lines: Set<FireId>): void {
  for (const effect of change.effects) {
    if (effect.kind !== "deliver") continue;
    expect(before.status).toBe("active");
    expect(before.fire).toBeNull();
    expect(change.loop.fire?.id).toBe(effect.fireId);
    expect(delivered.has(effect.fireId), `${effect.fireId} delivered twice`).toBe(false);
    expect(lines.has(effect.fireId), `${effect.fireId} delivered after its line`).toBe(false);
    delivered.add(effect.fireId);
  }
  if (change.loop.fire !== null && before.fire === null)
    expect(change.effects.map(({ kind }) => kind)).toContain("deliver");
}

function checkAwake(after: Task, now: number): void {
  if (after.status !== "active" || after.fire !== null) return;
  expect(wakeAt(after), `silent at ${now}: ${JSON.stringify(after)}`).not.toBeNull();
}

function replay(first: Task, history: readonly Seen[]): Task {
  let loop = first;
  for (const { event, now, after } of history) {
    const decision = decide(loop, event, now);
    expect(decision.kind).toBe("change");
    if (decision.kind === "change") loop = decision.loop;
    expect(loop).toEqual(after);
  }
  return loop;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
