/** A turn inside a conversation, for the engine: its text, its end, and the state of an earlier turn. */
import type { Agent, Turn, TurnControl, TurnEnd, TurnFate } from "../../ports/agent.ts";
import type { SeatEnd } from "../../ports/sessions.ts";
import type { Seat } from "./seat.ts";

/** The text of a turn for the conversation. `isDirected`: the text includes the waiting directive. */
export function turnText(
  turn: Turn,
  { directive, session }: Seat["record"],
): { readonly text: string; readonly isDirected: boolean } {
  const isDirected = turn.env.LOOP_KIND === "work" && directive !== null;
  // the earlier turns ran in another conversation
  const isFresh = turn.conversation !== null && turn.conversation.id !== session;
  const prompt = isFresh ? (turn.textIfFresh ?? turn.text) : turn.text;
  return { text: isDirected ? `${directive}\n\n${prompt}` : prompt, isDirected };
}

/** Resolves when the turn has ended; null: the signal came first. */
export async function whenOver(seat: Seat, turn: Turn, signal: AbortSignal): Promise<TurnEnd | null> {
  const find = () => {
    const { turn: there } = seat.record;
    return there?.id === turn.id ? there.end : GONE;
  };
  const end = await seat.watch(find, signal);
  // The end stays in the record until the next turn: this process may die before the journal has it.
  return end === null ? null : toTurnEnd(seat, end);
}

const GONE: SeatEnd = { kind: "interrupted", reason: "the conversation has no record of this turn" };

interface Reconciling {
  readonly seat: Seat;
  /** Finds turns that ran as separate processes. */
  readonly processes: Agent;
  readonly follow: (turn: Turn, control: TurnControl) => Promise<TurnEnd>;
}

export async function reconcileSeated(
  { seat, processes, follow }: Reconciling,
  turn: Turn,
  control: TurnControl,
): Promise<TurnFate> {
  const { turn: there, client } = seat.record;
  // not in this conversation: a runner may have started the turn, and its ticket shows that
  if (there?.id !== turn.id || there.token !== turn.token) return processes.reconcile(turn, control);
  if (there.end === null) return { kind: "running", process: client, end: follow(turn, control) };
  if (there.end.kind === "interrupted") return { kind: "lost", reason: there.end.reason };
  return { kind: "ended", end: toTurnEnd(seat, there.end) };
}

function toTurnEnd(seat: Seat, end: SeatEnd): TurnEnd {
  const conversation = { id: seat.record.session, costUsd: null };
  if (end.kind === "interrupted") return { kind: "cancelled", conversation };
  // The client may write the usage later; the turn is priced then.
  const { answer, usage = null, edits = {} } = end;
  if (end.kind === "failed")
    return { kind: "failed", answer, failure: end.failure, usage, conversation, activity: null };
  const activity = { toolCalls: end.toolCalls, edits, denials: [] };
  return { kind: "ok", answer, usage, conversation, activity };
}
