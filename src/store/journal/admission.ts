/**
 * The state of a project that follows from the journal, and the rules by which a line counts.
 *
 * Every process applies the same rules to the same lines in the same order, so all processes accept the same lines. So
 * the append itself is the compare-and-set: there is no lock, and nothing to clean up after a crash.
 *
 * 1. A line of a loop counts only if its decision is based on the version before it.
 * 2. A line of an owner counts only while its token is the current one. Only the owner fires.
 * 3. A lease counts only if its token is one above the highest token before it.
 * 4. A verdict depends only on the snapshot and the lines of the segment: a process that has read for days and one that
 *    starts now reach the same verdict.
 */
import { OWNERS_EVENTS } from "../../core/event.ts";
import type { Loop, LoopId } from "../../core/loop.ts";
import type { CommitResult, Lease } from "../../ports/store.ts";
import type { Decoded, Entry, LoopEntry } from "./entry.ts";

export interface JournalState {
  readonly loops: Map<LoopId, Loop>;
  /** Loops that ended in this segment, with their last version. A late line must not revive them. */
  readonly ended: Map<LoopId, number>;
  lease: Lease | null;
  lastToken: number;
  live: number;
  /** The numbers of damaged lines, of lines that this user did not sign, and of missing versions, since the first read. */
  damaged: number;
  foreign: number;
  missing: number;
  /** No line of this segment was read yet. */
  fresh: boolean;
  /** The state came from the segment before, so a damaged snapshot loses nothing. */
  carried: boolean;
  sealed: boolean;
}

export type LineVerdict = CommitResult | { readonly kind: "sealed" };

const COMMITTED: LineVerdict = { kind: "committed" };
const CONFLICT: LineVerdict = { kind: "conflict" };
const FENCED: LineVerdict = { kind: "fenced" };
const SEALED: LineVerdict = { kind: "sealed" };

export function emptyState(): JournalState {
  return {
    loops: new Map(),
    ended: new Map(),
    lease: null,
    lastToken: 0,
    live: 0,
    damaged: 0,
    foreign: 0,
    missing: 0,
    fresh: true,
    carried: false,
    sealed: false,
  };
}

export function startSegment(state: JournalState, carried: boolean): void {
  state.ended.clear();
  state.fresh = true;
  state.carried = carried;
  state.sealed = false;
}

/** Applies one line to the state, or says why the line does not count. For `heal` see `judge`. */
export function admit(state: JournalState, entry: Decoded, heal = true): LineVerdict {
  if (entry === "foreign") {
    state.foreign += 1;
    return CONFLICT;
  }
  const { fresh } = state;
  state.fresh = false;
  if (state.sealed) return SEALED;
  if (entry === "damaged") {
    state.damaged += 1;
    return CONFLICT;
  }
  if (entry.type === "snapshot" && !fresh) return CONFLICT;
  const verdict = judge(state, entry, heal);
  if (verdict.kind === "committed" || verdict.kind === "sealed") take(state, entry);
  return verdict;
}

/**
 * The verdict on a line in this state; changes nothing.
 *
 * `heal`: a damaged or removed line may hide the version or the lease that this line depends on. Versions and tokens only
 * rise, and a writer has seen what its line depends on. So a higher number proves that the missing line existed. A writer
 * judges its own line without `heal`, because it must have seen everything.
 */
export function judge(state: JournalState, entry: Entry, heal: boolean): LineVerdict {
  switch (entry.type) {
    case "loop":
      return judgeLoop(state, entry, heal);
    case "lease":
      return isNext(entry.lease.token, state.lastToken, heal) ? COMMITTED : FENCED;
    case "release":
      return holds(state, entry.token, heal) ? COMMITTED : FENCED;
    case "snapshot":
      return COMMITTED;
    case "seal":
      return SEALED;
  }
}

function judgeLoop(state: JournalState, entry: LoopEntry, heal: boolean): LineVerdict {
  if (entry.token === null ? OWNERS_EVENTS.has(entry.event.type) : !holds(state, entry.token, heal))
    return FENCED;
  const ended = state.ended.get(entry.id);
  const version = state.loops.get(entry.id)?.version ?? ended ?? 0;
  if (!isNext(entry.ver, version, heal && ended === undefined)) return CONFLICT;
  if (entry.max !== undefined && state.live >= entry.max) return { kind: "full", live: state.live };
  return COMMITTED;
}

function isNext(number: number, before: number, heal: boolean): boolean {
  return number === before + 1 || (heal && number > before);
}

function holds(state: JournalState, token: number, heal: boolean): boolean {
  return state.lease?.token === token || (heal && token > state.lastToken);
}

function take(state: JournalState, entry: Entry): void {
  switch (entry.type) {
    case "loop":
      if (entry.token !== null && entry.token > state.lastToken) takeLease(state, unknownHolder(entry));
      takeLoop(state, entry);
      break;
    case "lease":
      takeLease(state, entry.lease);
      break;
    case "release":
      state.lastToken = Math.max(state.lastToken, entry.token);
      state.lease = null;
      break;
    case "snapshot":
      state.loops.clear();
      for (const loop of entry.loops) state.loops.set(loop.id, loop);
      state.live = entry.loops.filter(isLiveTask).length;
      state.lease = entry.lease;
      state.lastToken = entry.lastToken;
      break;
    case "seal":
      state.sealed = true;
      break;
  }
}

function takeLoop(state: JournalState, entry: LoopEntry): void {
  const before = state.loops.get(entry.id);
  state.missing += entry.ver - 1 - (before?.version ?? 0);
  state.live += Number(isLiveTask(entry.loop)) - Number(before !== undefined && isLiveTask(before));
  if (isTaskOver(entry.loop)) {
    state.loops.delete(entry.id);
    state.ended.set(entry.id, entry.ver);
  } else {
    state.loops.set(entry.id, entry.loop);
  }
}

/** Nothing is left to do, not even a notice to send. A goal stays, for its report. */
export function isTaskOver(loop: Loop): boolean {
  return loop.kind === "task" && loop.status === "ended" && loop.fire === null && loop.notice === null;
}

function isLiveTask(loop: Loop): boolean {
  return loop.kind === "task" && loop.status !== "ended";
}

function takeLease(state: JournalState, lease: Lease): void {
  state.lastToken = lease.token;
  state.lease = lease;
}

/** Stands in for a damaged lease line. The host is unknown, so the heartbeat decides about the holder. */
function unknownHolder(entry: LoopEntry): Lease {
  return {
    token: entry.token ?? 0,
    owner: "unknown",
    pid: 0,
    procStart: null,
    host: "",
    acquiredAt: entry.at,
  };
}
