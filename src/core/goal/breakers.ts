/** Signs that a loop makes no progress (B11). A breaker pauses a loop; it never ends one. */
import { tellingLine } from "../text/telling-line.ts";
import type { Breakers, Failure, Goal, Pause } from "./goal.ts";

export const STUCK_LIMIT = 5;
export const ERROR_LIMIT = 3;
export const EDIT_LIMIT = 5;
export const NOOP_LIMIT = 3;
export const STILL_LIMIT = 6;

export const NO_BREAKERS: Breakers = {
  stuckCount: 0,
  lastUnmet: [],
  errorCount: 0,
  lastError: null,
  stillCount: 0,
  freeFailures: 0,
  freeClass: null,
  mostEdited: null,
  noopCount: 0,
  patterns: {},
};

/** After a person continues, the counts start again. */
export function resetBreakers(breakers: Breakers): Breakers {
  return { ...NO_BREAKERS, patterns: breakers.patterns };
}

/** How many failures of this class in a row cost no iteration before this one. */
export function earlierFailures({ freeClass, freeFailures }: Breakers, failure: Failure): number {
  return freeClass === failure.class ? freeFailures : 0;
}

export function countFree(breakers: Breakers, failure: Failure): Breakers {
  const freeFailures = earlierFailures(breakers, failure) + 1;
  return { ...breakers, freeClass: failure.class, freeFailures };
}

/** Counts how often in a row the agent failed in the same way. */
export function countError(breakers: Breakers, reason: string): Breakers {
  const lastError = signatureOf(reason);
  const errorCount = lastError === breakers.lastError ? breakers.errorCount + 1 : 1;
  return { ...breakers, errorCount, lastError };
}

export function countRound(breakers: Breakers, unmet: readonly string[], hasMoved: boolean): Breakers {
  const { lastUnmet } = breakers;
  const isSame = unmet.length === lastUnmet.length && unmet.every((name) => lastUnmet.includes(name));
  return {
    ...breakers,
    stuckCount: unmet.length === 0 ? 0 : isSame && !hasMoved ? breakers.stuckCount + 1 : 1,
    lastUnmet: unmet,
    stillCount: hasMoved ? 0 : breakers.stillCount + 1,
  };
}

/** B18: counts turns that changed the same few files. */
export function countPattern(breakers: Breakers, files: readonly string[]): Breakers {
  if (files.length === 0 || files.length > 3) return breakers;
  const name = [...files].sort().join(", ");
  const patterns = { ...breakers.patterns, [name]: (breakers.patterns[name] ?? 0) + 1 };
  return { ...breakers, patterns };
}

type Tripped = Pick<Pause, "reason" | "evidence">;

export function trippedBreaker(goal: Goal): Tripped | null {
  const { noopCount, errorCount, lastError, mostEdited, stuckCount, stillCount, lastUnmet } = goal.breakers;
  const tripped = (reason: string, evidence: readonly string[]): Tripped => ({ reason, evidence });
  const unmet = () => lastUnmet.map((name) => unmetLine(goal, name));
  if (noopCount >= NOOP_LIMIT) {
    const reason = `the agent claimed to be done ${noopCount} times without doing anything`;
    return tripped(reason, ["no file changed, no tool was used, no check moved"]);
  }
  if (errorCount >= ERROR_LIMIT) {
    const error = goal.receipts.at(-1)?.failure?.reason ?? lastError ?? "";
    return tripped(`the same error ${errorCount} times in a row`, [error]);
  }
  if (mostEdited !== null && mostEdited.count >= EDIT_LIMIT)
    return tripped(`one file was edited ${mostEdited.count} times in one iteration`, [mostEdited.path]);
  if (stuckCount >= STUCK_LIMIT)
    return tripped(`the same criteria were unmet ${stuckCount} times in a row`, unmet());
  if (stillCount >= goal.policy.stillLimit)
    return tripped(`no check moved in ${stillCount} iterations`, unmet());
  return null;
}

export function unmetLine({ evidence }: Goal, name: string): string {
  const found = evidence[name];
  if (found === undefined) return `${name}: never checked`;
  if (found.note !== null) return `${name}: ${found.note}`;
  if (found.timedOut) return `${name}: ran out of time`;
  const said = tellingLine(found.tail).slice(0, 200);
  const how = found.value === null ? `exit ${found.exitCode ?? "by a signal"}` : `${found.value}`;
  return `${name}: ${how}${said === "" ? "" : `: ${said}`}`;
}

/** An error message without its numbers, times, ids and paths, so that two reports of one error are equal. */
export function signatureOf(reason: string): string {
  return reason
    .toLowerCase()
    .replaceAll(/(?:\/[\w.@-]+){2,}/g, "<path>")
    .replaceAll(/\b[0-9a-f]{7,}\b/g, "<id>")
    .replaceAll(/\d+/g, "<n>")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 300);
}
