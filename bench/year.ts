/**
 * A year of 1,000 tasks through the real engine, in virtual time. The mix is that of test/engine/year.test.ts, which
 * checks that every slot fires once; here it is only timed (and counted, so that nothing is timed that did not run).
 * The time is that of the processor: others on the machine must not count. A second mix, in which no two tasks have
 * the same minute, hour and zone, shows what remembered next-times save.
 */
import type { Cadence } from "../src/core/loop.ts";
import { slotRun } from "../src/core/task/slots.ts";
import { Engine } from "../src/engine/engine.ts";
import { addTask } from "../src/engine/tasks.ts";
import { FakeClock, MemoryJournal, MemoryStore, OK } from "../test/support/memory-ports.ts";
import { draftOf, idOf } from "./project.ts";
import { isQuick, report } from "./report.ts";

const LIMIT_S = 20;
const TASKS = 1_000;
const DAYS = 365;
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const ZONES = ["Europe/Paris", "America/New_York", "UTC"] as const;

const year = await runYear((n) => [7 + (n % 4) * 15, 6 + ((n >> 2) % 8) * 2]);
report({ name: "a year of 1,000 tasks", ...year, limit: 1 });
if (!isQuick) {
  const different = await runYear((n) => [(n * 7) % 60, (n >> 3) % 24]);
  report({ name: "the same, all schedules different", ...different });
}

async function runYear(timeOf: (n: number) => [minute: number, hour: number]) {
  const clock = new FakeClock(START);
  const journal = new MemoryJournal();
  journal.json = false;
  journal.maxLines = 16;
  const store = new MemoryStore(journal, clock, "runner", () => true);
  let fires = 0;
  const engine = new Engine({
    store,
    clock,
    agent: {
      name: "instant",
      async run(_turn, control) {
        control.onStarted(null);
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
  for (let n = 0; n < TASKS; n++) {
    const cadence: Cadence = { kind: "cron", expr: exprOf(n, ...timeOf(n)), tz: ZONES[n % 3] ?? "UTC" };
    await addTask(store, draftOf(n, cadence), TASKS, START, () => idOf(n));
  }
  const expected = [...store.loops()].reduce(
    (sum, { cadence, jitterMs }) =>
      sum + (slotRun(cadence, START, START + DAYS * DAY_MS - jitterMs)?.count ?? 0),
    0,
  );
  engine.start();
  const before = process.cpuUsage();
  const startedAt = performance.now();
  await clock.advance(DAYS * DAY_MS);
  const wallS = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  const cpuS = (user + system) / 1e6;
  await engine.stop("the year is over");
  if (fires !== expected) throw new Error(`${fires} fires instead of ${expected}`);
  return {
    figure: `${cpuS.toFixed(1)} s (wall ${wallS.toFixed(1)}), ${fires.toLocaleString("en")} fires`,
    ratio: cpuS / LIMIT_S,
    peer: `limit ${LIMIT_S} s`,
  };
}

function exprOf(n: number, minute: number, hour: number): string {
  const part = (n % 500) / 500;
  if (part < 0.002) return "*/15 * * * *";
  if (part < 0.01) return `${minute} * * * *`;
  if (part < 0.05) return `${minute} */6 * * *`;
  if (part < 0.6) return `${minute} ${hour} * * *`;
  return `${minute} ${hour} * * 1-5`;
}
