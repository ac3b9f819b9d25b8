/** Jitter spreads tasks that many people schedule for the same minute. It depends only on the id of the task. */
import type { Cadence, LoopId } from "../loop.ts";
import { slotAfter } from "./slots.ts";

const MAX_LATE_MS = 15 * 60_000;
const MAX_EARLY_MS = 90_000;
/** Enough to see the shortest gap of an uneven expression such as weekdays at nine. */
const GAPS_LOOKED_AT = 8;

/** Milliseconds to add to each slot of the task (A6): late when recurring, early for a one-shot. */
export function jitterFor(id: LoopId, cadence: Cadence, createdAt: number): number {
  const part = Number.parseInt(id.slice(0, 8), 16) / 0x1_0000_0000;
  switch (cadence.kind) {
    case "cron":
    case "every":
      return Math.floor(part * Math.min(shortestGapMs(cadence, createdAt) / 10, MAX_LATE_MS));
    case "once": {
      if (!isOnHalfHour(cadence.at, cadence.tz)) return 0;
      const earliest = Math.min(0, createdAt - cadence.at);
      return Math.max(earliest, -Math.floor(part * MAX_EARLY_MS)) || 0;
    }
    case "paced":
      return 0;
  }
}

function shortestGapMs(cadence: Cadence, fromAt: number): number {
  if (cadence.kind === "every") return cadence.everyMs;
  let shortest = Number.POSITIVE_INFINITY;
  let slot = slotAfter(cadence, fromAt);
  for (let i = 0; i < GAPS_LOOKED_AT && slot !== null; i++) {
    const next = slotAfter(cadence, slot);
    if (next === null) break;
    shortest = Math.min(shortest, next - slot);
    slot = next;
  }
  return shortest;
}

function isOnHalfHour(at: number, tz: string): boolean {
  if (at % 60_000 !== 0) return false;
  const minute = new Intl.DateTimeFormat("en-US", { timeZone: tz, minute: "numeric" }).format(at);
  return Number(minute) % 30 === 0;
}
