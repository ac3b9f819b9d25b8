/** Masks secrets in everything that an agent says and does, where it enters the engine (J7). */
import { type Mask, maskAll } from "../core/secrets/mask.ts";
import { createMaskStream } from "../core/secrets/mask-stream.ts";
import type { Agent, AgentEvent, TurnControl, TurnEnd } from "../ports/agent.ts";
import { currentMask } from "../system/secrets.ts";

export function withMask<A extends Agent>(agent: A): A {
  return {
    ...agent,
    async run(turn, control) {
      const mask = currentMask();
      const events = maskedControl(mask, control);
      const end = await agent.run(turn, events.control);
      events.flush();
      return maskedEnd(mask, end);
    },
    async reconcile(turn, control) {
      const mask = currentMask();
      const events = maskedControl(mask, control);
      const fate = await agent.reconcile(turn, events.control);
      if (fate.kind === "ended") return { ...fate, end: maskedEnd(mask, fate.end) };
      if (fate.kind !== "running") return fate;
      const end = fate.end.then((ended) => {
        events.flush();
        return maskedEnd(mask, ended);
      });
      return { ...fate, end };
    },
  };
}

/** The id of a conversation goes back to its agent, so it stays. */
export function maskedEnd(mask: Mask, end: TurnEnd): TurnEnd {
  if (end.kind === "cancelled") return end;
  const { conversation, ...rest } = end;
  return { ...maskAll(mask, rest), conversation };
}

function maskedControl(mask: Mask, control: TurnControl): { control: TurnControl; flush(): void } {
  const { onEvent, onTaken } = control;
  const events = onEvent === undefined ? null : createEventMask(mask, onEvent);
  const masked = {
    ...control,
    ...(events === null ? {} : { onEvent: events.add }),
    ...(onTaken === undefined ? {} : { onTaken: (event) => onTaken(maskAll(mask, event)) }),
  } satisfies TurnControl;
  return { control: masked, flush: () => events?.flush() };
}

/** A secret may have several lines, and each line is an event. */
export function createEventMask(mask: Mask, emit: (event: AgentEvent) => void) {
  const texts = createMaskStream(mask);
  const tell = (masked: string) => {
    if (masked !== "") emit({ type: "text", text: masked.replace(/\n$/, "") });
  };
  return {
    add(event: AgentEvent): void {
      tell(event.type === "text" ? texts.push(`${event.text}\n`) : texts.end());
      if (event.type !== "text") emit(maskAll(mask, event));
    },
    flush: () => tell(texts.end()),
  };
}
