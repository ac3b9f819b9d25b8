/** A live pi conversation as an agent: a turn is a message that we send, and it ends with its run. */
import { randomUUID } from "node:crypto";
import { ABANDONED, type Agent, type Turn, type TurnControl, type TurnEnd } from "../../ports/agent.ts";
import type { Seat } from "../conversation/seat.ts";
import { failedTurn, reconcileSeated, turnText, whenOver } from "../conversation/seated-turn.ts";

interface PiAgentParts {
  readonly seat: Seat;
  /** Finds turns that ran as separate processes. */
  readonly processes: Agent;
  /** Resolves with false if the signal came first. */
  readonly whenFree: (signal: AbortSignal) => Promise<boolean>;
  /** false: the conversation has ended. */
  readonly send: (text: string) => boolean;
  /** Stops the run of our turn. */
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
      // the person may have started to type since the decision
      if (!(await parts.whenFree(control.signal))) return { kind: "cancelled" };
      if (!deliver(parts, turn))
        return failedTurn("outage", "the conversation ended before it received the prompt");
      control.onStarted(seat.record.client);
      return followTurn(parts, turn, control, timeoutMs);
    },
    reconcile: (turn, control) => reconcileSeated(reconciling, turn, control),
  };
}

/** Records the turn before it is sent, because pi's next events belong to it. */
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
    : failedTurn("timeout", "the turn took too long and was stopped");
}

/** The longest delay of a Node timer. */
const MOST_MS = 2 ** 31 - 1;
