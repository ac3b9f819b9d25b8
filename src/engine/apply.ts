/** Applies one event to one loop: decides on the current state, commits, and decides again after a conflict. */
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
  /** Called when another process committed first, so that the schedule is updated. */
  onConflict: () => void = () => {},
): Promise<Applied> {
  for (;;) {
    const loop = store.load(id);
    if (loop === undefined) return { kind: "gone" };
    const decision = decide(loop, event, now);
    if (decision.kind !== "change") return decision;
    const { kind: _, ...change } = decision;
    const commit = { id, expectedVersion: loop.version, ...change, event, at: now, token };
    const result = await store.commit(commit);
    if (result.kind === "committed") return { ...result, ...change };
    if (result.kind === "fenced") return result;
    onConflict();
  }
}
