import { type Invalid, invalid } from "../base.ts";
import type { Cadence } from "../loop.ts";
import { DAY, HOUR, type Interval, MINUTE, renderDuration } from "./interval.ts";

/** `notice` names every difference from what the person typed. */
export interface CadencePlan {
  readonly kind: "plan";
  readonly cadence: Cadence;
  readonly notice: string | null;
}

export function planCadence(
  interval: Interval,
  { exact, tz, now }: { readonly exact: boolean; readonly tz: string; readonly now: number },
): CadencePlan | Invalid {
  const { ms } = interval;
  if (!(ms > 0)) return invalid("An interval must be longer than zero; write one such as 5m.");
  if (ms > LONGEST_MS) {
    return invalid(`${nameOf(interval)} is too long: --exact allows at most 366 days.`);
  }
  if (exact && ms < 1000) return invalid(`${nameOf(interval)} is too short: --exact needs at least 1s.`);
  if (exact) return { kind: "plan", cadence: { kind: "every", everyMs: ms, anchorAt: now }, notice: null };
  const found = toCron(interval);
  if ("kind" in found) return found;
  return { kind: "plan", cadence: { kind: "cron", expr: found.expr, tz }, notice: found.notice };
}

interface Cron {
  readonly expr: string;
  readonly notice: string | null;
}

function toCron(interval: Interval): Cron | Invalid {
  // Cron has no seconds. Rounding up never runs more often than asked.
  const minutes = Math.ceil(interval.ms / MINUTE);
  if (minutes < 60) return toMinutes(interval, minutes);
  return minutes < 1440 ? toHours(interval, minutes) : toDays(interval, minutes);
}

const LONGEST_MS = 366 * DAY;
const HOUR_DIVISORS = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60];
const UNEVEN = "and the last gap of a month can be shorter";
const DAY_DIVISORS = [1, 2, 3, 4, 6, 8, 12, 24];

function toMinutes(interval: Interval, minutes: number): Cron {
  const step = nearest(HOUR_DIVISORS, minutes);
  const why = step === minutes ? "is not a whole number of minutes" : "does not divide an hour evenly";
  if (step === 60) return hourly(interval, 1, why);
  return { expr: `*/${step} * * * *`, notice: changed(interval, step * MINUTE, why, plural(step, "minute")) };
}

function toHours(interval: Interval, minutes: number): Cron {
  const hours = Math.round(minutes / 60);
  const step = nearest(DAY_DIVISORS, hours);
  const why = step === hours ? "is not a whole number of hours" : "does not divide a day evenly";
  return hourly(interval, step, why);
}

function hourly(interval: Interval, step: number, why: string): Cron {
  if (step === 24) return { expr: "0 0 */1 * *", notice: changed(interval, DAY, why, "day") };
  // Minute 7, because most other jobs start on the hour.
  return { expr: `7 */${step} * * *`, notice: changed(interval, step * HOUR, why, plural(step, "hour")) };
}

function toDays(interval: Interval, minutes: number): Cron | Invalid {
  const days = Math.round(minutes / 1440);
  const name = nameOf(interval);
  if (days > 31) {
    return invalid(`${name} is longer than 31 days, the limit of cron; add --exact to keep ${name}.`);
  }
  const expr = `0 0 */${days} * *`;
  const why = "is not a whole number of days";
  if (days === 1) return { expr, notice: changed(interval, DAY, why, "day") };
  if (interval.ms === days * DAY) {
    const notice = `Cron counts ${name} from the 1st of each month, ${UNEVEN}; --exact keeps it even.`;
    return { expr, notice };
  }
  const notice = `${name} ${why}, so it runs every ${days} days from the 1st of each month, ${UNEVEN}; --exact keeps ${name}.`;
  return { expr, notice };
}

function changed(interval: Interval, actualMs: number, why: string, unit: string): string | null {
  if (interval.ms === actualMs) return null;
  const name = nameOf(interval);
  return `${name} ${why}, so it runs every ${unit}; --exact keeps ${name}.`;
}

/** A tie goes to the smaller one. */
function nearest(divisors: readonly number[], wanted: number): number {
  return divisors.reduce((best, next) => (Math.abs(next - wanted) < Math.abs(best - wanted) ? next : best));
}

function nameOf(interval: Interval): string {
  return /^every\s/i.test(interval.text) ? renderDuration(interval.ms) : interval.text;
}

function plural(count: number, unit: string): string {
  return count === 1 ? unit : `${count} ${unit}s`;
}
