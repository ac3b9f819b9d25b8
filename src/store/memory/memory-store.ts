/**
 * A store in memory, for tests and for programs that keep nothing on disk. Several handles on one `MemoryJournal` behave
 * like several processes on one folder. It uses the rules of the real journal (`journal/admission.ts`).
 */
import type { Loop, LoopId } from "../../core/loop.ts";
import type { TurnActivity } from "../../ports/activity.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LoopHistory } from "../../ports/history.ts";
import { type HolderState, type Lease, type LeaseBid, SILENT_AFTER_MS } from "../../ports/lease.ts";
import type { Commit, CommitResult } from "../../ports/loops.ts";
import type { Sessions } from "../../ports/sessions.ts";
import type { Store } from "../../ports/store.ts";
import { admit, emptyState, type LineVerdict } from "../journal/admission.ts";
import { commitLine, type NewEntry } from "../journal/entry.ts";
import type { MemoryJournal } from "./memory-journal.ts";
import { createMemoryActivity, createMemoryHistory, createMemorySessions } from "./memory-parts.ts";

export interface MemoryStoreParts {
  /** The data that this handle shares with other handles. */
  readonly journal: MemoryJournal;
  readonly clock: Clock;
  /** The name of this handle; it must be unique. */
  readonly name: string;
  /** Does the process with this id still run? Default: always true. */
  readonly isRunning?: (pid: number) => boolean;
}

/** The delay of news from other handles, as on a disk. */
const NEWS_AFTER_MS = 20;

export class MemoryStore implements Store {
  readonly history: LoopHistory;
  readonly sessions: Sessions;
  readonly activity: TurnActivity;
  readonly #journal: MemoryJournal;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #isRunning: (pid: number) => boolean;
  readonly #state = emptyState();
  readonly #changed = new Set<LoopId>();
  #position: number;

  constructor({ journal, clock, name, isRunning = () => true }: MemoryStoreParts) {
    this.#journal = journal;
    this.#clock = clock;
    this.#name = name;
    this.#isRunning = isRunning;
    this.#position = journal.start;
    this.history = createMemoryHistory(journal);
    this.sessions = createMemorySessions(journal, () => clock.now(), isRunning);
    this.activity = createMemoryActivity(journal);
    this.#catchUp(null);
  }

  async catchUp(): Promise<void> {
    this.#catchUp(null);
  }

  async refresh(): Promise<readonly LoopId[]> {
    this.#catchUp(null);
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  load(id: LoopId): Loop | undefined {
    return this.#state.loops.get(id);
  }

  loops(): IterableIterator<Loop> {
    return this.#state.loops.values();
  }

  async commit(commit: Commit): Promise<CommitResult> {
    const verdict = this.#append(commitLine(commit));
    return verdict.kind === "sealed" ? { kind: "conflict" } : verdict;
  }

  /** No other program can write to this store. */
  takeForged(): readonly [] {
    return [];
  }

  isInPlace(): boolean {
    return true;
  }

  faults(): readonly [] {
    return [];
  }

  lease(): Lease | null {
    return this.#state.lease;
  }

  lastToken(): number {
    return this.#state.lastToken;
  }

  async acquire(bid: LeaseBid, expectedToken: number): Promise<Lease | null> {
    const lease: Lease = { ...bid, token: expectedToken + 1 };
    const verdict = this.#append({ type: "lease", at: bid.acquiredAt, lease });
    return verdict.kind === "committed" ? lease : null;
  }

  async release(token: number, at: number): Promise<boolean> {
    return this.#append({ type: "release", at, token }).kind === "committed";
  }

  async heartbeat(lease: Lease, at: number): Promise<void> {
    if (this.#state.lease?.token === lease.token) this.#journal.beats.set(lease.token, at);
  }

  heartbeatAt({ token, acquiredAt }: Lease): number {
    return Math.max(this.#journal.beats.get(token) ?? acquiredAt, acquiredAt);
  }

  holderState(lease: Lease, now: number): HolderState {
    if (!this.#isRunning(lease.pid)) return "gone";
    return now - this.heartbeatAt(lease) < SILENT_AFTER_MS ? "alive" : "silent";
  }

  isHolderGone(lease: Lease): boolean {
    return !this.#isRunning(lease.pid);
  }

  askForLease(by: LeaseBid): void {
    this.#journal.asked = by;
  }

  leaseAsked(): LeaseBid | null {
    return this.#journal.asked;
  }

  watch(callback: () => void): () => void {
    let pending = false;
    const watcher = (writer: string) => {
      if (writer === this.#name || pending) return;
      pending = true;
      this.#clock.wake(this.#clock.now() + NEWS_AFTER_MS, () => {
        pending = false;
        callback();
      });
    };
    this.#journal.watchers.add(watcher);
    return () => void this.#journal.watchers.delete(watcher);
  }

  #append(entry: NewEntry): LineVerdict {
    this.#catchUp(null);
    return this.#catchUp(this.#journal.append(this.#name, entry)) ?? { kind: "conflict" };
  }

  #catchUp(w: string | null): LineVerdict | null {
    let found: LineVerdict | null = null;
    for (const entry of this.#journal.since(this.#position)) {
      const verdict = admit(this.#state, entry, false);
      if (verdict.kind === "committed" && entry.type === "loop") this.#changed.add(entry.id);
      if (entry.w === w) found = verdict;
    }
    this.#position = this.#journal.length;
    return found;
  }
}
