import { type Invalid, invalid } from "../base.ts";
import { DAY, HOUR, type Interval, MINUTE, renderDuration } from "./interval.ts";

export type Conversion =
  | { readonly kind: "cron"; readonly expr: string; readonly notice: string | null }
  | { readonly kind: "every"; readonly everyMs: number; readonly notice: string | null }
  | Invalid;

/** Turns an interval into a cadence. `notice` names every difference from what the person typed. */
export function convertInterval(interval: Interval, exact: boolean): Conversion {
  const { ms } = interval;
  if (!(ms > 0)) return invalid("An interval must be longer than zero; write one such as 5m.");
  if (ms > LONGEST_MS) {
    return invalid(`${nameOf(interval)} is too long: --exact allows at most 366 days.`);
  }
  if (exact && ms < 1000) return invalid(`${nameOf(interval)} is too short: --exact needs at least 1s.`);
  if (exact) return { kind: "every", everyMs: ms, notice: null };
  // Cron has no seconds. Rounding up never runs more often than asked.
  const minutes = Math.ceil(ms / MINUTE);
  if (minutes < 60) return toMinutes(interval, minutes);
  if (minutes < 1440) return toHours(interval, minutes);
  return toDays(interval, minutes);
}

const LONGEST_MS = 366 * DAY;
const HOUR_DIVISORS = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60];
const UNEVEN = "and the last gap of a month can be shorter";
const DAY_DIVISORS = [1, 2, 3, 4, 6, 8, 12, 24];

function toMinutes(interval: Interval, minutes: number): Conversion {
  const step = nearest(HOUR_DIVISORS, minutes);
  const why = step === minutes ? "is not a whole number of minutes" : "does not divide an hour evenly";
  if (step === 60) return hourly(interval, 1, why);
  return cron(`*/${step} * * * *`, changed(interval, step * MINUTE, why, plural(step, "minute")));
}

function toHours(interval: Interval, minutes: number): Conversion {
  const hours = Math.round(minutes / 60);
  const step = nearest(DAY_DIVISORS, hours);
  const why = step === hours ? "is not a whole number of hours" : "does not divide a day evenly";
  return hourly(interval, step, why);
}

function hourly(interval: Interval, step: number, why: string): Conversion {
  if (step === 24) return cron("0 0 */1 * *", changed(interval, DAY, why, "day"));
  // Minute 7, because most other jobs start on the hour.
  return cron(`7 */${step} * * *`, changed(interval, step * HOUR, why, plural(step, "hour")));
}

function toDays(interval: Interval, minutes: number): Conversion {
  const days = Math.round(minutes / 1440);
  const name = nameOf(interval);
  if (days > 31) {
    return invalid(`${name} is longer than 31 days, the limit of cron; add --exact to keep ${name}.`);
  }
  const expr = `0 0 */${days} * *`;
  const why = "is not a whole number of days";
  if (days === 1) return cron(expr, changed(interval, DAY, why, "day"));
  if (interval.ms === days * DAY) {
    return cron(expr, `Cron counts ${name} from the 1st of each month, ${UNEVEN}; --exact keeps it even.`);
  }
  return cron(
    expr,
    `${name} ${why}, so it runs every ${days} days from the 1st of each month, ${UNEVEN}; --exact keeps ${name}.`,
  );
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

function cron(expr: string, notice: string | null): Conversion {
  return { kind: "cron", expr, notice };
}
