/** Sends one prompt and waits for its answer. Leaves no timer and no listener behind. */
import type { AgentEvent, Turn, TurnControl } from "../../ports/agent.ts";
import { quietly } from "../quietly.ts";
import { type Asking, answerPermission } from "./ask.ts";
import { type PromptResult, parsePromptResult } from "./connection/messages.ts";
import type { Peer, PeerListener } from "./connection/peer.ts";
import { type Session, setMode, takeIn, wantedMode } from "./connection/session.ts";
import type { EventLog } from "./event-log.ts";

export interface PromptLimits {
  /** Everything that the agent sends in one turn. */
  readonly maxOutputBytes: number;
  /** Counts only while no tool runs and no question is open. Long: agents retry for minutes without a message. */
  readonly silenceMs: number;
  /** Limit for requests that an agent answers at once. */
  readonly answerMs: number;
}

/** The agent sent too much. */
export class Flood extends Error {}

/** The agent sent nothing for too long. */
export class Silence extends Error {}

/** The agent does not stay in the mode of the turn. */
export class LeftMode extends Error {}

const LOOK_MS = 5_000;
const MOST_RETURNS = 10;

/** Rejects like `Peer.request`, with `Flood` or with `Silence`. */
export async function sendPrompt(
  peer: Peer,
  session: Session,
  text: string,
  asking: Asking,
  log: EventLog,
  limits: PromptLimits,
  signal: AbortSignal,
): Promise<PromptResult> {
  let reject: (error: Error) => void = () => {};
  const trouble = new Promise<never>((_, fail) => {
    reject = fail;
  });
  let bytes = 0;
  let asked = 0;
  let lastSign = performance.now();
  /** Ends a question to a person together with its prompt. */
  const over = new AbortController();
  const hold = holdMode(peer, session, asking, limits.answerMs);
  const listener: PeerListener = {
    onBytes(count) {
      lastSign = performance.now();
      bytes += count;
      if (bytes > limits.maxOutputBytes)
        reject(
          new Flood(`stopped because it sent more than ${Math.round(limits.maxOutputBytes / 1024)} KiB`),
        );
    },
    onUpdate(sessionId, update, line) {
      log.write(line);
      if (update === null || sessionId !== session.id) return;
      show(asking.control, asking.record.add(update));
      void hold().catch((error: Error) => reject(new LeftMode(error.message)));
    },
    async onPermission(params, withdrawn) {
      log.write(JSON.stringify({ method: "session/request_permission", params }));
      // some agents report a call only by asking for permission
      show(asking.control, asking.record.add({ ...params.toolCall, sessionUpdate: "tool_call_update" }));
      asked++;
      try {
        return await answerPermission(asking, params, AbortSignal.any([signal, over.signal, withdrawn]));
      } finally {
        asked--;
        lastSign = performance.now();
      }
    },
  };
  const look = setInterval(
    () => {
      const isWaiting = asked > 0 || asking.record.isBusy();
      if (!isWaiting && performance.now() - lastSign > limits.silenceMs)
        reject(new Silence(`no message from the agent for ${Math.round(limits.silenceMs / 1000)}s`));
    },
    Math.min(LOOK_MS, limits.silenceMs),
  );
  peer.listen(listener);
  session.access?.serve(asking.turn);
  try {
    const answer = peer.request("session/prompt", {
      sessionId: session.id,
      prompt: [{ type: "text", text }],
    });
    return parsePromptResult(await Promise.race([answer, trouble]));
  } finally {
    over.abort();
    session.access?.serve(null);
    peer.listen(null);
    clearInterval(look);
    takeIn(peer, session);
    show(asking.control, asking.record.flush());
  }
}

/** Goes back to the mode of the turn when the agent left it by itself: in another mode it may do more without asking. */
function holdMode(peer: Peer, session: Session, { profile, turn }: Asking, withinMs: number) {
  let returns = 0;
  let isBusy = false;
  /** The mode that the agent left; null: it is in it. */
  const leftMode = (): string | null => {
    takeIn(peer, session);
    const wanted = wantedMode(profile, session, turn);
    return session.mode?.current === wanted ? null : wanted;
  };
  return async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    try {
      for (let mode = leftMode(); mode !== null; mode = leftMode()) {
        if (++returns > MOST_RETURNS)
          throw new Error("the agent leaves the mode of the turn again and again");
        await setMode(peer, session, mode, withinMs);
      }
    } finally {
      isBusy = false;
    }
  };
}

/** A failing surface must not end a turn. */
function show({ onEvent }: TurnControl, events: readonly AgentEvent[]): void {
  for (const event of events) quietly(() => onEvent?.(event));
}

/** A session that knows nothing of the conversation gets the full text. */
export function promptText(turn: Turn, isFresh: boolean): string {
  return isFresh && turn.conversation !== null ? (turn.textIfFresh ?? turn.text) : turn.text;
}
