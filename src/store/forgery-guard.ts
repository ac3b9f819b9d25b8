/**
 * Whether the lines of others follow from what stood before them. Anybody who can write to the folder can write a
 * line that counts, an agent too, and lines carry the whole loop: one that says "done" would be believed. While a
 * process holds the lease it checks each line of a goal that it did not write itself by deciding it again, and keeps
 * the goal as it was before the first that does not follow.
 *
 * It watches over a live run. Who kills the runner first, or can change this program, is not kept out.
 */
import { decide } from "../core/decide.ts";
import type { Goal } from "../core/goal/goal.ts";
import type { Loop, LoopId } from "../core/loop.ts";
import type { LoopEntry } from "./entry.ts";

export class ForgeryGuard {
  readonly #good = new Map<LoopId, Goal>();
  #token: number | null = null;

  /** From here on only this process may write under the token. */
  arm(token: number): void {
    this.#token = token;
  }

  disarm(): void {
    this.#token = null;
  }

  /** For a line that counts and that this process did not write. */
  look(before: Loop | undefined, entry: LoopEntry): void {
    if (this.#token === null || before?.kind !== "goal" || this.#good.has(entry.id)) return;
    if (entry.token === this.#token || !follows(before, entry)) this.#good.set(entry.id, before);
  }

  /** Goals as they were before a line that does not follow; each is told once. */
  take(): readonly Goal[] {
    const all = [...this.#good.values()];
    this.#good.clear();
    return all;
  }
}

function follows(before: Goal, { event, at, loop }: LoopEntry): boolean {
  const decision = decide(before, event, at);
  return decision.kind === "change" && JSON.stringify(decision.loop) === JSON.stringify(loop);
}
