/** The offsets of a time zone, and its clock changes. */
import { DAY } from "./interval.ts";
import { remember } from "./remember.ts";

export function isTimeZone(tz: string): boolean {
  return offsetFormat(tz) !== null;
}

/** A time in which the offset stays the same. `before`, `after`: the offsets around it. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  readonly before: number;
  readonly after: number;
}

const MAX_YEARS = 256;
const MAX_FORMATS = 64;

const formats = new Map<string, Intl.DateTimeFormat>();
const years = new Map<string, readonly Stretch[]>();

export function stretchAt(tz: string, at: number): Stretch {
  const year = new Date(at).getUTCFullYear();
  const key = `${tz} ${year}`;
  const list = years.get(key) ?? remember(years, key, readYear(tz, year), MAX_YEARS);
  const found = list.find((stretch) => at < stretch.end);
  if (found === undefined) throw new RangeError(`no offset of ${tz} is known for ${at}`);
  return found;
}

/** One sample per day finds the clock changes. Extra days on both sides cover a change at New Year. */
function readYear(tz: string, year: number): readonly Stretch[] {
  const from = Date.UTC(year, 0, 1) - 3 * DAY;
  const to = Date.UTC(year + 1, 0, 1) + 3 * DAY;
  const changes: { at: number; offset: number }[] = [{ at: from, offset: offsetAt(tz, from) }];
  for (let day = from + DAY; day <= to; day += DAY) {
    const before = changes.at(-1)?.offset;
    const offset = offsetAt(tz, day);
    if (offset === before) continue;
    let [low, high] = [day - DAY, day];
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000;
      if (offsetAt(tz, middle) === before) low = middle;
      else high = middle;
    }
    changes.push({ at: high, offset });
  }
  return changes.map(({ at, offset }, index) => ({
    start: at,
    end: changes[index + 1]?.at ?? to,
    offset,
    before: changes[index - 1]?.offset ?? offset,
    after: changes[index + 1]?.offset ?? offset,
  }));
}

function offsetAt(tz: string, at: number): number {
  const parts = offsetFormat(tz)?.format(at).match(/\d+/g)?.map(Number) ?? [];
  const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

function offsetFormat(tz: string): Intl.DateTimeFormat | null {
  const known = formats.get(tz);
  if (known !== undefined) return known;
  // Only newer runtimes accept "+02:00"; tasks must mean the same on all of them.
  if (!/^[a-z]/i.test(tz)) return null;
  const two = "2-digit" as const;
  const fields = { year: "numeric", month: two, day: two, hour: two, minute: two, second: two } as const;
  try {
    const format = new Intl.DateTimeFormat("en-US", { ...fields, timeZone: tz, hourCycle: "h23" });
    return remember(formats, tz, format, MAX_FORMATS);
  } catch {
    return null;
  }
}
