/**
 * Five-field cron with the semantics of classic (Vixie) cron, in a time zone with clock changes.
 *
 * The search is our own. Croner 11, which was to do it, loses and doubles fires: `0 0 1,30 * *` skips 1 March
 * (it looks for 30 February and lands on 2 March), slots in a spring gap are dropped unless minute and hour
 * are single numbers, `30 1,13 * * *` runs twice in an autumn overlap, and at 12:00:00.5 the previous run of
 * `0 * * * *` is said to be 11:00.
 *
 * 1. Slots are strictly increasing; `previousSlot` and `nextSlot` agree on the same set of slots.
 * 2. A slot inside a gap is run at the end of the gap, once, however many fell into it.
 * 3. A slot inside an overlap is run the first time only.
 * 4. A rhythm (a star in minute or hour) is exempt from 2 and 3 where it would have struck at that moment
 *    anyway: every half hour stays every half hour in real time.
 */
export type CronCheck =
  | { readonly kind: "ok" }
  | { readonly kind: "invalid"; readonly field: string; readonly message: string };

/** Whether the expression can be read; the message names the field, the text and what is allowed. */
export function checkCron(expr: string): CronCheck {
  const parsed = parseCron(expr);
  return parsed.kind === "ok" ? { kind: "ok" } : parsed;
}

export function isTimeZone(tz: string): boolean {
  return offsetFormat(tz) !== null;
}

/** The first slot strictly after `afterAt`; `null` when there is none in the following 366 days. */
export function nextSlot(expr: string, tz: string, afterAt: number): number | null {
  const schedule = scheduleFor(expr, tz);
  if (schedule === null || !isSearchable(afterAt)) return null;
  const { next } = schedule;
  // No slot lies between a question and its answer, so the answer holds for every moment in between.
  if (afterAt >= next.from && afterAt < next.slot) return next.slot;
  const slot = findNext(schedule, afterAt);
  if (slot === null || slot - afterAt > HORIZON_MS) return null;
  schedule.next = { from: afterAt, slot };
  return slot;
}

/** The last slot strictly before `beforeAt`; `null` when there is none in the 366 days before. */
export function previousSlot(expr: string, tz: string, beforeAt: number): number | null {
  const schedule = scheduleFor(expr, tz);
  if (schedule === null || !isSearchable(beforeAt)) return null;
  const { previous } = schedule;
  if (beforeAt <= previous.from && beforeAt > previous.slot) return previous.slot;
  const slot = findPrevious(schedule, beforeAt);
  if (slot === null || beforeAt - slot > HORIZON_MS) return null;
  schedule.previous = { from: beforeAt, slot };
  return slot;
}

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
  /** Both day fields must agree. Cron's rule: only if either of them starts with a star. */
  readonly bothDays: boolean;
  readonly rhythm: boolean;
}

interface Schedule {
  readonly tz: string;
  readonly fields: CronFields;
  /** Milliseconds after midnight, rising. */
  readonly times: readonly number[];
  next: { from: number; slot: number };
  previous: { from: number; slot: number };
}

/** A stretch of time in which the zone keeps one offset. `before`, `after`: the offsets around it. */
interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  readonly before: number;
  readonly after: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const HORIZON_MS = 366 * DAY_MS;
/** Far from any real moment, and from the calendars and the end of dates that Intl would meet beyond. */
const EARLIEST_AT = Date.UTC(1900, 0, 1);
const LATEST_AT = Date.UTC(2500, 0, 1);
const MAX_SCHEDULES = 512;
const MAX_YEARS = 256;
const MAX_FORMATS = 64;

const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const FIELDS: readonly Field[] = [
  { name: "minute", min: 0, max: 59, names: [] },
  { name: "hour", min: 0, max: 23, names: [] },
  { name: "day-of-month", min: 1, max: 31, names: [] },
  { name: "month", min: 1, max: 12, names: MONTHS },
  { name: "day-of-week", min: 0, max: 7, names: WEEKDAYS },
];

const formats = new Map<string, Intl.DateTimeFormat>();
const years = new Map<string, readonly Stretch[]>();
const schedules = new Map<string, Schedule>();

