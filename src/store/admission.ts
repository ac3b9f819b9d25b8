/**
 * The state of a project as the journal tells it, and the rules by which a line counts.
 *
 * Every process folds the same lines in the same order by the same rules, so all agree on which lines were
 * accepted. That makes the append itself the compare-and-set: no lock, nothing to clean up after a crash.
 *
 * Invariants:
 * 1. A line of a loop counts only if it was decided on the version that precedes it.
 * 2. A line of an owner counts only while its token is the current one. Fires are the owner's alone.
 * 3. A lease counts only if its token is one above the highest before it.
 */
import type { Loop, TaskId } from "../core/loop.ts";
import type { CommitResult, Lease } from "../ports.ts";
import type { Entry, LoopEntry } from "./entry.ts";

export interface JournalState {
  readonly loops: Map<TaskId, Loop>;
  /** Loops that ended in this segment, with their last version: a late line must not revive one. */
  readonly ended: Map<TaskId, number>;
  lease: Lease | null;
  lastToken: number;
  live: number;
  /** Lines that did not pass their checksum. */
  damaged: number;
}

export type Verdict = CommitResult | { readonly kind: "sealed" };

const COMMITTED: Verdict = { kind: "committed" };

export function emptyState(): JournalState {
  return { loops: new Map(), ended: new Map(), lease: null, lastToken: 0, live: 0, damaged: 0 };
}

/** Folds one line into the state, or says why it does not count. */
export function admit(state: JournalState, entry: Entry): Verdict {
  switch (entry.type) {
    case "loop":
      return admitLoop(state, entry);
    case "lease":
      if (entry.lease.token !== state.lastToken + 1) return { kind: "fenced" };
      state.lastToken = entry.lease.token;
      state.lease = entry.lease;
      return COMMITTED;
    case "release":
      if (state.lease?.token !== entry.token) return { kind: "fenced" };
      state.lease = null;
      return COMMITTED;
    case "snapshot":
      state.loops.clear();
      for (const loop of entry.loops) state.loops.set(loop.id, loop);
      state.live = countLive(entry.loops);
      state.lease = entry.lease;
      state.lastToken = entry.lastToken;
      return COMMITTED;
    case "seal":
      return { kind: "sealed" };
  }
}

function admitLoop(state: JournalState, entry: LoopEntry): Verdict {
  if (entry.token === null ? isOwnersEvent(entry) : entry.token !== state.lease?.token)
    return { kind: "fenced" };
  const before = state.loops.get(entry.id);
  const version = before?.version ?? state.ended.get(entry.id) ?? 0;
  if (entry.ver !== version + 1 && !healsGap(state, entry, version)) return { kind: "conflict" };
  if (entry.max !== undefined && state.live >= entry.max) return { kind: "full", live: state.live };
  state.live +=
    Number(entry.loop.status !== "ended") - Number(before !== undefined && before.status !== "ended");
  if (entry.loop.status === "ended" && entry.loop.fire === null) {
    state.loops.delete(entry.id);
    state.ended.set(entry.id, entry.ver);
  } else {
    state.loops.set(entry.id, entry.loop);
  }
  return COMMITTED;
}

function isOwnersEvent(entry: LoopEntry): boolean {
  const { type } = entry.event;
  return type === "task.due" || (type.startsWith("fire.") && type !== "fire.wakeup");
}

/** A damaged line hid a version that its successor was decided on. Lines carry the whole loop: take the newer. */
function healsGap(state: JournalState, entry: LoopEntry, version: number): boolean {
  return state.damaged > 0 && entry.ver > version + 1 && !state.ended.has(entry.id);
}

function countLive(loops: readonly Loop[]): number {
  return loops.filter((loop) => loop.status !== "ended").length;
}
