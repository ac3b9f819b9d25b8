/** Why a turn is stopped early. The first cause wins. Owns the timers of a turn, and stops nothing itself. */
import { findFlood, type OutputFile } from "./run-folder.ts";

export type Stop =
  | { readonly kind: "aborted" }
  | { readonly kind: "deadline" }
  | { readonly kind: "flood"; readonly file: OutputFile };

export interface StopLimits {
  readonly now: () => number;
  readonly maxOutputBytes: number;
  readonly sizeCheckMs: number;
}

const LONGEST_TIMER_MS = 30_000;

/** Resolves with the first reason to stop the turn, or with null when `over` resolved earlier. */
export function firstStop(
  limits: StopLimits,
  deadlineAt: number,
  signal: AbortSignal,
  folder: string,
  over: Promise<unknown>,
): Promise<Stop | null> {
  return new Promise((done) => {
    let timer: NodeJS.Timeout | undefined;
    const settle = (stop: Stop | null): void => {
      clearTimeout(timer);
      clearInterval(sizes);
      signal.removeEventListener("abort", onAbort);
      done(stop);
    };
    const onAbort = (): void => settle({ kind: "aborted" });
    // short timers: they do not count while the machine sleeps, and the clock may change
    const tick = (): void => {
      const left = deadlineAt - limits.now();
      if (left <= 0) settle({ kind: "deadline" });
      else timer = setTimeout(tick, Math.min(left, LONGEST_TIMER_MS));
    };
    const sizes = setInterval(() => {
      const file = findFlood(folder, limits.maxOutputBytes);
      if (file !== undefined) settle({ kind: "flood", file });
    }, limits.sizeCheckMs);
    signal.addEventListener("abort", onAbort);
    void over.then(() => settle(null));
    if (signal.aborted) onAbort();
    else tick();
  });
}

/** One line for a person. `allowedMs`: the time limit of the turn. */
export function describeStop(
  stop: Exclude<Stop, { kind: "aborted" }>,
  limits: StopLimits,
  allowedMs: number,
): string {
  if (stop.kind === "deadline") return `timed out after ${renderLength(allowedMs)}`;
  return `stopped because it printed more than ${renderSize(limits.maxOutputBytes)} to ${stop.file}`;
}

function renderLength(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  // round, because the engine used some seconds before the start
  const seconds = ms < 600_000 ? Math.round(ms / 1_000) : Math.round(ms / 60_000) * 60;
  const parts = [
    [Math.floor(seconds / 3_600), "h"],
    [Math.floor((seconds % 3_600) / 60), "m"],
    [seconds % 60, "s"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join("");
}

function renderSize(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KiB` : `${Math.round(bytes / 1024 / 1024)} MiB`;
}
