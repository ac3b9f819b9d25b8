/** The store in `.loop/`: nothing to install, safe between processes. See `journal.ts` for how. */
import { rmSync, statSync } from "node:fs";
import type { Effect } from "../../core/event.ts";
import type { Goal } from "../../core/goal/goal.ts";
import type { Loop, LoopId } from "../../core/loop.ts";
import { progressOf } from "../../core/progress.ts";
import type { TaskView } from "../../core/task/view.ts";
import { LoopError } from "../../errors.ts";
import type { Commit, CommitResult, HolderState, Lease, Store } from "../../ports/store.ts";
import { errorCode } from "../../system/files.ts";
import { GoalFiles } from "../files/goal-files.ts";
import { ProgressFile } from "../files/progress-file.ts";
import { tasksFileOf } from "../files/published-tasks.ts";
import {
  isPublished,
  quarantineTasksFile,
  readTasksFile,
  renderTasksFile,
  writeTasksFile,
} from "../files/tasks-file.ts";
import type { Verdict } from "../journal/admission.ts";
import { mayWait } from "../journal/durability.ts";
import type { LoopEntry } from "../journal/entry.ts";
import { Journal, type JournalOptions } from "../journal/journal.ts";
import {
  holderState,
  isHolderGone,
  readAsk,
  removeLeaseFile,
  writeAsk,
  writeLeaseFile,
} from "./lease-file.ts";
import { cannotRead, cannotWrite, claimLoopDir, folderIdentity } from "./loop-dir.ts";
import { deliveredTo, isSessionOver } from "./session-records.ts";

export interface FolderStoreOptions extends Partial<JournalOptions> {
  readonly now: () => number;
  /** Told to a person: a file was moved aside, watching degraded. */
  readonly say: (message: string) => void;
}

/** While a goal is at work, its progress is published this often. */
const PROGRESS_MS = 500;

export class FolderStore implements Store {
  readonly dir: string;
  readonly journal: Journal;
  readonly goalFiles: GoalFiles;
  readonly #progress: ProgressFile;
  #progressAt = 0;
  readonly #options: FolderStoreOptions;
  readonly #watchers = new Set<() => void>();
  #stopWatching: () => void = () => {};
  #identity: string | null = null;
  #claimed: string | null = null;
  /** What tasks.json lists, as this process wrote it. */
  #publishedList: string | null = null;

  constructor(dir: string, options: FolderStoreOptions) {
    this.dir = dir;
    this.#options = options;
    this.journal = new Journal(dir, options);
    this.goalFiles = new GoalFiles(dir, options.say);
    this.#progress = new ProgressFile(dir, options.say);
    this.#read(() => this.journal.refresh());
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
    const { id, loop, event, effects, outcomes, at, token, expectedVersion, maxLive } = commit;
    const entry = {
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
    } satisfies Omit<LoopEntry, "v" | "w">;
    const verdict = this.#append(entry, mayWait(commit));
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
    this.journal.guard.arm(lease.token, this.journal.state.loops.values());
    this.#tryLeaseFile(() => writeLeaseFile(this.dir, lease, wanted.acquiredAt));
    return lease;
  }

