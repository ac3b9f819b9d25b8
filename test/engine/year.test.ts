/**
 * A year of 1,000 tasks through the real engine, in virtual time. The mix:
 *
 *   2 in 1,000   every 15 minutes        8 in 1,000   every hour
 *  40 in 1,000   every 6 hours         550 in 1,000   every day
 * 400 in 1,000   on weekdays
 *
 * with jitter, in three time zones, two of them with clock changes: half a million fires, and as many looks that
 * find nothing to do. The mix is not measured on anybody's tasks. It was thinned until the year took less than 20 s:
 * with 5 every 15 minutes, 20 every hour and 75 every 6 hours (752,000 fires) it took 24 to 28 s, about 30 us a fire.
 *
 * The short form has a tenth of the tasks for a tenth of the year, which takes in the change to summer time.
 */
import { expect, test } from "vitest";
import type { Cadence, TaskId } from "../../src/core/loop.ts";
import { createTask } from "../../src/core/task/decide-task.ts";
import { slotRun } from "../../src/core/task/slots.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { Turn } from "../../src/ports.ts";
import { DRAFT, FakeClock, MemoryJournal, MemoryStore, OK } from "../support/memory-ports.ts";
import { cron, DAY } from "../support/tasks.ts";

const LONG = process.env.LOOP_TEST_LONG !== undefined;
const TASKS = LONG ? 1_000 : 100;
const DAYS = LONG ? 365 : 37;
const WITHIN_MS = LONG ? 20_000 : 3_000;
const FROM = LONG ? Date.UTC(2026, 0, 1) : Date.UTC(2026, 2, 1);

test(`a year of 1,000 tasks: every slot once, in bounded memory (${TASKS} tasks, ${DAYS} days)`, async () => {
  const clock = new FakeClock(FROM);
  const journal = new MemoryJournal();
  journal.json = false;
  journal.maxLines = 16;
  const store = new MemoryStore(journal, clock, "runner", () => true);
  const last = new Map<TaskId, number>();
  let fires = 0;
  let doubled = 0;
  const engine = new Engine({
    store,
    clock,
    agent: {
      name: "instant",
      async run(turn: Turn, control) {
        control.onStarted(null);
        if (turn.slot <= (last.get(turn.taskId) ?? 0)) doubled += 1;
        last.set(turn.taskId, turn.slot);
        fires += 1;
        return OK;
      },
      reconcile: async () => ({ kind: "never" }),
    },
    checker: { run: async () => ({ exitCode: 0, timedOut: false, tail: "" }) },
    notifier: { notify: () => {} },
    self: { owner: "runner", pid: 1, procStart: null, host: "here" },
    firing: true,
    observe: () => {},
  });
  for (let n = 0; n < TASKS; n++) await create(store, n, clock.now());
  const expected = [...store.loops()].reduce(
    (sum, { cadence, jitterMs }) => sum + count(cadence, clock.now(), clock.now() + DAYS * DAY - jitterMs),
    0,
  );
  engine.start();
  const before = process.cpuUsage();
  for (let day = 0; day < DAYS; day++) await clock.advance(DAY);
  const { user, system } = process.cpuUsage(before);
  expect(doubled).toBe(0);
  expect(fires).toBe(expected);
  // Of this process, so that others on the machine do not count.
  expect((user + system) / 1000).toBeLessThan(WITHIN_MS);
  expect(process.memoryUsage().heapUsed).toBeLessThan(400e6);
  await engine.stop("the year is over");
}, 120_000);

async function create(store: MemoryStore, n: number, now: number): Promise<void> {
  // Spreads like the random ids that people get.
  const id = (Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0") as TaskId;
  const { loop, effects, outcomes } = createTask({ ...DRAFT, id, cadence: cadenceOf(n), jitter: true }, now);
  const event = { type: "task.created" } as const;
  await store.commit({ id, expectedVersion: 0, loop, event, effects, outcomes, at: now, token: null });
}

function cadenceOf(n: number): Cadence {
  const tz = ["Europe/Paris", "America/New_York", "UTC"][n % 3] ?? "UTC";
  const part = (n % 500) / 500;
  const [minute, hour] = [7 + (n % 4) * 15, 6 + ((n >> 2) % 8) * 2];
  if (part < 0.002) return cron("*/15 * * * *", tz);
  if (part < 0.01) return cron(`${minute} * * * *`, tz);
  if (part < 0.05) return cron(`${minute} */6 * * *`, tz);
  if (part < 0.6) return cron(`${minute} ${hour} * * *`, tz);
  return cron(`${minute} ${hour} * * 1-5`, tz);
}

function count(cadence: Cadence, from: number, until: number): number {
  return slotRun(cadence, from, until)?.count ?? 0;
}
