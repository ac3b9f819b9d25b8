/**
 * The live conversation of pi as an agent: a turn is a message that we send, and ends with the run that it starts. A
 * turn that is not wanted any more is stopped, as with any other agent.
 */
import { randomUUID } from "node:crypto";
import { ABANDONED, type Agent, type Turn, type TurnControl, type TurnEnd } from "../../ports/agent.ts";
import type { Seat } from "../conversation/seat.ts";
import { failedTurn, reconcileSeated, whenOver } from "../conversation/seated-turn.ts";
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

export function createPiSeatAgent(parts: PiAgentParts): Agent {
  const { seat, processes, now } = parts;
  const timeoutOf = ({ deadlineAt }: Turn) => Math.max(0, deadlineAt - now());
  const reconciling = {
    seat,
    processes,
    follow: (turn: Turn, control: TurnControl) => followTurn(parts, turn, control, timeoutOf(turn)),
  };
  return {
    name: "conversation",
    async run(turn, control) {
      const timeoutMs = timeoutOf(turn);
      // somebody may have begun to talk since this was intended
      if (!(await parts.whenFree(control.signal))) return { kind: "cancelled" };
      if (!deliver(parts, turn))
        return failedTurn("outage", "the conversation was closed before it took the prompt");
      control.onStarted(seat.record.client);
      return followTurn(parts, turn, control, timeoutMs);
    },
    reconcile: (turn, control) => reconcileSeated(reconciling, turn, control),
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

async function followTurn(
  { seat, stop }: PiAgentParts,
  turn: Turn,
  { signal }: TurnControl,
  timeoutMs: number,
): Promise<TurnEnd> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), Math.min(timeoutMs, MOST_MS));
  const end = await whenOver(seat, turn, AbortSignal.any([signal, deadline.signal]));
  clearTimeout(timer);
  if (end !== null) return end;
  if (signal.reason === ABANDONED) return { kind: "cancelled" };
  seat.forget(turn.id);
  stop();
  return signal.aborted
    ? { kind: "cancelled" }
    : failedTurn("timeout", "the turn took too long, and was stopped");
}

/** The longest that a timer of Node's can wait. */
const MOST_MS = 2 ** 31 - 1;
