/**
 * Owns checkpoints (B4): the files of a project as commits on `refs/loopwright/<loop>/<number>`. The parent of a
 * checkpoint is the checkpoint before it; the parent of the first is the checked-out commit. `git gc` keeps them until
 * `remove`. `git push --mirror` sends them, a plain `git push` does not.
 *
 * 1. The person's index, branches, stash, configuration and reflogs are never written. All work uses a private index
 *    (`private-index.ts`) and refs below `refs/loopwright`.
 * 2. Hooks and programs from the repository's configuration do not run (`git-process.ts`, `repository.ts`).
 * 3. A checkpoint exists when its ref exists. An interrupted save has no effect.
 * 4. Errors of git or of an agent are returned, not thrown.
 *
 * Line endings are converted as git does for this repository.
 */
import type { LoopId } from "../../core/loop.ts";
import type {
  Checkpoint,
  CheckpointBegun,
  CheckpointResult,
  Checkpoints,
  RollbackResult,
} from "../../ports/checkpoints.ts";
import type { Snapshot } from "../../ports/checks.ts";
import { createGit, type GitOptions, mustSucceed, readable, refuse, wordsOf } from "../git-process.ts";
import { findRepository, type Repository } from "../repository.ts";
import {
  parseRefs,
  readRefs,
  record,
  refOf,
  type StoredCheckpoint,
  seconds,
  signature,
  stepOf,
  subjectOf,
} from "./checkpoint-refs.ts";
import { type Entries, type Importer, readChanges, startImporter } from "./import-save.ts";
import { removePrivateIndex, withPrivateIndex } from "./private-index.ts";
import { planPutBack, putBack } from "./put-back.ts";
import { quickSave, signOfRepository } from "./quick-save.ts";
import { stageFiles } from "./stage.ts";

export interface CheckpointOptions extends GitOptions {
  readonly now?: () => number;
}

export interface GitCheckpoints extends Checkpoints {
  /** Removes all checkpoints of the loop. false: nothing was removed. */
  remove(loopId: LoopId): Promise<boolean>;
}

const BEFORE_ROLLBACK = "before rollback";
const ID = /^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$/;

/** What the last save of this process learned, so that the next one is quick. */
interface Known {
  readonly repository: Repository;
  readonly sign: string;
  readonly last: StoredCheckpoint;
}

interface Files {
  readonly before: Snapshot;
  readonly after: Snapshot;
}

export function createCheckpoints(projectDir: string, options: CheckpointOptions = {}): GitCheckpoints {
  return new RefCheckpoints(projectDir, options);
}

class RefCheckpoints implements GitCheckpoints {
  readonly #projectDir: string;
  readonly #now: () => number;
  readonly #git: GitOptions;
  readonly #known = new Map<LoopId, Known>();
  /** The number of the last checkpoint that was started. */
  readonly #begun = new Map<LoopId, number>();
  #importer: Importer | null = null;
  /** Saves run one after another, because they share an index and each is the parent of the next. */
  #running: Promise<unknown> = Promise.resolve();

  constructor(projectDir: string, { now = Date.now, ...git }: CheckpointOptions) {
    this.#projectDir = projectDir;
    this.#now = now;
    this.#git = git;
  }

  save(loopId: LoopId, label: string): Promise<CheckpointResult> {
    return this.#enqueue(() => this.#saveWhole(loopId, label));
  }