  async release(token: number, at: number): Promise<void> {
    this.journal.guard.disarm();
    if (this.#append({ type: "release", at, token }).kind !== "committed") return;
    this.#tryLeaseFile(() => removeLeaseFile(this.dir, token));
  }

  async heartbeat(lease: Lease, at: number): Promise<void> {
    // A holder that lost the lease must not write over the sign of life of the new one.
    if (this.journal.state.lease?.token !== lease.token) return;
    this.#tryLeaseFile(() => writeLeaseFile(this.dir, lease, at));
  }

  takeForged(): ReturnType<Store["takeForged"]> {
    return this.journal.guard.takeForged((id) => this.#said(id));
  }

  holderState(lease: Lease, now: number): HolderState {
    return holderState(this.dir, lease, now);
  }

  isHolderGone(lease: Lease): boolean {
    return isHolderGone(lease);
  }

  askForLease(by: Omit<Lease, "token">): void {
    this.#tryLeaseFile(() => writeAsk(this.dir, by));
  }

  leaseAsked(): Omit<Lease, "token"> | null {
    return readAsk(this.dir);
  }

  deliveredTo(turnId: string): string | null {
    return deliveredTo(this.dir, turnId);
  }

  isSessionOver(session: string): boolean {
    return isSessionOver(this.dir, session);
  }

  async publish({ adopted }: { readonly adopted?: string } = {}): Promise<void> {
    try {
      this.#claim();
      this.#publishGoals();
      this.#publishProgress();
      if (adopted === undefined && this.#isListPublished()) return;
      for (let round = 0; round < 10; round++) {
        const result = this.#publishOnce(adopted);
        this.#publishProgress();
        // Two that publish at once: whoever writes last looks once more, so that the newest state stands.
        if (result === "left" || (result === "written" && !this.#hasNews())) return;
      }
    } catch (error) {
      const sentence = error instanceof LoopError ? error : cannotWrite(`${this.dir}/tasks.json`, error);
      this.#options.say(sentence.message);
    }
  }

  #publishGoals(): void {
    const goals = this.#goals();
    if (goals.length > 0) this.goalFiles.publish(goals, this.#options.now());
  }

  /** For status lines (D9), which look once a second at most. */
  #publishProgress(): void {
    const isAtWork = this.#goals().some(({ status }) => status === "active");
    if (isAtWork && Math.abs(this.#options.now() - this.#progressAt) < PROGRESS_MS) return;
    this.#progressAt = this.#options.now();
    const tasks = [...this.loops()].filter((loop) => loop.kind === "task");
    const now = this.#options.now();
    this.#progress.publish(progressOf({ tasks, goals: this.#goals(), lease: this.lease(), now }));
  }

  /** `left`: it waits to be adopted. `overtaken`: somebody wrote it in between. */
  #publishOnce(adopted: string | undefined): "written" | "left" | "overtaken" {
    const now = this.#options.now();
    this.journal.catchUp();
    const there = readTasksFile(this.dir);
    const isTaken = there.text !== null && there.text === adopted;
    if (there.kind === "edited" && !isTaken) return "left";
    // The journal was taken away or damaged: what was published is the last that is known of some tasks.
    const isLost = this.lostTasks().length > 0;
    if (isLost && !isTaken) return "left";
    if (there.kind === "damaged") this.#moveAside(now);
    const before = there.kind === "damaged" ? null : there.text;
    const list = this.#listKey();
    const text = renderTasksFile(tasksFileOf(this, now));
    const isWritten = writeTasksFile(
      this.dir,
      text,
      now,
      (now) => now.kind !== "damaged" && (now.text === before || (now.kind === "published" && !isLost)),
    );
    if (isWritten) this.#publishedList = list;
    return isWritten ? "written" : "overtaken";
  }

  /**
   * A goal at work writes to the journal all the time, and next to nothing of that is in tasks.json. It is left as it
   * is until a task changes, or the goal comes to rest; who lists meanwhile reads the journal.
   */
  #isListPublished(): boolean {
    const isAtWork = this.#goals().some(({ status }) => status === "active");
    return isAtWork && this.#publishedList === this.#listKey();
  }

  #listKey(): string {
    const tasks = [...this.loops()].filter((loop) => loop.kind === "task");
    return JSON.stringify([this.lease()?.token, tasks.map(({ id, version }) => [id, version])]);
  }

  #goals(): readonly Goal[] {
    return [...this.loops()].filter((loop) => loop.kind === "goal");
  }

  /** Tasks that were published, and of which the journal, gone, cut or damaged since, knows nothing any more. */
  lostTasks(): readonly TaskView[] {
    const file = readTasksFile(this.dir);
    if (file.kind !== "published") return [];
    // After the file: whatever it had seen of the journal, we have seen too, unless it is not there any more.
    this.journal.catchUp();
    const { generation, bytes } = this.journal.position;
    const { journal, tasks } = file.content;
    const isCut =
      journal.generation > generation || (journal.generation === generation && journal.bytes > bytes);
    const isDamaged = journal.generation === generation && this.journal.state.damaged > 0;
    if (!isCut && !isDamaged) return [];
    const { loops, ended } = this.journal.state;
    return tasks.filter(({ id }) => !loops.has(id as LoopId) && !ended.has(id as LoopId));
  }

  /** Is this still the folder that was opened? Not after `rm -rf`, `git clean -fdx` or a move of the project. */
  isInPlace(): boolean {
    const identity = folderIdentity(this.dir);
    this.#identity ??= identity;
    return identity !== null && identity === this.#identity;
  }

  #moveAside(now: number): void {
    let aside: string;
    try {
      aside = quarantineTasksFile(this.dir, now);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return;
      throw error;
    }
    // Another process was faster with the damaged file, and this is the one that it published.
    if (isPublished(aside)) rmSync(aside);
    else this.#options.say(`tasks.json did not parse: moved to ${aside} and written anew from the journal.`);
  }

  #hasNews(): boolean {
    const { generation, bytes } = this.journal.position;
    this.journal.catchUp();
    const now = this.journal.position;
    return now.generation !== generation || now.bytes !== bytes;
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

  /** The lease is the line in the journal: it counts whatever becomes of the file. */
  #tryLeaseFile(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#options.say(cannotWrite(`${this.dir}/loop.lock`, error).message);
    }
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
