/** The store in `.loop/`: nothing to install, safe between processes. See `journal.ts` for how. */
import type { Effect } from "../core/event.ts";
import type { Loop, TaskId } from "../core/loop.ts";
import { LoopError } from "../errors.ts";
import type { Commit, CommitResult, Lease, Store } from "../ports.ts";
import type { Verdict } from "./admission.ts";
import type { LoopEntry } from "./entry.ts";
import { Journal, type JournalOptions } from "./journal.ts";
import { isHolderAlive, removeLeaseFile, writeLeaseFile } from "./lease-file.ts";
import { cannotWrite } from "./loop-dir.ts";
import { quarantineTasksFile, readTasksFile, renderTasksFile, writeTasksFile } from "./tasks-file.ts";

export interface FolderStoreOptions extends Partial<JournalOptions> {
  readonly now: () => number;
  /** Told to a person: a file was moved aside, watching degraded. */
  readonly say: (message: string) => void;
}

export class FolderStore implements Store {
  readonly dir: string;
  readonly journal: Journal;
  readonly #options: FolderStoreOptions;

  constructor(dir: string, options: FolderStoreOptions) {
    this.dir = dir;
    this.#options = options;
    this.journal = new Journal(dir, options);
    this.journal.refresh();
  }

  async refresh(): Promise<readonly TaskId[]> {
    return this.journal.refresh();
  }

  load(id: TaskId): Loop | undefined {
    return this.journal.state.loops.get(id);
  }

  loops(): IterableIterator<Loop> {
    return this.journal.state.loops.values();
  }

  async commit(commit: Commit): Promise<CommitResult> {
    const { id, loop, event, effects, outcomes, at, token, expectedVersion, maxLive } = commit;
    const verdict = this.#append({
      type: "loop",
      at,
      id,
      ver: expectedVersion + 1,
      token,
      ...(maxLive === undefined ? {} : { max: maxLive }),
      event,
      effects: effects as readonly Effect[],
      outcomes,
      loop,
    } satisfies Omit<LoopEntry, "v" | "w">);
    return verdict.kind === "sealed" ? { kind: "conflict" } : verdict;
  }

  lease(): Lease | null {
    return this.journal.state.lease;
  }

  lastToken(): number {
    return this.journal.state.lastToken;
  }

  async acquire(wanted: Omit<Lease, "token">, expectedToken: number): Promise<Lease | null> {
    const lease: Lease = { ...wanted, token: expectedToken + 1 };
    const verdict = this.#append({ type: "lease", at: wanted.acquiredAt, lease });
    if (verdict.kind !== "committed") return null;
    writeLeaseFile(this.dir, lease, wanted.acquiredAt);
    return lease;
  }

  async release(token: number, at: number): Promise<void> {
    if (this.#append({ type: "release", at, token }).kind === "committed") removeLeaseFile(this.dir, token);
  }

  async heartbeat(lease: Lease, at: number): Promise<void> {
    try {
      writeLeaseFile(this.dir, lease, at);
    } catch (error) {
      this.#options.say(cannotWrite(`${this.dir}/loop.lock`, error).message);
    }
  }

  isHolderAlive(lease: Lease, now: number): boolean {
    return isHolderAlive(this.dir, lease, now);
  }

  async publish(): Promise<void> {
    const now = this.#options.now();
    try {
      if (readTasksFile(this.dir).kind === "damaged") {
        const aside = quarantineTasksFile(this.dir, now);
        this.#options.say(`tasks.json did not parse: moved to ${aside} and written anew from the journal.`);
      }
      writeTasksFile(this.dir, renderTasksFile(this.loops(), this.journal.position, now));
    } catch (error) {
      this.#options.say(cannotWrite(`${this.dir}/tasks.json`, error).message);
    }
  }

  watch(callback: () => void): () => void {
    let stop: (() => void) | null = null;
    let stopped = false;
    void import("./watch.ts").then(({ watchFolder }) => {
      if (!stopped) stop = watchFolder(this.dir, callback, this.#options.say);
    });
    return () => {
      stopped = true;
      stop?.();
    };
  }

  #append(entry: Parameters<Journal["append"]>[0]): Verdict {
    try {
      return this.journal.append(entry);
    } catch (error) {
      throw error instanceof LoopError ? error : cannotWrite(`${this.dir}/journal.jsonl`, error);
    }
  }
}
