/** The short form has a tenth of the tasks for a tenth of the year, which takes in the change to summer time. */
import { expect, test } from "vitest";
import { runYear, sharedTimes } from "../../support/year.ts";

const LONG = process.env.LOOP_TEST_LONG !== undefined;
const TASKS = LONG ? 1_000 : 100;
const DAYS = LONG ? 365 : 37;
const WITHIN_MS = LONG ? 20_000 : 3_000;
const FROM = LONG ? Date.UTC(2026, 0, 1) : Date.UTC(2026, 2, 1);

test(`a year of 1,000 tasks: every slot once, in bounded memory (${TASKS} tasks, ${DAYS} days)`, async () => {
  const year = await runYear({ tasks: TASKS, days: DAYS, startAt: FROM, timeOf: sharedTimes });
  expect(year.doubled).toBe(0);
  expect(year.expected).toBeGreaterThan(TASKS * DAYS * 0.5);
  expect(year.fires).toBe(year.expected);
  expect(year.cpuMs).toBeLessThan(WITHIN_MS);
  expect(year.heapBytes).toBeLessThan(400e6);
}, 120_000);
