/** The text of a cron expression: five fields, read as classic (Vixie) cron reads them. */
import { type Invalid, invalid } from "../base.ts";

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

export interface CronFields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  readonly months: readonly number[];
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
  /** A day must match both day fields. Cron's rule: only if one of them starts with a star. */
  readonly bothDays: boolean;
  readonly rhythm: boolean;
}

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const FIELDS: readonly Field[] = [
  { name: "minute", min: 0, max: 59, names: [] },
  { name: "hour", min: 0, max: 23, names: [] },
  { name: "day-of-month", min: 1, max: 31, names: [] },
  { name: "month", min: 1, max: 12, names: MONTHS },
  { name: "day-of-week", min: 0, max: 7, names: WEEKDAYS },
];

/** The message of an error names the field, its text and the allowed values. */
export function parseCron(expr: string): ({ readonly kind: "ok" } & CronFields) | Invalid {
  const texts = expr.trim().split(/\s+/);
  if (texts.length !== FIELDS.length) return invalid(countMessage(expr.trim(), texts.length));
  const sets: number[][] = [];
  for (const [index, field] of FIELDS.entries()) {
    const values = new Set<number>();
    for (const item of (texts[index] ?? "").split(",")) {
      const problem = addItem(field, item, values);
      if (problem !== null) {
        const range = `${field.min}-${field.max}${field.names.length > 0 ? ` or ${field.names[0]}-${field.names.at(-1)}` : ""}`;
        return invalid(`The ${field.name} field has "${shorten(item)}", but ${problem}; allowed: ${range}.`);
      }
    }
    sets.push([...values].sort((a, b) => a - b));
  }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = sets;
  const isStar = (index: number) => texts[index]?.startsWith("*") === true;
  const bothDays = isStar(2) || isStar(4);
  const rhythm = isStar(0) || isStar(1) || hours.length === 24;
  return { kind: "ok", minutes, hours, days, months, weekdays, bothDays, rhythm };
}

/** Adds the values of one list item; returns what is wrong with it, or `null`. */
function addItem(field: Field, item: string, values: Set<number>): string | null {
  if (item === "") return "a list item is empty";
  const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\w+))?$/.exec(item);
  if (match === null) return "only numbers, names, *, ranges (a-b), lists (a,b) and steps (*/n) are allowed";
  const [, star, first = "", last, stepText] = match;
  const isWeek = field.max === 7;
  const low = star === undefined ? readValue(field, first) : field.min;
  let high = star === undefined ? readValue(field, last ?? first) : isWeek ? 6 : field.max;
  if (low === null || high === null) return "that is out of range or unknown";
  // In FRI-SUN, Sunday is 7. The range 5-0 stays an error.
  if (low > 0 && last?.toUpperCase() === "SUN") high = 7;
  if (low > high) return "the range runs backwards";
  const size = isWeek ? 7 : field.max - field.min + 1;
  const step = stepText === undefined ? 1 : /^\d{1,2}$/.test(stepText) ? Number(stepText) : 0;
  if (step < 1 || step > size) return `a step must be 1-${size}`;
  if (stepText !== undefined && star === undefined && last === undefined) {
    return `a step needs a range, so write ${first}-${isWeek ? 6 : field.max}/${stepText}`;
  }
  for (let value = low; value <= high; value += step) values.add(isWeek ? value % 7 : value);
  return null;
}

function readValue(field: Field, text: string): number | null {
  const index = field.names.indexOf(text.toUpperCase());
  if (index >= 0) return field.min + index;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= field.min && value <= field.max ? value : null;
}

function countMessage(expr: string, count: number): string {
  const form = "write five: minute (0-59) hour (0-23) day-of-month (1-31) month (1-12) day-of-week (0-7)";
  if (expr.startsWith("@")) return `"${shorten(expr)}" is a nickname, which is not supported; ${form}.`;
  const found = expr === "" ? "no fields" : count === 1 ? "1 field" : `${count} fields`;
  return `"${shorten(expr)}" has ${found}; ${form}.`;
}

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
