/**
 * Finds the next loop with a binary heap. Re-arming leaves the old node in the heap and skips it at the top, so arming
 * is O(log n) and the next due time is O(1).
 */
import { loopWakeAt } from "../../core/decide.ts";
import type { LoopEvent } from "../../core/event.ts";
import type { Loop, LoopId } from "../../core/loop.ts";
import { clockWentBack } from "../../core/task/due.ts";
import type { EngineParts } from "../parts.ts";

interface Node {
  readonly at: number;
  readonly id: LoopId;
}

export class Schedule {
  readonly #heap: Node[] = [];
  readonly #armed = new Map<LoopId, Node>();

  get size(): number {
    return this.#armed.size;
  }

  /** null removes the loop. */
  arm(id: LoopId, at: number | null): void {
    if (at === null) {
      this.#armed.delete(id);
      return;
    }
    if (this.#armed.get(id)?.at === at) return;
    const node: Node = { at, id };
    this.#armed.set(id, node);
    this.#push(node);
    if (this.#heap.length > 64 && this.#heap.length > 4 * this.#armed.size) this.#compact();
  }

  armedAt(id: LoopId): number | null {
    return this.#armed.get(id)?.at ?? null;
  }

  nextAt(): number | null {
    return this.#top()?.at ?? null;
  }

  nextId(): LoopId | null {
    return this.#top()?.id ?? null;
  }

  /** Removes and returns the loop that is due the longest, if there is room for it. */
  popDue(now: number, hasRoom: (id: LoopId) => boolean = () => true): LoopId | null {
    const top = this.#top();
    if (top === null || top.at > now || !hasRoom(top.id)) return null;
    this.#pop();
    this.#armed.delete(top.id);
    return top.id;
  }

  #top(): Node | null {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined) return null;
      if (this.#armed.get(top.id) === top) return top;
      this.#pop();
    }
  }

  #push(node: Node): void {
    const heap = this.#heap;
    let at = heap.push(node) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(node, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = node;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const a = heap[left];
      if (a === undefined) break;
      const b = heap[left + 1];
      const [below, child] = b !== undefined && isBefore(b, a) ? [left + 1, b] : [left, a];
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }

  #compact(): void {
    this.#heap.length = 0;
    for (const node of this.#armed.values()) this.#push(node);
  }
}

/** The id breaks ties, so that every owner uses the same order. */
function isBefore(a: Node, b: Node): boolean {
  return a.at < b.at || (a.at === b.at && a.id < b.id);
}

/** When an owner has to look at the loop; null: not before its next event. */
export function lookTimeOf(loop: Loop, now: number): number | null {
  const at = loopWakeAt(loop);
  // a goal or a backlog is always ready, and comes after the due tasks
  if (loop.kind !== "task") return at === null ? null : Math.max(at, now);
  // a manual run never waits, even when the clock was set back after the request
  const isSoon = clockWentBack(loop, now) || (at !== null && loop.request?.kind === "manual");
  return isSoon ? Math.min(at ?? now, now) : at;
}

/**
 * Excludes loops of other conversations, and tasks that need a conversation when this engine has none. A conversation
 * never takes over a goal that was started in a terminal.
 */
export function isForUs({ self, goals, host, backlog }: EngineParts, loop: Loop): boolean {
  if (loop.session !== null && loop.session !== self.owner) return false;
  if (loop.kind === "task") return loop.where !== "session" || host !== undefined;
  if (loop.kind === "backlog") return backlog !== undefined && (loop.session !== null || host === undefined);
  return goals !== null && (loop.session !== null || host === undefined);
}

/** The event for a due loop. */
export function dueEvent(
  { store, goals, backlog }: EngineParts,
  id: LoopId,
  token: number,
  awakeSince: number,
): LoopEvent {
  const loop = store.load(id);
  if (loop?.kind === "goal") return { type: "goal.due", token, nonce: goals?.newNonce() ?? "" };
  if (loop?.kind === "backlog") {
    const read = backlog?.files.read(loop.stories) ?? { problem: "this process does not run backlogs" };
    const stories = "stories" in read ? read.stories : null;
    const problem = "problem" in read ? read.problem : null;
    return { type: "backlog.due", token, nonce: backlog?.newNonce() ?? "", stories, problem };
  }
  return { type: "task.due", token, awakeSince };
}
