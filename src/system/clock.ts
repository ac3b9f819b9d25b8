import type { Clock } from "../ports/clock.ts";

/** Wall-clock time. Schedules are promises about the wall clock, so a timer is checked against it when it fires. */
export const systemClock: Clock = {
  now: () => Date.now(),
  wake(at, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, at - Date.now()), 0x7fff_ffff));
    return { cancel: () => clearTimeout(timer) };
  },
};
