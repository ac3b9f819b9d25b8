/** Creates worktrees: first the record, then the branch, then the files. `worktrees.ts` has the rules. */
import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { faultOfStoryId } from "../../core/backlog/prd/registry.ts";
import { errorCode, isOwn, orNull, writeAtomic } from "../../system/files.ts";
import { commitOf, realFolder, wordsOf } from "../git-process.ts";
import { openPlace, projectIn, type WorkTree } from "./worktree-place.ts";
import {
  createWorktreeRecord,
  lockReason,
  removeRecord,
  thisProcess,
  type WorktreeRecord,
  writeWorktreeRecord,
} from "./worktree-record.ts";
import { MERGE_MARK, shortName, type Worktree } from "./worktree-state.ts";
import { listWorktrees, removeWorktree, takeAway, type WorktreeOptions } from "./worktrees.ts";

export interface WorktreeRequest {
  readonly story: string;
  /** `loop/` */
  readonly branchPrefix: string;
  /** The branch that receives the work; null: the checked-out branch. */
  readonly target: string | null;
  /** A commit or branch to start from (default: the checked-out commit). */
  readonly from?: string;
  /** The most worktrees of stories. Merged ones are removed first, oldest first. */
  readonly max: number;
}

/** This process owns it until `releaseWorktree`. */
export interface MadeWorktree {
  readonly id: string;
  readonly path: string;
  readonly projectDir: string;
  /** Without `refs/heads/`. */
  readonly branch: string;
  readonly base: string;
}

export type MakeResult =
  | { readonly kind: "made"; readonly worktree: MadeWorktree }
  | { readonly kind: "none"; readonly reason: string };

const MAX_NUMBER = 1_000;

export async function makeWorktree(
  dir: string,
  request: WorktreeRequest,
  options: WorktreeOptions = {},
): Promise<MakeResult> {
  try {
    const fault = faultOfStoryId(request.story);
    if (fault !== null) return noWorktree(`"${request.story}" is not a valid story id: ${fault}`);
    const place = await openPlace(dir, options);
    const base = await commitOf(place.repository.git, request.from ?? "HEAD");
    if (base === null) return noWorktree(noBase(request));
    const full = await makeRoom(dir, request.max, options);
    if (full !== null) return noWorktree(full);
    const record = await reserve(place, request, base, options);
    const projectDir = await fill(place, record);
    const { id, path, branch } = record;
    return { kind: "made", worktree: { id, path, projectDir, branch: shortName(branch ?? ""), base } };
  } catch (error) {
    return noWorktree(error);
  }
}

/** Creates a worktree of a merged commit, for its checks. Throws an error for the middle of a sentence. */
export async function makeMergeWorktree(
  place: WorkTree,
  story: string,
  commit: string,
  options: WorktreeOptions,
): Promise<Pick<MadeWorktree, "id" | "path" | "projectDir">> {
  const folder = makeFolder(place, options);
  for (let number = 1; number <= MAX_NUMBER; number++) {
    const id = numbered(`${MERGE_MARK}${story}`, number);
    const draft = { id, kind: "merge", story, branch: null, base: commit, target: null } as const;
    const record = draftRecord(folder, draft, options);
    if (isThere(record.path) || !createWorktreeRecord(place.repository.commonDir, record)) continue;
    return { id, path: record.path, projectDir: await fill(place, record) };
  }
  throw new Error(`there are too many worktrees for merges of ${story}`);
}

function noBase({ from }: WorktreeRequest): string {
  return from === undefined ? "the repository has no commit yet" : `there is no commit ${from}`;
}

/** Returns an error for the middle of a sentence, or null. */
async function makeRoom(dir: string, max: number, options: WorktreeOptions): Promise<string | null> {
  const isCounted = ({ kind, state }: Worktree) => kind === "story" && state !== "orphaned";
  const all = (await listWorktrees(dir, options)).filter(isCounted);
  let count = all.length;
  for (const { id, isRemovable } of all) {
    if (count < max) break;
    if (isRemovable && (await removeWorktree(dir, id, options)) === null) count -= 1;
  }
  if (count < max) return null;
  const first = all.find(({ isRemovable }) => !isRemovable);
  const example = first === undefined ? "" : ` (${first.id}: ${first.why.replace(/\.$/, "")})`;
  return `there are already ${count} worktrees of stories (at most ${max}), and none can be removed${example}`;
}

