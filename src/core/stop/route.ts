/**
 * What becomes of a conversation that wants to stop (D2, D3). Pure: whoever answers a stop hook gathers the facts,
 * and `loop route` shows the same answer without doing anything.
 *
 * The order of the rows is the meaning: the first that fits decides. Everything that is not plainly this
 * conversation's own loop at work lets the stop happen: a loop never traps a conversation that did not start it.
 */
import type { Gate, GoalStatus, PauseCode } from "../goal/goal.ts";

/** The loop, as far as a stop is concerned. */
export interface BoundLoop {
  readonly id: string;
  /** The session that it is bound to, as the host names it; null: none. */
  readonly session: string | null;
  readonly status: GoalStatus;
  readonly pause: { readonly code: PauseCode; readonly reason: string; readonly goOn: string } | null;
  readonly end: { readonly status: string; readonly reason: string } | null;
  readonly gate: Pick<Gate, "question"> | null;
  /** A quota or an outage: not before this. */
  readonly waitUntil: number | null;
  readonly waitReason: string | null;
  /** Is a turn, or a round of checks, intended or under way? */
  readonly isBusy: boolean;
}

export interface StopFacts {
  /** What the client calls the conversation; empty binds to nothing. */
  readonly session: string;
  readonly now: number;
  /** Why the state cannot be read; null: it can. */
  readonly broken: string | null;
  /** Why loops do nothing here (A20); null: they do. */
  readonly off: string | null;
  /** The loop bound to this session, or else the newest of this folder; null: there is none. */
  readonly loop: BoundLoop | null;
  /** Who else holds the lease; null: nobody, or this conversation. */
  readonly otherOwner: string | null;
  /** The person has typed something that waits for the stop. */
  readonly isSomeoneWaiting: boolean;
  /** What a person types in this conversation to reach us, such as `/loop`. */
  readonly commandName: string;
}

/** The word by which programs know why it stopped. */
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
      /** The row that decided. */
      readonly row: string;
      readonly word: TerminalWord | null;
      /** One short line for the person; null: nothing that concerns them. */
      readonly message: string | null;
    }
  /** Take the end of the turn, run the checks, and go on with what comes next. */
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

/** A command of the terminal as it is typed in a conversation. */
function inConversation(command: string, commandName: string): string {
  return command.replace(/^loop(?= )/, () => commandName);
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
  const how = pause === null ? "" : ` Go on with: ${inConversation(pause.goOn, commandName)}`;
  return allow("paused", word, `[LOOP] ${word} ${id}${why}.${how}`);
}