/** The values that each field stands for. */
export function parseCron(expr: string): ({ readonly kind: "ok" } & CronFields) | Invalid {
  const texts = expr.trim().split(/\s+/);
  if (texts.length !== FIELDS.length) return invalid("expression", countMessage(expr.trim(), texts.length));
  const sets: number[][] = [];
  for (const [index, field] of FIELDS.entries()) {
    const values = new Set<number>();
    for (const item of (texts[index] ?? "").split(",")) {
      const problem = addItem(field, item, values);
      if (problem !== null) {
        const range = `${field.min}-${field.max}${field.names.length > 0 ? ` or ${field.names[0]}-${field.names.at(-1)}` : ""}`;
        return invalid(
          field.name,
          `The ${field.name} field has "${shorten(item)}", but ${problem}; allowed is ${range}.`,
        );
      }
    }
    sets.push([...values].sort((a, b) => a - b));
  }
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = sets;
  const isStar = (index: number) => texts[index]?.startsWith("*") === true;
  return {
    ...{ kind: "ok", minutes, hours, days, months, weekdays },
    bothDays: isStar(2) || isStar(4),
    rhythm: isStar(0) || isStar(1) || hours.length === 24,
  };
}

type Invalid = Extract<CronCheck, { kind: "invalid" }>;

/** Adds what one item of a list stands for; returns what is wrong with it, or `null`. */
function addItem(field: Field, item: string, values: Set<number>): string | null {
  if (item === "") return "a list item is empty";
  const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\w+))?$/.exec(item);
  if (match === null) return "only numbers, names, *, ranges (a-b), lists (a,b) and steps (*/n) are known";
  const [, star, first = "", last, stepText] = match;
  const isWeek = field.max === 7;
  const low = star === undefined ? readValue(field, first) : field.min;
  let high = star === undefined ? readValue(field, last ?? first) : isWeek ? 6 : field.max;
  if (low === null || high === null) return "that is out of range or not known";
  // FRI-SUN ends with the Sunday that is also 7; 5-0 is a slip.
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

function invalid(field: string, message: string): Invalid {
  return { kind: "invalid", field, message };
}

function scheduleFor(expr: string, tz: string): Schedule | null {
  const key = `${tz} ${expr}`;
  const known = schedules.get(key);
  if (known !== undefined) return known;
  const fields = parseCron(expr);
  if (fields.kind !== "ok" || !isTimeZone(tz)) return null;
  const none = { from: Number.NaN, slot: Number.NaN };
  const schedule = { tz, fields, times: timesOf(fields), next: none, previous: none };
  return remember(schedules, key, schedule, MAX_SCHEDULES);
}

function timesOf({ hours, minutes }: CronFields): number[] {
  return hours.flatMap((hour) => minutes.map((minute) => (hour * 60 + minute) * MINUTE_MS));
}

function findNext(schedule: Schedule, afterAt: number): number | null {
  let stretch = stretchAt(schedule.tz, afterAt);
  let wall = afterAt + stretch.offset;
  while (stretch.start <= afterAt + HORIZON_MS) {
    const found = searchWall(schedule, wall, 1);
    if (found === null) return null;
    const at = found - stretch.offset;
    if (at < stretch.end) {
      if (!isRepeat(schedule, stretch, at)) return at;
      wall = found;
    } else {
      if (isGapOwed(schedule, stretch)) return stretch.end;
      const { end } = stretch;
      stretch = stretchAt(schedule.tz, end);
      wall = end + stretch.offset - 1;
    }
  }
  return null;
}

function findPrevious(schedule: Schedule, beforeAt: number): number | null {
  let stretch = stretchAt(schedule.tz, beforeAt - 1);
  let wall = beforeAt + stretch.offset;
  while (stretch.end >= beforeAt - HORIZON_MS) {
    const found = searchWall(schedule, wall, -1);
    if (found === null) return null;
    const at = found - stretch.offset;
    if (at >= stretch.start) {
      if (!isRepeat(schedule, stretch, at)) return at;
      wall = found;
    } else {
      const { start, before, offset } = stretch;
      stretch = stretchAt(schedule.tz, start - 1);
      if (before < offset && isGapOwed(schedule, stretch)) return start;
      wall = start + stretch.offset;
    }
  }
  return null;
}

