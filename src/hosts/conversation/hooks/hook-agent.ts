/**
 * A live conversation as an agent: a turn is a prompt in the answer to a hook, and it ends at the next stop. This agent
 * starts and kills nothing. A cancelled turn is forgotten here, and the person decides about it in the conversation.
 */
import { dirname, join, relative } from "node:path";
import { failedEnd } from "../../../agents/process/reasons.ts";
import { ABANDONED, type Agent, type Turn, type TurnControl, type TurnEnd } from "../../../ports/agent.ts";
import { ensureSessions } from "../../../store/folder/session-records.ts";
import { writeAtomic } from "../../../system/files.ts";
import type { Seat } from "../seat.ts";
import { reconcileSeated, turnText, whenOver } from "../seated-turn.ts";

/** Claude Code shows only a preview of texts longer than about 10,000 characters. No client allows less. */
const MAX_CHARACTERS = 9_000;

interface HookAgentParts {
  readonly seat: Seat;
  readonly dir: string;
  /** Finds turns that ran as separate processes. */
  readonly processes: Agent;
  /** Wakes the idle conversation so that a hook asks for the turn. Resolves with false if that fails. */
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
  return failedEnd("outage", "the conversation was busy and did not react to the wake-up");
}

/** The text of a turn in a form that fits into the answer to a hook. */
function packTurn(dir: string, { id, text }: Turn): string {
  const whole = text.startsWith("/") ? asCommand(text) : text;
  if (whole.length <= MAX_CHARACTERS) return whole;
  const path = join(ensureSessions(dir), `turn-${id.replaceAll(/[^A-Za-z0-9.-]/g, "_")}.md`);
  writeAtomic(path, whole, false);
  return `The instructions for this turn are in the file ${relative(dirname(dir), path)}. Read the whole file, then follow it.`;
}

/** Clients run slash commands only when a person types them. */
function asCommand(text: string): string {
  return `A scheduled task is due. Its prompt is a slash command. Run it as if the person had just typed it (use the Skill tool if it is a skill):\n\n${text}`;
}
