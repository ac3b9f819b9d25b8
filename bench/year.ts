/**
 * A year of 1,000 tasks in virtual time: the one of test/support/year.ts, which test/engine/year.test.ts checks; here
 * it is timed. The time is that of the processor: others on the machine must not count. A second run, in which hardly
 * two tasks have the same minute, hour and zone, shows what remembered next-times save.
 */
import { runYear, sharedTimes, type Year } from "../test/support/year.ts";
import { isQuick, report } from "./report.ts";

const LIMIT_S = 20;

report({ name: "a year of 1,000 tasks", ...(await timeYear(sharedTimes)), limit: 1 });
if (!isQuick) {
  const different = await timeYear((n) => [(n * 7) % 60, (n >> 3) % 24]);
  report({ name: "the same, all schedules different", ...different });
}

async function timeYear(timeOf: Year["timeOf"]) {
  const year = await runYear({ tasks: 1_000, days: 365, startAt: Date.UTC(2026, 0, 1), timeOf });
  if (year.fires !== year.expected) throw new Error(`${year.fires} fires instead of ${year.expected}`);
  const cpuS = year.cpuMs / 1000;
  return {
    figure: `${cpuS.toFixed(1)} s (wall ${(year.wallMs / 1000).toFixed(1)}), ${year.fires.toLocaleString("en")} fires`,
    ratio: cpuS / LIMIT_S,
    peer: `limit ${LIMIT_S} s`,
  };
}
