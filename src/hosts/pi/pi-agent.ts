/**
 * The live conversation of pi as an agent: a turn is a message that we send, and ends with the run that it starts. A
 * turn that is not wanted any more is stopped, as with any other agent.
 */
import { randomUUID } from "node:crypto";
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

export interface PiAgentParts {
  readonly seat: Seat;
  /** Finds turns that were processes of their own. */
  readonly processes: Agent;
  /** Resolves with false when the signal came first. */
  readonly whenFree: (signal: AbortSignal) => Promise<boolean>;
  /** false: the conversation is not there any more. */
  readonly send: (text: string) => boolean;
  /** Stops the run that our turn is in. */
  readonly stop: () => void;
  readonly now: () => number;
}

export function createPiAgent(parts: PiAgentParts): Agent {
  const { seat, now } = parts;
  return {
    name: "conversation",
    async run(turn, control) {
      const timeoutMs = Math.max(0, turn.deadlineAt - now());
      // somebody may have begun to talk since this was intended
      if (!(await parts.whenFree(control.signal))) return { kind: "cancelled" };
      if (!deliver(parts, turn)) return notTaken();
      control.onStarted(seat.record.client);
      return follow(parts, turn, control, timeoutMs);
    },
    async reconcile(turn, control): Promise<TurnFate> {
      const { turn: there, client } = seat.record;
      // not here: a runner may have started it, and its ticket tells
      if (there?.id !== turn.id || there.token !== turn.token)
        return parts.processes.reconcile(turn, control);
      const timeoutMs = Math.max(0, turn.deadlineAt - now());
      if (there.end === null)
        return { kind: "running", process: client, end: follow(parts, turn, control, timeoutMs) };
      if (there.end.kind === "interrupted") return { kind: "lost", reason: there.end.reason };
      return { kind: "ended", end: toTurnEnd(seat, there.end) };
    },
  };
}

/** Written down before it is sent: what pi tells of it from then on is the turn's. */
function deliver({ seat, send }: PiAgentParts, turn: Turn): boolean {
  const { text, isDirected } = turnText(turn, seat.record);
  void seat.offer(randomUUID(), NEVER);
  seat.deliver(turn, text);
  if (!send(text)) {
    seat.forget(turn.id);
    return false;
  }
  if (isDirected) seat.update({ directive: null });
  return true;
}

const NEVER = new AbortController().signal;

async function follow(
  { seat, stop }: PiAgentParts,
  turn: Turn,
  { signal }: TurnControl,
  timeoutMs: number,
): Promise<TurnEnd> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), Math.min(timeoutMs, MOST_MS));
  const find = () => {
    const { turn: there } = seat.record;
    return there?.id === turn.id ? there.end : GONE;
  };
  const end = await seat.watch(find, AbortSignal.any([signal, deadline.signal]));
  clearTimeout(timer);
  if (end !== null) return toTurnEnd(seat, end);
  if (signal.reason === ABANDONED) return { kind: "cancelled" };
  seat.forget(turn.id);
  stop();
  return signal.aborted
    ? { kind: "cancelled" }
    : failed("timeout", "the turn took too long, and was stopped");
}

/** The longest that a timer of Node's can wait. */
const MOST_MS = 2 ** 31 - 1;

const GONE: SeatEnd = { kind: "interrupted", reason: "the conversation knows nothing of it any more" };

function toTurnEnd(seat: Seat, end: SeatEnd): TurnEnd {
  const conversation = { id: seat.record.session, costUsd: null };
  if (end.kind === "interrupted") return { kind: "cancelled", conversation };
  const { answer, usage = null, edits = {} } = end;
  if (end.kind === "failed")
    return { kind: "failed", answer, failure: end.failure, usage, conversation, activity: null };
  const activity = { toolCalls: end.toolCalls, edits, denials: [] };
  return { kind: "ok", answer, usage, conversation, activity };
}

function notTaken(): TurnEnd {
  return failed("outage", "the conversation was closed before it took the prompt");
}

function failed(type: "outage" | "timeout", reason: string): TurnEnd {
  return {
    kind: "failed",
    ...{ answer: "", usage: null, conversation: null, activity: null },
    failure: { class: type, reason, resetsAt: null },
  };
}
