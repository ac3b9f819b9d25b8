/**
 * Decides whether a conversation may stop (D2, D3). Pure: the caller gathers the facts, and `loop route` shows the same
 * answer without any effect.
 *
 * The first row that fits decides. A loop holds only the conversation that started it; in doubt the stop is allowed.
 */
import type { Gate, Goal, Pause, PauseCode } from "../goal/goal.ts";

/** The parts of a loop that matter for a stop. `session` is as the host names it. */
export interface BoundLoop extends Pick<Goal, "session" | "status" | "waitUntil" | "waitReason"> {
  readonly id: string;
  readonly pause: Pick<Pause, "code" | "reason" | "goOn"> | null;
  readonly end: { readonly status: string; readonly reason: string } | null;
  readonly gate: Pick<Gate, "question"> | null;
  /** A turn or a round of checks is intended or running. */
  readonly isBusy: boolean;
}

export interface StopFacts {
  /** The client's id of the conversation; an empty id matches no loop. */
  readonly session: string;
  readonly now: number;
  /** Why the state cannot be read; null: it is readable. */
  readonly broken: string | null;
  /** Why loops are switched off here (A20); null: they are on. */
  readonly off: string | null;
  /** The loop of this session, or else the newest of this folder; null: none. */
  readonly loop: BoundLoop | null;
  /** Another holder of the lease; null: nobody, or this conversation. */
  readonly otherOwner: string | null;
  /** The person typed something that waits for the stop. */
  readonly isSomeoneWaiting: boolean;
  /** The command in this conversation, such as `/loop`. */
  readonly commandName: string;
}

/** The word that tells programs why the loop stopped. */
export type TerminalWord =
  | "LOOP_DONE"
  | "MAX_ITERATIONS"
  | "BUDGET_EXHAUSTED"
  | "BREAKER_OPEN"
  | "LOCK_CONFLICT"
  | "PAUSED"
  | "CANCELLED"
  | "WAITING";

export type Route =
  | {
      readonly kind: "allow";
      readonly row: string;
      readonly word: TerminalWord | null;
      /** One short line for the person; null: nothing to say. */
      readonly message: string | null;
    }
  /** Record the end of the turn, run the checks, and start the next turn. */
  | { readonly kind: "go-on"; readonly row: "verify"; readonly loop: string };

export function routeStop(facts: StopFacts): Route {
  const { loop, now, commandName } = facts;
  if (facts.broken !== null)
    return allow("broken state", null, `[LOOP] The stop is allowed: ${facts.broken}`);
  if (loop === null) return allow("no loop", null, null);
  if (facts.session === "" || loop.session !== facts.session) return allow("not this session's", null, null);
  if (facts.off !== null) return allow("switched off", null, `[LOOP] ${loop.id} does not run: ${facts.off}`);
  if (loop.status === "ended") return allowEnded(loop);
  if (facts.isSomeoneWaiting) return allow("a person waits", null, null);
  if (loop.status === "paused") return allowPaused(loop, commandName);
  if (facts.otherOwner !== null)
    return allow(
      "lock conflict",
      "LOCK_CONFLICT",
      `[LOOP] LOCK_CONFLICT: ${facts.otherOwner} works in this folder; ${loop.id} continues when the folder is free.`,
    );
  if (loop.gate !== null && !loop.isBusy)
    return allow(
      "waits for an answer",
      "WAITING",
      `[LOOP] ${loop.id} asks: ${loop.gate.question} Answer: ${commandName} approve | reject`,
    );
  if (loop.waitUntil !== null && loop.waitUntil > now && !loop.isBusy)
    return allow(
      "sleeps",
      "WAITING",
      `[LOOP] ${loop.id} waits until ${new Date(loop.waitUntil).toISOString()}: ${loop.waitReason ?? "no reason given"}. To continue now: ${commandName} continue --now`,
    );
  return { kind: "go-on", row: "verify", loop: loop.id };
}

function allow(row: string, word: TerminalWord | null, message: string | null): Route {
  return { kind: "allow", row, word, message };
}

function allowEnded({ id, end }: BoundLoop): Route {
  const word = end?.status === "done" ? "LOOP_DONE" : "CANCELLED";
  return allow("ended", word, `[LOOP] ${word}: ${id}, ${end?.reason ?? "it has ended"}`);
}

const WORDS: Readonly<Partial<Record<PauseCode, TerminalWord>>> = {
  iterations: "MAX_ITERATIONS",
  budget: "BUDGET_EXHAUSTED",
  tokens: "BUDGET_EXHAUSTED",
  time: "BUDGET_EXHAUSTED",
  breaker: "BREAKER_OPEN",
  "must-not": "BREAKER_OPEN",
  integrity: "BREAKER_OPEN",
};

function allowPaused({ id, pause }: BoundLoop, commandName: string): Route {
  const word = pause === null ? "PAUSED" : (WORDS[pause.code] ?? "PAUSED");
  const why = pause === null ? "" : `: ${pause.reason}`;
  // `loop continue` as a person types it in a conversation: `/loop continue`
  const how = pause === null ? "" : ` Go on with: ${pause.goOn.replace(/^loop(?= )/, () => commandName)}`;
  return allow("paused", word, `[LOOP] ${word} ${id}${why}.${how}`);
}
