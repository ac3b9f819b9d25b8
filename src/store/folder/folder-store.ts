/** The store in `.loop/`: nothing to install, safe between processes. See `journal.ts` for how. */
import { statSync } from "node:fs";
import type { Loop, LoopId } from "../../core/loop.ts";
import { LoopError } from "../../errors.ts";
import type { HolderState, Lease, LeaseBid } from "../../ports/lease.ts";
import type { Commit, CommitResult, StoreFault } from "../../ports/loops.ts";
import type { Sessions } from "../../ports/sessions.ts";
import type { Store } from "../../ports/store.ts";
import type { Verdict } from "../journal/admission.ts";
import { mayWait } from "../journal/durability.ts";
import { commitLine } from "../journal/entry.ts";
import { Journal, type JournalOptions } from "../journal/journal.ts";
import { FolderHistory } from "./history.ts";
import { FolderLease } from "./lease.ts";
import { cannotRead, cannotWrite, claimLoopDir, folderIdentity } from "./loop-dir.ts";
import { lostTasks } from "./lost-tasks.ts";
import { FolderPublisher } from "./published.ts";
import { FolderRequests } from "./requests.ts";
import { createSessions } from "./session-records.ts";

export interface FolderStoreOptions extends Partial<JournalOptions> {
  readonly now: () => number;
  /** Told to a person: a file was moved aside, watching degraded. */
  readonly say: (message: string) => void;
}

export class FolderStore implements Store {
  readonly dir: string;
  readonly journal: Journal;
  readonly history: FolderHistory;
  readonly sessions: Sessions;
  readonly published: FolderPublisher;
  readonly requests: FolderRequests;
  readonly #lease: FolderLease;
  readonly #options: FolderStoreOptions;
  readonly #watchers = new Set<() => void>();
  #stopWatching: () => void = () => {};
  #identity: string | null = null;
  #claimed: string | null = null;

  constructor(dir: string, options: FolderStoreOptions) {
    const { now, say } = options;
    this.dir = dir;
    this.#options = options;
    const journal = new Journal(dir, options);
    this.journal = journal;
    this.history = new FolderHistory(dir);
    this.sessions = createSessions(dir);
    this.#lease = new FolderLease({ dir, journal, say, append: (entry) => this.#append(entry) });
    this.published = new FolderPublisher({
      dir,
      journal,
      now,
      say,
      claim: () => this.#claim(),
      loops: () => this.loops(),
      lease: () => this.lease(),
    });
    this.requests = new FolderRequests({ dir, journal, now, publisher: this.published });
    this.#read(() => journal.refresh());
  }

  async catchUp(): Promise<void> {
    this.#read(() => this.journal.catchUp());
  }

  async refresh(): Promise<readonly LoopId[]> {
    return this.#read(() => this.journal.refresh());
  }

  load(id: LoopId): Loop | undefined {
    return this.journal.guard.believe(id, this.#said(id));
  }

  *loops(): IterableIterator<Loop> {
    const { loops } = this.journal.state;
    for (const id of new Set([...loops.keys(), ...this.journal.guard.ids()])) {
      const loop = this.load(id);
      if (loop !== undefined) yield loop;
    }
  }

  /** What the journal says, whoever wrote it. */
  #said(id: LoopId): Loop | undefined {
    return this.journal.state.loops.get(id);
  }

  async commit(commit: Commit): Promise<CommitResult> {
    const verdict = this.#append(commitLine(commit), mayWait(commit));
    return verdict.kind === "sealed" ? { kind: "conflict" } : verdict;
  }

  takeForged(): ReturnType<Store["takeForged"]> {
    return this.journal.guard.takeForged((id) => this.#said(id));
  }

  /** Not after `rm -rf`, `git clean -fdx` or a move of the project. */
  isInPlace(): boolean {
    const identity = folderIdentity(this.dir);
    this.#identity ??= identity;
    return identity !== null && identity === this.#identity;
  }

  faults(): readonly StoreFault[] {
    const lost = lostTasks(this.dir, this.journal).map(({ id }) => id as LoopId);
    const { damaged } = this.journal.state;
    return [
      ...(damaged > 0 ? [{ kind: "damaged", count: damaged } as const] : []),
      ...(lost.length > 0 ? [{ kind: "lost", ids: lost } as const] : []),
    ];
  }

  lease(): Lease | null {
    return this.#lease.lease();
  }

  lastToken(): number {
    return this.#lease.lastToken();
  }

  acquire(bid: LeaseBid, expectedToken: number): Promise<Lease | null> {
    return this.#lease.acquire(bid, expectedToken);
  }

  release(token: number, at: number): Promise<boolean> {
    return this.#lease.release(token, at);
  }

  heartbeat(lease: Lease, at: number): Promise<void> {
    return this.#lease.heartbeat(lease, at);
  }

  heartbeatAt(lease: Lease): number {
    return this.#lease.heartbeatAt(lease);
  }

  holderState(lease: Lease, now: number): HolderState {
    return this.#lease.holderState(lease, now);
  }

  isHolderGone(lease: Lease): boolean {
    return this.#lease.isHolderGone(lease);
  }

  askForLease(by: LeaseBid): void {
    this.#lease.askForLease(by);
  }

  leaseAsked(): LeaseBid | null {
    return this.#lease.leaseAsked();
  }

  watch(callback: () => void): () => void {
    this.#watchers.add(callback);
    if (this.#watchers.size === 1) this.#startWatching();
    return () => {
      this.#watchers.delete(callback);
      if (this.#watchers.size === 0) this.#stopWatching();
    };
  }

  /** One look at the folder for all who want to know. Loaded here: only resident processes need it. */
  #startWatching(): void {
    let isWanted = true;
    this.#stopWatching = () => {
      isWanted = false;
    };
    import("./watch.ts").then(
      ({ watchFolder }) => {
        if (!isWanted) return;
        const notify = () => {
          for (const callback of [...this.#watchers]) callback();
        };
        this.#stopWatching = watchFolder(this.dir, notify, this.#options.say);
      },
      (error: unknown) => this.#options.say(`Cannot watch ${this.dir}: ${String(error)}.`),
    );
  }

  #read<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw error instanceof LoopError ? error : cannotRead(`${this.dir}/journal.jsonl`, error);
    }
  }

  /** Asked anew for every folder that stands under this name: a checkout may replace it under a runner. */
  #claim(): void {
    const { dev, ino } = statSync(this.dir);
    const folder = `${dev}:${ino}`;
    if (this.#claimed === folder) return;
    claimLoopDir(this.dir);
    this.#claimed = folder;
  }

  #append(entry: Parameters<Journal["append"]>[0], waits = false): Verdict {
    try {
      this.#claim();
      return this.journal.append(entry, waits);
    } catch (error) {
      throw error instanceof LoopError ? error : cannotWrite(`${this.dir}/journal.jsonl`, error);
    }
  }
}
