/**
 * A live conversation as an agent: a turn is a prompt that goes out with the answer to a hook, and ends with the
 * conversation's next stop. Nothing can be started or killed here; a turn that is not wanted any more is let go, and
 * the person decides what becomes of it in their conversation.
 */
import { ABANDONED, type Agent, type Turn, type TurnControl, type TurnEnd } from "../../../ports/agent.ts";
import type { Seat } from "../seat.ts";
import { failedTurn, reconcileSeated, whenOver } from "../seated-turn.ts";
import { turnText } from "../turn-text.ts";
import { packTurn } from "./pack-turn.ts";

export interface HookAgentParts {
  readonly seat: Seat;
  readonly dir: string;
  /** Finds turns that were processes of their own. */
  readonly processes: Agent;
  /** Wakes the idle conversation, so that a hook comes and asks. Resolves with false when that cannot be done. */
  readonly wake: (turn: Turn, signal: AbortSignal) => Promise<boolean>;
}

export function createHookAgent(parts: HookAgentParts): Agent {
  const { seat, dir, processes } = parts;
  const follow = (turn: Turn, control: TurnControl) => followTurn(seat, turn, control);
  return {
    name: "conversation",
    async run(turn, control) {
      if (!seat.isWaiting && !(await parts.wake(turn, control.signal)))
        return control.signal.aborted ? { kind: "cancelled" } : notTaken();
      if (control.signal.aborted) return { kind: "cancelled" };
      const { text, isDirected } = turnText(turn, seat.record);
      if (!seat.deliver(turn, packTurn(dir, { ...turn, text }))) return notTaken();
      if (isDirected) seat.update({ directive: null });
      control.onStarted(seat.record.client);
      return follow(turn, control);
    },
    reconcile: (turn, control) => reconcileSeated({ seat, processes, follow }, turn, control),
  };
}

async function followTurn(seat: Seat, turn: Turn, { signal }: TurnControl): Promise<TurnEnd> {
  const end = await whenOver(seat, turn, signal);
  if (end !== null) return end;
  if (signal.reason !== ABANDONED) seat.forget(turn.id);
  return { kind: "cancelled" };
}

function notTaken(): TurnEnd {
  return failedTurn("outage", "the conversation was not free, and did not take the wake-up");
}
