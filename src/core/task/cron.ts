/**
 * Five-field cron with the semantics of classic (Vixie) cron, in a time zone with clock changes.
 *
 * The search is our own, because Croner 11 loses and doubles fires: `0 0 1,30 * *` skips 1 March, most slots in a
 * spring gap are dropped, `30 1,13 * * *` runs twice in an autumn overlap, and at 12:00:00.5 the previous run of
 * `0 * * * *` is 11:00.
 *
 * 1. Slots are strictly increasing; `previousSlot` and `nextSlot` agree on the same set of slots.
 * 2. Slots inside a gap run once, at the end of the gap.
 * 3. A slot inside an overlap runs the first time only.
 * 4. Rules 2 and 3 do not apply to a rhythm (a star in minute or hour) that has a slot at that moment anyway: every
 *    half hour stays every half hour in real time.
 */
import { type CronFields, parseCron } from "./cron-fields.ts";
import { DAY, MINUTE } from "./interval.ts";
import { remember } from "./remember.ts";
import { isTimeZone, type Stretch, stretchAt } from "./zone.ts";

/** The first slot strictly after `afterAt`; `null` when there is none in the following 366 days. */
export function nextSlot(expr: string, tz: string, afterAt: number): number | null {
  return searchSlot(expr, tz, afterAt, "next");
}

/** The last slot strictly before `beforeAt`; `null` when there is none in the 366 days before. */
export function previousSlot(expr: string, tz: string, beforeAt: number): number | null {
  return searchSlot(expr, tz, beforeAt, "previous");
}

function searchSlot(expr: string, tz: string, from: number, side: "next" | "previous"): number | null {
  const schedule = scheduleFor(expr, tz);
  if (schedule === null || !(from >= EARLIEST_AT && from <= LATEST_AT)) return null;
  const known = schedule[side];
  // No slot lies between the two, so the cached answer holds for every moment in between.
  const isBetween =
    side === "next" ? from >= known.from && from < known.slot : from <= known.from && from > known.slot;
  if (isBetween) return known.slot;
  const slot = side === "next" ? findNext(schedule, from) : findPrevious(schedule, from);
  if (slot === null || Math.abs(slot - from) > HORIZON_MS) return null;
  schedule[side] = { from, slot };
  return slot;
}

interface Schedule {
  readonly tz: string;
  readonly fields: CronFields;
  /** Milliseconds after midnight, rising. */
  readonly times: readonly number[];
  next: { from: number; slot: number };
  previous: { from: number; slot: number };
}

const HORIZON_MS = 366 * DAY;
/** Intl is not reliable for dates further away. */
const EARLIEST_AT = Date.UTC(1900, 0, 1);
const LATEST_AT = Date.UTC(2500, 0, 1);
const MAX_SCHEDULES = 2048;

const schedules = new Map<string, Schedule>();

function scheduleFor(expr: string, tz: string): Schedule | null {
  const key = `${tz} ${expr}`;
  const known = schedules.get(key);
  if (known !== undefined) return known;
  const fields = parseCron(expr);
  if (fields.kind !== "ok" || !isTimeZone(tz)) return null;
  const none = { from: Number.NaN, slot: Number.NaN };
  const { hours, minutes } = fields;
  const times = hours.flatMap((hour) => minutes.map((minute) => (hour * 60 + minute) * MINUTE));
  const schedule = { tz, fields, times, next: none, previous: none };
  return remember(schedules, key, schedule, MAX_SCHEDULES);
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

/** The clock was set back at the start of the stretch, and this wall-clock time has occurred before. */
function isRepeat(schedule: Schedule, stretch: Stretch, at: number): boolean {
  const back = stretch.before - stretch.offset;
  return at < stretch.start + back && !keepsRhythm(schedule, at + stretch.offset + back);
}

/** The clock is set forward at the end of the stretch, over slots that would otherwise be lost. */
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
  let day = Math.floor(wall / DAY) * DAY;
  const time = wall - day;
  if (isDayIn(fields, new Date(day))) {
    const found = direction === 1 ? times.find((at) => at > time) : times.findLast((at) => at < time);
    if (found !== undefined) return day + found;
  }
  const edge = (direction === 1 ? times[0] : times.at(-1)) ?? 0;
  while (Math.abs(day - wall) <= HORIZON_MS + 2 * DAY) {
    day += direction * DAY;
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
