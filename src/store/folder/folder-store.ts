/**
 * The store in the folder `.loop/`. It needs no server and is safe between processes; `journal/journal.ts` explains how.
 * This class has the loops and extends the lease, because both are lines of one journal.
 */
import type { Loop, LoopId } from "../../core/loop.ts";
import type { Commit, CommitResult, HeldLoop, StoreFault } from "../../ports/loops.ts";
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
  readonly #saidHeld = new Set<LoopId>();
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
    this.#sayHeld();
  }

  get dir(): string {
    return this.#folder.dir;
  }

  get journal(): Journal {
    return this.#folder.journal;
  }

  async catchUp(): Promise<void> {
    this.#folder.read((journal) => journal.catchUp());
    this.#sayHeld();
  }

  async refresh(): Promise<readonly LoopId[]> {
    const changed = this.#folder.read((journal) => journal.refresh());
    this.#sayHeld();
    return changed;
  }

  load(id: LoopId): Loop | undefined {
    const { guard, held } = this.journal;
    if (held.has(id) && !guard.knows(id)) return undefined;
    return guard.believe(id, this.#said(id));
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
    const { damaged, foreign } = this.journal.state;
    const held = this.#held(lost);
    return [
      ...(foreign > 0 ? [{ kind: "foreign", count: foreign } as const] : []),
      ...(held.length > 0 ? [{ kind: "held", loops: held } as const] : []),
      ...(damaged > 0 ? [{ kind: "damaged", count: damaged } as const] : []),
      ...(lost.length > 0 ? [{ kind: "lost", ids: lost } as const] : []),
    ];
  }

  /** Loops whose newest state nobody knows: neither this process nor the published file. */
  #held(lost: readonly LoopId[]): readonly HeldLoop[] {
    const { held, guard } = this.journal;
    return [...held.values()].filter(({ id }) => !guard.knows(id) && !lost.includes(id));
  }

  /** Says once which loops do not run because the journal is older than it was. */
  #sayHeld(): void {
    if (this.journal.held.size === 0) return;
    const ids = this.#held(lostTasks(this.#folder).map(({ id }) => id as LoopId)).map(({ id }) => id);
    if (ids.length === 0 || ids.every((id) => this.#saidHeld.has(id))) return;
    for (const id of ids) this.#saidHeld.add(id);
    const which = ids.length === 1 ? `loop ${ids[0]}. It does` : `the loops ${ids.join(", ")}. They do`;
    this.#folder.say(
      `The journal is older than it was: it lacks the newest state of ${which} not run. Restore the journal, or go on with what is left: loop trust`,
    );
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
