import cronstrue from "cronstrue";
import type { Cadence } from "../loop.ts";
import { type CronFields, parseCron } from "../task/cron-fields.ts";

/** A cron expression in words. An invalid expression is returned unchanged. */
export function renderCron(expr: string): string {
  const parsed = parseCron(expr);
  if (parsed.kind !== "ok") return expr;
  const texts = expr.trim().split(/\s+/);
  return renderStep(texts) ?? renderTimeOfDay(parsed, texts) ?? renderOther(parsed, texts);
}

export function renderCadence(cadence: Cadence): string {
  switch (cadence.kind) {
    case "cron":
      return renderCron(cadence.expr);
    case "every":
      return renderEvery(cadence.everyMs);
    case "once":
      return `Once at ${renderMoment(cadence.at, cadence.tz)}`;
    case "paced":
      return "Self-paced";
  }
}

const LENGTHS = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1000, "second"],
] as const;
const DAYS = ["Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays"];

/** Expressions that come from intervals. A step that does not divide its unit has no even rhythm. */
function renderStep(texts: readonly string[]): string | null {
  const [minute = "", hour = "", day = "", ...others] = texts;
  if (others.some((text) => text !== "*")) return null;
  const minutes = readStep(minute);
  if (minutes !== null && 60 % minutes === 0 && hour === "*" && day === "*") {
    return minutes === 60 ? "Every hour" : everyUnit(minutes, "minute");
  }
  const hours = readStep(hour);
  if (hours !== null && 24 % hours === 0 && day === "*" && /^0?[07]$/.test(minute)) {
    return hours === 24 ? null : everyUnit(hours, "hour");
  }
  const days = day === "*" ? null : readStep(day);
  if (days !== null && /^0?0$/.test(minute) && /^0?0$/.test(hour)) return everyUnit(days, "day");
  return null;
}

function renderTimeOfDay(fields: CronFields, texts: readonly string[]): string | null {
  const [hour, minute] = [fields.hours[0], fields.minutes[0]];
  if (hour === undefined || minute === undefined) return null;
  if (fields.hours.length > 1 || fields.minutes.length > 1) return null;
  if (texts[2] !== "*" || texts[3] !== "*") return null;
  const time = `${hour % 12 === 0 ? 12 : hour % 12}:${String(minute).padStart(2, "0")} ${hour < 12 ? "AM" : "PM"}`;
  return `${renderWeekdays(fields.weekdays)} at ${time}`;
}

function renderWeekdays(weekdays: readonly number[]): string {
  const key = weekdays.join("");
  if (key === "0123456") return "Every day";
  if (key === "12345") return "Weekdays";
  if (key === "06") return "Weekends";
  const names = weekdays.map((day) => DAYS[day] ?? "");
  return names.length === 1 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function renderOther(fields: CronFields, texts: readonly string[]): string {
  const [minute = "", hour = "", ...days] = texts;
  // Cronstrue wrongly calls */45 "every 45 minutes": it means minute 0 and minute 45.
  const minutes = 60 % (readStep(minute) ?? 1) === 0 ? minute : fields.minutes.join();
  const hours = 24 % (readStep(hour) ?? 1) === 0 ? hour : fields.hours.join();
  const expr = [minutes, hours, ...days].join(" ");
  try {
    return cronstrue.toString(expr, { logicalAndDayFields: fields.bothDays, trimHoursLeadingZero: true });
  } catch {
    return texts.join(" ");
  }
}

function readStep(text: string): number | null {
  const match = /^\*(?:\/(\d+))?$/.exec(text);
  return match === null ? null : Number(match[1] ?? 1);
}

function renderEvery(ms: number): string {
  const [length, unit] = LENGTHS.find(([size]) => ms >= size && ms % size === 0) ?? [1, "millisecond"];
  return everyUnit(ms / length, unit);
}

function everyUnit(count: number, unit: string): string {
  return count === 1 ? `Every ${unit}` : `Every ${count} ${unit}s`;
}

function renderMoment(at: number, tz: string): string {
  const two = "2-digit" as const;
  const fields = { year: "numeric", month: two, day: two, hour: two, minute: two, hourCycle: "h23" } as const;
  try {
    const parts = new Intl.DateTimeFormat("en-US", { ...fields, timeZone: tz }).formatToParts(at);
    const part = (type: string) => parts.find((candidate) => candidate.type === type)?.value ?? "";
    return `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")} (${tz})`;
  } catch {
    return tz === "UTC" ? "an unknown time" : renderMoment(at, "UTC");
  }
}
