/**
 * A year of 1,000 tasks through the real engine, in virtual time. The mix is that of test/engine/year.test.ts, which
 * checks that every slot fires once; here it is only timed (and counted, so that nothing is timed that did not run).
 */
import type { Cadence } from "../src/core/loop.ts";
import { slotRun } from "../src/core/task/slots.ts";
import { Engine } from "../src/engine/engine.ts";
import { addTask } from "../src/engine/tasks.ts";
import { FakeClock, MemoryJournal, MemoryStore, OK } from "../test/support/memory-ports.ts";
import { draftOf, idOf } from "./project.ts";
import { report } from "./report.ts";

const LIMIT_S = 20;
const TASKS = 1_000;
const DAYS = 365;
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);

const clock = new FakeClock(START);
const journal = new MemoryJournal();
journal.json = false;
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
for (let n = 0; n < TASKS; n++) await addTask(store, draftOf(n, cadenceOf(n)), TASKS, START, () => idOf(n));
const expected = [...store.loops()].reduce(
  (sum, { cadence, jitterMs }) =>
    sum + (slotRun(cadence, START, START + DAYS * DAY_MS - jitterMs)?.count ?? 0),
  0,
);
engine.start();
const startedAt = performance.now();
for (let day = 0; day < DAYS; day++) {
  await clock.advance(DAY_MS);
  journal.drop();
}
const seconds = (performance.now() - startedAt) / 1000;
await engine.stop("the year is over");
if (fires !== expected) throw new Error(`${fires} fires instead of ${expected}`);
report({
  name: "a year of 1,000 tasks",
  figure: `${seconds.toFixed(1)} s, ${fires.toLocaleString("en")} fires`,
  ratio: seconds / LIMIT_S,
  peer: `limit ${LIMIT_S} s`,
  limit: 1,
});

function cadenceOf(n: number): Cadence {
  const tz = ["Europe/Paris", "America/New_York", "UTC"][n % 3] ?? "UTC";
  const part = (n % 200) / 200;
  const [minute, hour] = [n % 60, (n >> 3) % 24];
  return { kind: "cron", expr: exprOf(part, minute, hour), tz };
}

function exprOf(part: number, minute: number, hour: number): string {
  if (part < 0.005) return "*/15 * * * *";
  if (part < 0.05) return `${minute} * * * *`;
  if (part < 0.15) return `${minute} */2 * * *`;
  if (part < 0.3) return `${minute} */6 * * *`;
  return part < 0.7 ? `${minute} ${hour} * * *` : `${minute} ${hour} * * 1-5`;
}
