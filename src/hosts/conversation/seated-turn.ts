/** A turn that was put into a conversation, as the engine sees it: how it ends, and what became of one from before. */
import type { FailureClass } from "../../core/goal/goal.ts";
import type { Agent, Turn, TurnControl, TurnEnd, TurnFate } from "../../ports/agent.ts";
import type { SeatEnd } from "../../ports/sessions.ts";
import type { Seat } from "./seat.ts";

/** Resolves when the turn is over; null: the signal came first. */
export async function whenOver(seat: Seat, turn: Turn, signal: AbortSignal): Promise<TurnEnd | null> {
  const find = () => {
    const { turn: there } = seat.record;
    return there?.id === turn.id ? there.end : GONE;
  };
  const end = await seat.watch(find, signal);
  // It stays in the record until the next one: who reads it may die before it is written down.
  return end === null ? null : toTurnEnd(seat, end);
}

const GONE: SeatEnd = { kind: "interrupted", reason: "the conversation knows nothing of it any more" };

export interface Reconciling {
  readonly seat: Seat;
  /** Finds turns that were processes of their own. */
  readonly processes: Agent;
  readonly follow: (turn: Turn, control: TurnControl) => Promise<TurnEnd>;
}

export async function reconcileSeated(
  { seat, processes, follow }: Reconciling,
  turn: Turn,
  control: TurnControl,
): Promise<TurnFate> {
  const { turn: there, client } = seat.record;
  // not here: a runner may have started it, and its ticket tells
  if (there?.id !== turn.id || there.token !== turn.token) return processes.reconcile(turn, control);
  if (there.end === null) return { kind: "running", process: client, end: follow(turn, control) };
  if (there.end.kind === "interrupted") return { kind: "lost", reason: there.end.reason };
  return { kind: "ended", end: toTurnEnd(seat, there.end) };
}

function toTurnEnd(seat: Seat, end: SeatEnd): TurnEnd {
  const conversation = { id: seat.record.session, costUsd: null };
  if (end.kind === "interrupted") return { kind: "cancelled", conversation };
  // without usage: the client writes that down some moments later, and the turn is priced then
  const { answer, usage = null, edits = {} } = end;
  if (end.kind === "failed")
    return { kind: "failed", answer, failure: end.failure, usage, conversation, activity: null };
  const activity = { toolCalls: end.toolCalls, edits, denials: [] };
  return { kind: "ok", answer, usage, conversation, activity };
}

/** It never ran, or nobody knows what it said. */
export function failedTurn(type: FailureClass, reason: string): TurnEnd {
  return {
    kind: "failed",
    answer: "",
    failure: { class: type, reason, resetsAt: null },
    usage: null,
    conversation: null,
    activity: null,
  };
}
