/** The class of an agent's failure decides the remedy, and whether it costs an iteration (B13). */
import type { Failure, FailureClass, PauseCode } from "./goal/goal.ts";
import { DAY, HOUR, MINUTE, SECOND } from "./task/interval.ts";

export type Remedy =
  /** The agent caused the failure: it costs an iteration. */
  | { readonly kind: "count" }
  | { readonly kind: "wait"; readonly until: number; readonly reason: string }
  /** Start a new conversation. */
  | { readonly kind: "fresh" }
  /** Run the checks and go on. */
  | { readonly kind: "check" }
  | { readonly kind: "pause"; readonly code: PauseCode; readonly reason: string };

/** A quota lasts hours or a week. A later reset time is not credible. */
const LONGEST_QUOTA_MS = 8 * DAY;

/** How many free failures in a row are allowed before the loop pauses. */
const PATIENCE: Readonly<Record<FailureClass, number>> = {
  quota: 48,
  auth: 0,
  outage: 20,
  timeout: 2,
  denied: 0,
  overflow: 1,
  fault: Number.POSITIVE_INFINITY,
};

/** `earlier`: free failures in a row before this one. `spread`: 0 to 1, so that many loops do not retry at once. */
export function remedyFor(failure: Failure, earlier: number, spread: number, now: number): Remedy {
  const { reason } = failure;
  if (earlier >= PATIENCE[failure.class]) return giveUp(failure, earlier);
  switch (failure.class) {
    case "fault":
      return { kind: "count" };
    case "quota": {
      const first = failure.resetsAt === null ? 5 * MINUTE : MINUTE;
      const until = resetOf(failure, now) ?? now + backoff(earlier, first, HOUR, 0);
      return { kind: "wait", until, reason };
    }
    case "outage":
      return { kind: "wait", until: now + backoff(earlier, 5 * SECOND, 10 * MINUTE, spread), reason };
    case "timeout":
      return { kind: "check" };
    case "overflow":
      return { kind: "fresh" };
    case "auth":
    case "denied":
      return giveUp(failure, earlier);
  }
}

/** The end of a quota, if the agent named a credible time. */
export function resetOf({ class: kind, resetsAt }: Failure, now: number): number | null {
  const isTime =
    kind === "quota" && resetsAt !== null && resetsAt > now && resetsAt - now <= LONGEST_QUOTA_MS;
  return isTime ? resetsAt + SECOND : null;
}

function backoff(earlier: number, first: number, most: number, spread: number): number {
  const base = Math.min(most, first * 2 ** Math.min(earlier, 16));
  return Math.round(base * (1 + 0.25 * spread));
}

const GIVEN_UP: Readonly<Partial<Record<FailureClass, readonly [PauseCode, why: string]>>> = {
  auth: ["auth", "the agent has no access to its model"],
  denied: ["denied", "the agent was denied a permission"],
  overflow: ["failures", "a fresh context was too small as well"],
};

function giveUp({ class: kind, reason }: Failure, earlier: number): Remedy {
  const [code, why] = GIVEN_UP[kind] ?? ["failures", `${earlier + 1} times in a row`];
  return { kind: "pause", code, reason: `${why}: ${reason}` };
}
