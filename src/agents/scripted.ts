/**
 * An agent that follows a script, in this process: for demonstrations and for tests of what is around it. Keeps
 * nothing on disk, so that after a crash nobody can say what became of a turn.
 */
import type { Usage } from "../core/event.ts";
import type { Failure } from "../core/goal/goal.ts";
import type { Activity, Agent, AgentEvent, Clock, Timer, Turn, TurnControl, TurnEnd } from "../ports.ts";
import { describeError, failedEnd, makeFailure } from "./reasons.ts";

/** What happens in a turn. */
export interface ScriptedTurn {
  readonly says: string;
  /** At the end of the turn, before the answer. */
  readonly does?: () => void | Promise<void>;
  readonly usage?: Usage;
  readonly failure?: Failure;
  readonly takesMs: number;
  /** Shown one after the other while it takes its time; what it did in the turn is taken from them. */
  readonly events?: readonly AgentEvent[];
}

export interface Script {
  readonly name: string;
  /** `n`: 1 for the first turn of this agent. */
  readonly turns: (turn: Turn, n: number) => ScriptedTurn;
}

export function createScriptedAgent(script: Script, clock: Clock): Agent {
  let n = 0;
  return {
    name: script.name,
    async run(turn, control) {
      if (control.signal.aborted) return { kind: "cancelled" };
      n++;
      control.onStarted(null);
      try {
        return await playTurn(script.turns(turn, n), turn, control, clock);
      } catch (error) {
        return failedEnd("fault", `the script failed: ${describeError(error)}`);
      }
    },
    reconcile: async () => ({ kind: "lost", reason: "a scripted turn ends with its runner" }),
  };
}

async function playTurn(
  scripted: ScriptedTurn,
  turn: Turn,
  { signal, onEvent }: TurnControl,
  clock: Clock,
): Promise<TurnEnd> {
  const { says, does, usage = null, failure, takesMs, events = [] } = scripted;
  const startedAt = clock.now();
  for (const [index, event] of events.entries()) {
    const at = startedAt + (takesMs * (index + 1)) / (events.length + 1);
    if (at < turn.deadlineAt && (await waitUntil(at, clock, signal))) onEvent?.(event);
  }
  const endsAt = startedAt + takesMs;
  await waitUntil(Math.min(endsAt, turn.deadlineAt), clock, signal);
  if (signal.aborted) return { kind: "cancelled" };
  const result = { usage, conversation: null, activity: activityOf(events) };
  if (endsAt > turn.deadlineAt)
    return { kind: "failed", failure: makeFailure("timeout", "timed out"), answer: "", ...result };
  await does?.();
  if (failure !== undefined) return { kind: "failed", failure, answer: says, ...result };
  return { kind: "ok", answer: says, ...result };
}

/** False when the turn was cancelled before. */
function waitUntil(at: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  return new Promise((done) => {
    if (signal.aborted) return done(false);
    let timer: Timer | null = null;
    const onAbort = (): void => {
      timer?.cancel();
      done(false);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    timer = clock.wake(at, () => {
      signal.removeEventListener("abort", onAbort);
      done(true);
    });
  });
}

function activityOf(events: readonly AgentEvent[]): Activity {
  const edits: Record<string, number> = {};
  for (const event of events) if (event.type === "file") edits[event.path] = (edits[event.path] ?? 0) + 1;
  return {
    toolCalls: events.filter((event) => event.type === "tool").length,
    edits,
    denials: events.flatMap((event) =>
      event.type === "permission" && event.answer === "denied" ? [event.tool] : [],
    ),
  };
}
