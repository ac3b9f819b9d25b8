/** One event against one loop: decide on what is there, commit, and decide anew when somebody was faster. */
import { decide } from "../core/decide.ts";
import type { LoopChange, LoopEvent } from "../core/event.ts";
import type { LoopId } from "../core/loop.ts";
import type { LoopStore } from "../ports/loops.ts";

export type Applied =
  | ({ readonly kind: "committed" } & LoopChange)
  | { readonly kind: "none" }
  | { readonly kind: "gone" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "fenced" };

export async function applyEvent(
  store: LoopStore,
  id: LoopId,
  event: LoopEvent,
  now: number,
  token: number | null,
  /** Somebody was faster: whoever keeps a schedule looks again. */
  onConflict: () => void = () => {},
): Promise<Applied> {
  for (;;) {
    const loop = store.load(id);
    if (loop === undefined) return { kind: "gone" };
    const decision = decide(loop, event, now);
    if (decision.kind !== "change") return decision;
    const { effects, outcomes } = decision;
    const result = await store.commit({
      id,
      expectedVersion: loop.version,
      loop: decision.loop,
      event,
      effects,
      outcomes,
      at: now,
      token,
    });
    if (result.kind === "committed") return { kind: "committed", loop: decision.loop, effects, outcomes };
    if (result.kind === "fenced") return { kind: "fenced" };
    onConflict();
  }
}
