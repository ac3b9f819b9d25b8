/** Renders times for people: short, local, with the distance from now. */
import { renderDuration } from "../../core/task/interval.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Seconds are shown below the first limit, minutes below the second. */
const SECONDS_UNTIL = 2 * MINUTE;
const MINUTES_UNTIL = 24 * HOUR;

export function renderWhen(at: number, now: number): string {
  const words = renderDuration(coarse(Math.abs(at - now)));
  return `${renderClock(at, now)} (${at >= now ? `in ${words}` : `${words} ago`})`;
}

/** When the text of `renderWhen(at, ·)` changes next. */
export function whenChanges(at: number, now: number): number {
  const away = Math.abs(at - now);
  if (away < SECONDS_UNTIL) return now + 1;
  const unit = unitOf(away);
  const shown = Math.round(away / unit);
  // a future time changes at the half unit below or at a finer unit, a past time at the half unit above
  const change =
    at >= now
      ? at - Math.max((shown - 0.5) * unit, unit === HOUR ? MINUTES_UNTIL : SECONDS_UNTIL) + 1
      : at + Math.min((shown + 0.5) * unit, unit === HOUR ? Infinity : MINUTES_UNTIL);
  return Math.min(Math.max(change, now + 1), nextMidnight(now));
}

export function nextMidnight(now: number): number {
  const today = new Date(now);
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() + 1).getTime();
}

/** The time of day, with the date if it is not today. */
export function renderClock(at: number, now: number): string {
  const then = new Date(at);
  const today = new Date(now);
  const minutes = `${pad(then.getHours())}:${pad(then.getMinutes())}`;
  const date = `${pad(then.getMonth() + 1)}-${pad(then.getDate())}`;
  if (then.getFullYear() !== today.getFullYear()) return `${then.getFullYear()}-${date}`;
  const isToday = then.getMonth() === today.getMonth() && then.getDate() === today.getDate();
  return isToday ? `${minutes}:${pad(then.getSeconds())}` : `${date} ${minutes}`;
}

function pad(count: number): string {
  return String(count).padStart(2, "0");
}

function coarse(ms: number): number {
  const unit = unitOf(ms);
  return Math.max(1000, Math.round(ms / unit) * unit);
}

function unitOf(ms: number): number {
  if (ms < SECONDS_UNTIL) return 1000;
  return ms < MINUTES_UNTIL ? MINUTE : HOUR;
}
