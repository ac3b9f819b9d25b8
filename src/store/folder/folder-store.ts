/**
 * The store in the folder `.loop/`. It needs no server and is safe between processes; `journal/journal.ts` explains how.
 * This class has the loops and extends the lease, because both are lines of one journal.
 */
import type { Loop, LoopId } from "../../core/loop.ts";
import type { Commit, CommitResult, StoreFault } from "../../ports/loops.ts";
import type { Sessions } from "../../ports/sessions.ts";
import type { Store } from "../../ports/store.ts";
import { mayWait } from "../journal/durability.ts";
import { commitLine } from "../journal/entry.ts";
import type { Journal } from "../journal/journal.ts";
import { FolderHistory } from "./history.ts";
import { FolderLease } from "./lease.ts";
import { lostTasks } from "./lost-tasks.ts";
import { type FolderOptions, OpenedFolder } from "./opened-folder.ts";
import { FolderPublisher } from "./published.ts";
import { FolderRequests } from "./requests.ts";
import { createSessions } from "./session-records.ts";

export class FolderStore extends FolderLease implements Store {
  readonly history: FolderHistory;
  readonly sessions: Sessions;
  readonly published: FolderPublisher;
  readonly requests: FolderRequests;
  readonly #folder: OpenedFolder;
  readonly #watchers = new Set<() => void>();
  #stopWatching: () => void = () => {};

  constructor(dir: string, options: FolderOptions) {
    const folder = new OpenedFolder(dir, options);
    super(folder);
    this.#folder = folder;
    this.history = new FolderHistory(dir);
    this.sessions = createSessions(dir);
    this.published = new FolderPublisher(folder, this);
    this.requests = new FolderRequests(folder, this.published);
    folder.read((journal) => journal.refresh());
  }

  get dir(): string {
    return this.#folder.dir;
  }

  get journal(): Journal {
    return this.#folder.journal;
  }

  async catchUp(): Promise<void> {
    this.#folder.read((journal) => journal.catchUp());
  }

  async refresh(): Promise<readonly LoopId[]> {
    return this.#folder.read((journal) => journal.refresh());
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

  /** The loop in the journal, whoever wrote it. */
  #said(id: LoopId): Loop | undefined {
    return this.journal.state.loops.get(id);
  }

  async commit(commit: Commit): Promise<CommitResult> {
    const verdict = this.#folder.append(commitLine(commit), mayWait(commit));
    return verdict.kind === "sealed" ? { kind: "conflict" } : verdict;
  }

  takeForged(): ReturnType<Store["takeForged"]> {
    return this.journal.guard.takeForged((id) => this.#said(id));
  }

  isInPlace(): boolean {
    return this.#folder.isInPlace();
  }

  faults(): readonly StoreFault[] {
    const lost = lostTasks(this.#folder).map(({ id }) => id as LoopId);
    const { damaged } = this.journal.state;
    return [
      ...(damaged > 0 ? [{ kind: "damaged", count: damaged } as const] : []),
      ...(lost.length > 0 ? [{ kind: "lost", ids: lost } as const] : []),
    ];
  }

  watch(callback: () => void): () => void {
    this.#watchers.add(callback);
    if (this.#watchers.size === 1) this.#startWatching();
    return () => {
      this.#watchers.delete(callback);
      if (this.#watchers.size === 0) this.#stopWatching();
    };
  }

  /** One watcher for all callbacks. Imported here, because only resident processes need it. */
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
        this.#stopWatching = watchFolder(this.dir, notify, this.#folder.say);
      },
      (error: unknown) => this.#folder.say(`Cannot watch ${this.dir}: ${String(error)}.`),
    );
  }
}