/** Creates a record and a branch that no other process has. */
async function reserve(
  place: WorkTree,
  { story, branchPrefix, target }: WorktreeRequest,
  base: string,
  options: WorktreeOptions,
): Promise<WorktreeRecord> {
  const { git, commonDir } = place.repository;
  const folder = makeFolder(place, options);
  for (let number = 1; number <= MAX_NUMBER; number++) {
    const id = numbered(story, number);
    const branch = `refs/heads/${branchPrefix}${id}`;
    const isName = await git.run({ args: ["check-ref-format", branch] });
    if (isName.code !== 0) throw new Error(`${shortName(branch)} is not a valid branch name`);
    const ref = target && `refs/heads/${target}`;
    const draft = { id, kind: "story", story, branch, base, target: ref } as const;
    const record = draftRecord(folder, draft, options);
    // an existing folder or branch may contain work
    if (isThere(record.path) || (await commitOf(git, branch)) !== null) continue;
    if (!createWorktreeRecord(commonDir, record)) continue;
    // the empty text means: the branch must not exist, because another process may be faster
    const made = await git.run({ args: ["update-ref", branch, base, ""] });
    if (made.code === 0) return record;
    removeRecord(commonDir, id);
    if (!/already exists/.test(made.problem)) throw new Error(made.problem);
  }
  throw new Error(`there are too many worktrees of ${story}`);
}

function numbered(name: string, number: number): string {
  return number === 1 ? name : `${name}-${number}`;
}

function draftRecord(
  folder: string,
  draft: Pick<WorktreeRecord, "id" | "kind" | "story" | "branch" | "base" | "target">,
  { now = Date.now }: WorktreeOptions,
): WorktreeRecord {
  const path = join(folder, draft.id);
  return { format: 1, ...draft, path, createdAt: now(), owner: thisProcess(), stage: "making" };
}

/** Adds the files. Returns the project's folder in the worktree. A failure leaves nothing behind. */
async function fill(place: WorkTree, record: WorktreeRecord): Promise<string> {
  const { git, commonDir } = place.repository;
  const { id, path, branch, base } = record;
  const what = branch === null ? ["--detach", path, base] : [path, shortName(branch)];
  const args = ["worktree", "add", "--lock", "--reason", lockReason(id), ...what];
  // git does not create it behind a link; if this fails, git says why
  orNull(() => mkdirSync(join(commonDir, "worktrees"), { recursive: true }));
  const added = await git.run({ args });
  if (added.code !== 0) {
    await takeAway(place, record, base);
    throw new Error(added.problem);
  }
  pointToRepository(path);
  writeWorktreeRecord(commonDir, { ...record, stage: "ready" });
  return projectIn(place, path);
}

/** Git wrote the path through our own folder (`guard.ts`). */
function pointToRepository(path: string): void {
  const file = join(path, ".git");
  const [, dir = ""] = /^gitdir: (.+)$/m.exec(readFileSync(file, "utf8")) ?? [];
  writeAtomic(file, `gitdir: ${realFolder(resolve(path, dir))}\n`);
}

/** The folder may lie inside another repository, which must not commit it. */
function makeFolder({ top }: WorkTree, { folder = `${top}.worktrees` }: WorktreeOptions): string {
  try {
    if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined)
      writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw new Error(`${folder} cannot be created (${errorCode(error) ?? String(error)})`);
  }
  checkOwner(folder);
  return realFolder(folder);
}

/** Another user could exchange the files of a story while its checks run. A link of this user's is fine. */
function checkOwner(folder: string): void {
  const stat = statSync(folder);
  if (!isOwn(lstatSync(folder)) || !isOwn(stat)) throw new Error(`${folder} belongs to another user`);
  if ((stat.mode & 0o022) !== 0) chmodSync(folder, stat.mode & 0o755);
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function noWorktree(reason: unknown): MakeResult {
  return { kind: "none", reason: `No worktree was created: ${wordsOf(reason)}.` };
}
