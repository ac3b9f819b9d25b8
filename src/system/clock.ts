import type { Clock } from "../ports/clock.ts";

/** Wall-clock time. Schedules follow the wall clock, so every timer is checked against it. */
export const systemClock: Clock = {
  now: () => Date.now(),
  wake(at, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, at - Date.now()), 0x7fff_ffff));
    return { cancel: () => clearTimeout(timer) };
  },
};
