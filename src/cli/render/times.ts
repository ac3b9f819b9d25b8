/** Times for people: short, local, and always with the distance from now. */
import { renderDuration } from "../../core/task/interval.ts";

export function renderWhen(at: number, now: number): string {
  const words = renderDuration(coarse(Math.abs(at - now)));
  return `${renderClock(at, now)} (${at >= now ? `in ${words}` : `${words} ago`})`;
}

/** Time of day; with the date when it is not today. */
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

/** Seconds only when near, minutes only within hours. */
function coarse(ms: number): number {
  const unit = ms < 2 * 60_000 ? 1000 : ms < 24 * 3_600_000 ? 60_000 : 3_600_000;
  return Math.max(1000, Math.round(ms / unit) * unit);
}
