/**
 * A year of tasks through the real engine, in virtual time; the test checks it and the bench times it. The mix:
 *
 *   2 in 1,000   every 15 minutes        8 in 1,000   every hour
 *  40 in 1,000   every 6 hours         550 in 1,000   every day
 * 400 in 1,000   on weekdays
 *
 * with jitter, in three time zones, two of them with clock changes: half a million fires, and as many looks that
 * find nothing to do. The mix is not measured on anybody's tasks. It was thinned until the year took less than 20 s:
 * with 5 every 15 minutes, 20 every hour and 75 every 6 hours (752,000 fires) it took 24 to 28 s, about 30 us a fire.
 */
import type { Cadence, LoopId } from "../../src/core/loop.ts";
import { createTask } from "../../src/core/task/decide-task.ts";
import { slotRun } from "../../src/core/task/slots.ts";
import { Engine } from "../../src/engine/engine.ts";
import { FakeClock, MemoryJournal, MemoryStore } from "../../src/testing.ts";
import { DRAFT, OK, slotOf } from "./memory-ports.ts";
import { asTasks } from "./only-tasks.ts";

export interface Year {
  readonly tasks: number;
  readonly days: number;
  readonly startAt: number;
  /** Minute and hour of the n-th task. */
  readonly timeOf: (n: number) => readonly [minute: number, hour: number];
}

export interface YearResult {
  readonly fires: number;
  /** Slots that there were. */
  readonly expected: number;
  /** Slots that were delivered again, or out of their order. */
  readonly doubled: number;
  /** Of this process, so that others on the machine do not count. */
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly heapBytes: number;
}

const DAY_MS = 86_400_000;
const ZONES = ["Europe/Paris", "America/New_York", "UTC"] as const;

/** Many tasks share a schedule, as people's do. */
export const sharedTimes: Year["timeOf"] = (n) => [7 + (n % 4) * 15, 6 + ((n >> 2) % 8) * 2];

export async function runYear({ tasks, days, startAt, timeOf }: Year): Promise<YearResult> {
  const clock = new FakeClock(startAt);
  const journal = new MemoryJournal();
  journal.json = false;
  journal.maxLines = 16;
  const store = new MemoryStore({ journal, clock, name: "runner" });
  const last = new Map<LoopId, number>();
  let fires = 0;
  let doubled = 0;
  const engine = new Engine({
    store,
    clock,
    agent: {
      name: "instant",
      async run(turn, control) {
        control.onStarted(null);
        const slot = slotOf(turn);
        if (!(slot > (last.get(turn.loopId) ?? 0))) doubled += 1;
        last.set(turn.loopId, slot);
        fires += 1;
        return OK;
      },
      reconcile: async () => ({ kind: "never" }),
    },
    checker: { run: async () => ({ exitCode: 0, timedOut: false, tail: "" }), sweep: async () => {} },
    notifier: { notify: () => {} },
    goals: null,
    self: { owner: "runner", pid: 1, procStart: null, host: "here" },
    firing: true,
    observe: () => {},
  });
  for (let n = 0; n < tasks; n++) await create(store, idOf(n), cadenceOf(n, timeOf(n)), startAt);
  const untilAt = startAt + days * DAY_MS;
  const expected = asTasks(store.loops()).reduce(
    (sum, { cadence, jitterMs }) => sum + (slotRun(cadence, startAt, untilAt - jitterMs)?.count ?? 0),
    0,
  );
  engine.start();
  const before = process.cpuUsage();
  const startedAt = performance.now();
  for (let day = 0; day < days; day++) await clock.advance(DAY_MS);
  const wallMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(before);
  const heapBytes = process.memoryUsage().heapUsed;
  await engine.stop("the year is over");
  return { fires, expected, doubled, cpuMs: (user + system) / 1000, wallMs, heapBytes };
}

/** Spread over all ids, as random ones are, but the same in every run. */
export function idOf(n: number): LoopId {
  return (Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0") as LoopId;
}

async function create(store: MemoryStore, id: LoopId, cadence: Cadence, at: number): Promise<void> {
  const { loop, effects, outcomes } = createTask({ ...DRAFT, id, cadence, jitter: true }, at);
  const event = { type: "task.created" } as const;
  await store.commit({ id, expectedVersion: 0, loop, event, effects, outcomes, at, token: null });
}

function cadenceOf(n: number, [minute, hour]: readonly [minute: number, hour: number]): Cadence {
  return { kind: "cron", expr: exprOf((n % 500) / 500, minute, hour), tz: ZONES[n % 3] ?? "UTC" };
}

function exprOf(part: number, minute: number, hour: number): string {
  if (part < 0.002) return "*/15 * * * *";
  if (part < 0.01) return `${minute} * * * *`;
  if (part < 0.05) return `${minute} */6 * * *`;
  if (part < 0.6) return `${minute} ${hour} * * *`;
  return `${minute} ${hour} * * 1-5`;
}
