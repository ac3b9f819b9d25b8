/** Finds loops that were further than the journal says now: their newest lines were cut, removed, damaged or rolled back. */
import type { LoopId } from "../../core/loop.ts";
import type { HeldLoop } from "../../ports/loops.ts";
import type { ReachedState } from "../signed/reached.ts";
import type { JournalState } from "./admission.ts";

export function heldLoops(
  { loops, ended }: Pick<JournalState, "loops" | "ended">,
  reached: ReachedState,
): ReadonlyMap<LoopId, HeldLoop> {
  const held = new Map<LoopId, HeldLoop>();
  for (const [id, { version: had, isOver }] of reached.loops) {
    const left = loops.get(id) ?? null;
    const has = left?.version ?? ended.get(id) ?? 0;
    // a journal drops loops that are over
    if (has < had && !(isOver && has === 0)) held.set(id, { id, left, has, had });
  }
  return held;
}
