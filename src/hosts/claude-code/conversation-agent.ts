/**
 * A live conversation as an agent: a turn is a prompt that goes out with the answer to a hook, and ends with the
 * conversation's next stop. Nothing can be started or killed here; a turn that is not wanted any more is let go, and
 * the person decides what becomes of it in their conversation.
 */
import {
  ABANDONED,
  type Agent,
  type Turn,
  type TurnControl,
  type TurnEnd,
  type TurnFate,
} from "../../ports/agent.ts";
import type { SeatEnd } from "../../store/folder/session-records.ts";
import type { Seat } from "../conversation/seat.ts";
import { turnText } from "../conversation/turn-text.ts";
import { packTurn } from "./pack-turn.ts";

export interface ConversationAgentParts {
  readonly seat: Seat;
  readonly dir: string;
  /** Finds turns that were processes of their own. */
  readonly processes: Agent;
  /** Wakes the idle conversation, so that a hook comes and asks. Resolves with false when that cannot be done. */
  readonly wake: (turn: Turn, signal: AbortSignal) => Promise<boolean>;
}

export function createConversationAgent(parts: ConversationAgentParts): Agent {
  const { seat, dir } = parts;
  return {
    name: "conversation",
    async run(turn, control) {
      if (!seat.isWaiting && !(await parts.wake(turn, control.signal))) {
        if (control.signal.aborted) return { kind: "cancelled" };
        return notTaken();
      }
      if (control.signal.aborted) return { kind: "cancelled" };
      const { text, isDirected } = turnText(turn, seat.record);
      if (!seat.deliver(turn, packTurn(dir, { ...turn, text }))) return notTaken();
      if (isDirected) seat.update({ directive: null });
      control.onStarted(seat.record.client);
      return follow(seat, turn, control);
    },
    async reconcile(turn, control): Promise<TurnFate> {
      const { turn: there, client } = seat.record;
      // not here: a runner may have started it, and its ticket tells
      if (there?.id !== turn.id || there.token !== turn.token)
        return parts.processes.reconcile(turn, control);
      if (there.end === null) return { kind: "running", process: client, end: follow(seat, turn, control) };
      const end = toTurnEnd(seat, there.end);
      return end.kind === "cancelled"
        ? { kind: "lost", reason: reasonOf(there.end) }
        : { kind: "ended", end };
    },
  };
}

async function follow(seat: Seat, turn: Turn, { signal }: TurnControl): Promise<TurnEnd> {
  const find = () => {
    const { turn: there } = seat.record;
    return there?.id === turn.id ? there.end : GONE;
  };
  const end = await seat.watch(find, signal);
  if (end === null) {
    if (signal.reason !== ABANDONED) seat.forget(turn.id);
    return { kind: "cancelled" };
  }
  // It stays in the record until the next one: who reads it may die before it is written down.
  return toTurnEnd(seat, end);
}

const GONE: SeatEnd = { kind: "interrupted", reason: "the conversation knows nothing of it any more" };

function toTurnEnd(seat: Seat, end: SeatEnd): TurnEnd {
  const conversation = { id: seat.record.session, costUsd: null };
  switch (end.kind) {
    case "ok": {
      const { answer, toolCalls } = end;
      // what it used is written down by the client some moments after its end: pricing.ts
      return {
        kind: "ok",
        answer,
        usage: null,
        conversation,
        activity: { toolCalls, edits: {}, denials: [] },
      };
    }
    case "failed":
      return {
        kind: "failed",
        answer: end.answer,
        failure: end.failure,
        usage: null,
        conversation,
        activity: null,
      };
    case "interrupted":
      return { kind: "cancelled", conversation };
  }
}

function reasonOf(end: SeatEnd): string {
  return end.kind === "interrupted" ? end.reason : "it has ended";
}

function notTaken(): TurnEnd {
  const reason = "the conversation was not free, and did not take the wake-up";
  return {
    kind: "failed",
    ...{ answer: "", usage: null, conversation: null, activity: null },
    failure: { class: "outage", reason, resetsAt: null },
  };
}