  begin(loopId: LoopId, label: string, files: Files | null): Promise<CheckpointBegun> {
    const entries = this.#entriesOf(loopId, files);
    if (entries === null)
      return new Promise((done) => void this.#enqueue(() => this.#beginByGit(loopId, label, done)));
    const number = (this.#begun.get(loopId) ?? 0) + 1;
    this.#begun.set(loopId, number);
    void this.#enqueue(() => this.#import(loopId, label, number, entries));
    return Promise.resolve({ kind: "begun", step: stepOf(number) });
  }

  async settle(): Promise<void> {
    await this.#running;
    await this.#endImporter();
  }

  async list(loopId: LoopId): Promise<readonly Checkpoint[]> {
    try {
      const { existing } = await this.#open(loopId);
      return existing.map(({ commit, label, at, number }) => ({ step: stepOf(number), commit, label, at }));
    } catch {
      return [];
    }
  }

  async restore(loopId: LoopId, commit: string): Promise<RollbackResult> {
    let undo: string | null = null;
    try {
      const { repository, existing } = await this.#open(loopId);
      const target = existing.find((checkpoint) => checkpoint.commit === commit);
      if (target === undefined)
        return { kind: "refused", reason: `${commit} is not a checkpoint of ${loopId}.` };
      return await withPrivateIndex(repository, loopId, async (index) => {
        const present = await stageFiles(repository, index);
        const plan = await planPutBack(repository, index, present, target.tree);
        const state = { tree: plan.present, label: BEFORE_ROLLBACK, at: this.#now() };
        undo = (await record(repository, loopId, existing, state)).commit;
        await putBack(repository, index, plan);
        return { kind: "restored", files: plan.changes.map(({ name }) => readable(name)), undo };
      });
    } catch (error) {
      const reason =
        undo === null
          ? `Nothing was changed: ${wordsOf(error)}.`
          : `Not all files could be restored: ${wordsOf(error)}. The files from before the rollback are in commit ${undo}.`;
      return { kind: "refused", reason };
    }
  }

  async remove(loopId: LoopId): Promise<boolean> {
    try {
      const { repository, existing } = await this.#open(loopId);
      const lines = existing.map(({ ref }) => `delete ${ref}\n`);
      mustSucceed(await repository.git.run({ args: ["update-ref", "--stdin"], input: lines.join("") }));
      removePrivateIndex(repository, loopId);
      return existing.length > 0;
    } catch {
      return false;
    }
  }

  /** Lets git find the changes. Calls `done` as soon as the files may change again. */
  async #beginByGit(loopId: LoopId, label: string, done: (begun: CheckpointBegun) => void): Promise<void> {
    const before = this.#known.get(loopId);
    const step = before === undefined ? 0 : stepOf(before.last.number + 1);
    let isTaken = false;
    const onStaged = () => {
      isTaken = true;
      done({ kind: "begun", step });
    };
    const isSaved = before !== undefined && (await this.#saveQuickly(loopId, before, label, onStaged));
    // After staging, the next turn may change the files, so a failed save cannot be repeated.
    if (!isSaved && !isTaken) {
      const saved = await this.#saveWhole(loopId, label);
      done(saved.kind === "saved" ? { kind: "begun", step: saved.step } : saved);
    }
    this.#begun.set(loopId, this.#known.get(loopId)?.last.number ?? 0);
  }

  async #open(
    loopId: LoopId,
  ): Promise<{ readonly repository: Repository; readonly existing: readonly StoredCheckpoint[] }> {
    if (!ID.test(loopId)) refuse(`${loopId} is not a loop id`);
    const git = createGit(this.#projectDir, this.#git);
    const [repository, refs] = await Promise.all([findRepository(git), readRefs(git, loopId)]);
    return { repository, existing: parseRefs(mustSucceed(refs)) };
  }

  async #saveWhole(loopId: LoopId, label: string): Promise<CheckpointResult> {
    this.#known.delete(loopId);
    // the importer knows only the state at its start and its own commits
    await this.#endImporter();
    try {
      const { repository, existing } = await this.#open(loopId);
      const sign = signOfRepository(repository);
      const last = await withPrivateIndex(repository, loopId, async (index) => {
        const tree = await stageFiles(repository, index);
        return record(repository, loopId, existing, { tree, label, at: this.#now() });
      });
      if (!repository.isSparse) this.#known.set(loopId, { repository, sign, last });
      this.#begun.set(loopId, last.number);
      return { kind: "saved", commit: last.commit, step: stepOf(last.number) };
    } catch (error) {
      return {
        kind: "none",
        reason: `No checkpoint was saved, so you cannot roll back to this step: ${wordsOf(error)}.`,
      };
    }
  }

  async #endImporter(): Promise<void> {
    const ending = this.#importer?.end();
    this.#importer = null;
    await ending;
  }

  /** Saves contents that were read before; the files may have changed since. */
  async #import(loopId: LoopId, label: string, number: number, entries: Entries): Promise<void> {
    // let a check start first, because starting a process takes time
    await new Promise((resolve) => setImmediate(resolve));
    const before = this.#known.get(loopId);
    if (before === undefined) return;
    const at = this.#now();
    const ref = refOf(loopId, number);
    const save = { ref, parent: before.last.commit, label: subjectOf(label), at: seconds(at), entries };
    this.#importer ??= startImporter(before.repository);
    const commit = await this.#importer.save(save);
    // The tree stays empty: it is unknown, so the next save by `git add` always makes a commit.
    if (commit === null) {
      this.#known.delete(loopId);
      await this.#endImporter();
    } else this.#known.set(loopId, { ...before, last: { ref, number, label, at, commit, tree: "" } });
  }

  /** false: save the whole state instead. */
  async #saveQuickly(
    loopId: LoopId,
    { repository, sign, last }: Known,
    label: string,
    onStaged: () => void,
  ): Promise<boolean> {
    try {
      if (signOfRepository(repository) !== sign) return false;
      const [number, at] = [last.number + 1, this.#now()];
      const ref = refOf(loopId, number);
      return await withPrivateIndex(repository, loopId, async (index) => {
        const { commit: parent, tree } = last;
        const save = { ref, parent, tree, label: subjectOf(label), index, env: signature(at) };
        const result = await quickSave(repository, save, onStaged);
        if (result.kind === "failed") throw new Error("the quick save failed");
        if (result.kind === "saved")
          this.#known.set(loopId, { repository, sign, last: { ...result, ref, number, label, at } });
        return true;
      });
    } catch {
      this.#known.delete(loopId);
      return false;
    }
  }

  /** null: git itself has to read the files. */
  #entriesOf(loopId: LoopId, files: Files | null): Entries | null {
    const before = this.#known.get(loopId);
    if (before === undefined || files === null || signOfRepository(before.repository) !== before.sign)
      return null;
    return readChanges(before.repository, files.before, files.after);
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#running.then(work);
    this.#running = next.catch(() => {});
    return next;
  }
}
