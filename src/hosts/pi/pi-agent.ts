/** A live pi conversation as an agent: a turn is a message that we send, and it ends with its run. */
import { randomUUID } from "node:crypto";
import { failedEnd } from "../../agents/process/reasons.ts";
import { ABANDONED, type Agent, type Turn, type TurnControl, type TurnEnd } from "../../ports/agent.ts";
import type { Seat } from "../conversation/seat.ts";
import { reconcileSeated, turnText, whenOver } from "../conversation/seated-turn.ts";
import type { PiConversation } from "./conversation.ts";

interface PiAgentParts {
  readonly seat: Seat;
  /** Finds turns that ran as separate processes. */
  readonly processes: Agent;
  readonly conversation: () => PiConversation;
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
      if (!(await parts.conversation().whenFree(control.signal))) return { kind: "cancelled" };
      if (!deliver(parts, turn))
        return failedEnd("outage", "the conversation ended before it received the prompt");
      control.onStarted(seat.record.client);
      return followTurn(parts, turn, control, timeoutMs);
    },
    reconcile: (turn, control) => reconcileSeated(reconciling, turn, control),
  };
}

/** Records the turn before it is sent, because pi's next events belong to it. */
function deliver({ seat, conversation }: PiAgentParts, turn: Turn): boolean {
  const { text, isDirected } = turnText(turn, seat.record);
  void seat.offer(randomUUID(), NEVER);
  seat.deliver(turn, text);
  if (!conversation().send(text)) {
    seat.forget(turn.id);
    return false;
  }
  if (isDirected) seat.update({ directive: null });
  return true;
}

const NEVER = new AbortController().signal;

async function followTurn(
  { seat, conversation }: PiAgentParts,
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
  conversation().stop();
  return signal.aborted
    ? { kind: "cancelled" }
    : failedEnd("timeout", "the turn took too long and was stopped");
}

/** The longest delay of a Node timer. */
const MOST_MS = 2 ** 31 - 1;