/** The stretch began by setting the clock back, and this wall-clock time was there already. */
function isRepeat(schedule: Schedule, stretch: Stretch, at: number): boolean {
  const back = stretch.before - stretch.offset;
  return at < stretch.start + back && !keepsRhythm(schedule, at + stretch.offset + back);
}

/** The stretch ends by setting the clock forward, over slots that would otherwise be lost. */
function isGapOwed(schedule: Schedule, stretch: Stretch): boolean {
  const ahead = stretch.after - stretch.offset;
  const gap = stretch.end + stretch.offset;
  let wall = ahead > 0 ? searchWall(schedule, gap - 1, 1) : null;
  while (wall !== null && wall < gap + ahead) {
    if (!keepsRhythm(schedule, wall + ahead)) return true;
    wall = searchWall(schedule, wall, 1);
  }
  return false;
}

function keepsRhythm({ fields }: Schedule, wall: number): boolean {
  const time = new Date(wall);
  const isStruck = fields.minutes.includes(time.getUTCMinutes()) && fields.hours.includes(time.getUTCHours());
  return fields.rhythm && isStruck;
}

/** The next or previous match on the wall clock, strictly after or before `wall`. */
function searchWall({ fields, times }: Schedule, wall: number, direction: 1 | -1): number | null {
  let day = Math.floor(wall / DAY_MS) * DAY_MS;
  const time = wall - day;
  if (isDayIn(fields, new Date(day))) {
    const found = direction === 1 ? times.find((at) => at > time) : times.findLast((at) => at < time);
    if (found !== undefined) return day + found;
  }
  const edge = (direction === 1 ? times[0] : times.at(-1)) ?? 0;
  while (Math.abs(day - wall) <= HORIZON_MS + 2 * DAY_MS) {
    day += direction * DAY_MS;
    const date = new Date(day);
    if (isDayIn(fields, date)) return day + edge;
    if (fields.months.includes(date.getUTCMonth() + 1)) continue;
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    day = direction === 1 ? Date.UTC(year, month + 1, 0) : Date.UTC(year, month, 1);
  }
  return null;
}

function isDayIn(fields: CronFields, date: Date): boolean {
  if (!fields.months.includes(date.getUTCMonth() + 1)) return false;
  const inMonth = fields.days.includes(date.getUTCDate());
  const inWeek = fields.weekdays.includes(date.getUTCDay());
  return fields.bothDays ? inMonth && inWeek : inMonth || inWeek;
}

function stretchAt(tz: string, at: number): Stretch {
  const year = new Date(at).getUTCFullYear();
  const key = `${tz} ${year}`;
  const list = years.get(key) ?? remember(years, key, readYear(tz, year), MAX_YEARS);
  const found = list.find((stretch) => at < stretch.end);
  if (found === undefined) throw new RangeError(`no offset of ${tz} is known for ${at}`);
  return found;
}

/** One look per day finds the clock changes; a few days on both sides keep a change at New Year whole. */
function readYear(tz: string, year: number): readonly Stretch[] {
  const from = Date.UTC(year, 0, 1) - 3 * DAY_MS;
  const to = Date.UTC(year + 1, 0, 1) + 3 * DAY_MS;
  const changes: { at: number; offset: number }[] = [{ at: from, offset: offsetAt(tz, from) }];
  for (let day = from + DAY_MS; day <= to; day += DAY_MS) {
    const before = changes.at(-1)?.offset;
    const offset = offsetAt(tz, day);
    if (offset === before) continue;
    let [low, high] = [day - DAY_MS, day];
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000;
      if (offsetAt(tz, middle) === before) low = middle;
      else high = middle;
    }
    changes.push({ at: high, offset });
  }
  return changes.map(({ at, offset }, index) => ({
    ...{ start: at, end: changes[index + 1]?.at ?? to, offset },
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
  // Newer runtimes also take "+02:00"; a project's tasks must mean the same on all of them.
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

function isSearchable(at: number): boolean {
  return at >= EARLIEST_AT && at <= LATEST_AT;
}

/** Keeps the newest entries only. */
function remember<Value>(cache: Map<string, Value>, key: string, value: Value, limit: number): Value {
  if (cache.size >= limit) {
    const oldest = cache.keys().next();
    if (oldest.done !== true) cache.delete(oldest.value);
  }
  cache.set(key, value);
  return value;
}
