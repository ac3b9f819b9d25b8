/**
 * Creates a git tree of the project's files: tracked and untracked files with their current content, without ignored
 * files. The rest of the repository, and every `.loop`, has the content of the last commit.
 *
 * A submodule or a nested repository is stored as its commit, without its files.
 */
import { accessSync, constants, lstatSync, rmSync } from "node:fs";
import { asBytes, type GitAnswer, type GitCall, mustSucceed } from "../git-process.ts";
import type { Repository } from "../repository.ts";

/** Other projects in the repository have a `.loop` too, and a rollback must not restore an old journal. */
export const FILES = [".", ":(exclude,glob)**/.loop", ":(exclude,glob)**/.loop/**"];

/** Updates the index from the files and returns the tree. */
export async function stageFiles(repository: Repository, index: string): Promise<string> {
  await readHead(repository, index);
  if (repository.isSparse) await markAbsent(repository, index);
  const nested = await nestedRepositories(repository, index);
  const files = [...FILES.map(asBytes), ...nested.map((name) => `:(exclude,literal)${name}`)];
  const flags = ["--ignore-errors", ...(repository.isSparse ? ["--sparse"] : [])];
  const args = ["add", "-A", ...flags, "--pathspec-from-file=-", "--pathspec-file-nul"];
  const added = await runOnFiles(repository, index, { args, input: files.join("\0") });
  if (added.code !== 0 && !(added.code === 1 && (await isRestBeyondGit(repository, index))))
    mustSucceed(added);
  if (nested.length > 0) await updateNested(repository, index, nested);
  return writeTree(repository, index);
}

/**
 * Repositories in the index. `git add` would run `git status` in them, and that reads their configuration, with filters
 * that an agent may have written.
 */
async function nestedRepositories(repository: Repository, index: string): Promise<readonly string[]> {
  const entries = splitNames(
    mustSucceed(await runOnFiles(repository, index, { args: ["ls-files", "-s", "-z"] })),
  );
  return entries
    .filter((entry) => entry.startsWith("160000 "))
    .map((entry) => entry.slice(entry.indexOf("\t") + 1));
}

/** Reads only which commit is checked out there. */
async function updateNested(repository: Repository, index: string, names: readonly string[]): Promise<void> {
  const args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
  mustSucceed(await runOnFiles(repository, index, { args, input: names.join("\0") }));
}

/** Adds ignored files. */
export async function stageIgnored(
  repository: Repository,
  index: string,
  paths: readonly string[],
): Promise<string> {
  mustSucceed(
    await runOnFiles(repository, index, {
      args: ["add", "-f", "--pathspec-from-file=-", "--pathspec-file-nul"],
      input: paths.join("\0"),
      env: { GIT_LITERAL_PATHSPECS: "1" },
    }),
  );
  return writeTree(repository, index);
}

/** Files whose current content is not in the index. */
export async function unstagedFiles(repository: Repository, index: string): Promise<readonly string[]> {
  const args = ["diff-files", "-z", "--name-only", "--relative", "--ignore-submodules=all"];
  return splitNames(mustSucceed(await runOnFiles(repository, index, { args })));
}

/** For commands that use the index. */
export function runOnFiles({ git }: Repository, index: string, call: GitCall): Promise<GitAnswer> {
  return git.run({ ...call, env: { ...call.env, GIT_INDEX_FILE: index } });
}

export function splitNames(output: string): string[] {
  return output.split("\0").filter((name) => name !== "");
}

/** One file of `diff-tree --raw`. */
export interface RawChange {
  /** The path, one letter per byte. */
  readonly name: string;
  /** Git modes; 000000: missing. */
  readonly before: string;
  readonly after: string;
  /** The object after it; zeros: none. */
  readonly object: string;
}

/** The output of `diff-tree -z --raw --no-renames`. */
export function parseRawDiff(output: string): RawChange[] {
  const fields = splitNames(output);
  return fields.flatMap((name, at) => {
    if (at % 2 === 0) return [];
    const [before = "", after = "", , object = ""] = (fields[at - 1] ?? "").slice(1).split(" ");
    return [{ name, before, after, object }];
  });
}

/** Writes these files into the index and returns its tree. */
export async function writeChanges(
  repository: Repository,
  index: string,
  changes: readonly RawChange[],
  prefix = "",
): Promise<string> {
  const lines = changes.map(({ name, after, object }) => `${after} ${object}\t${prefix}${name}\0`);
  const args = ["update-index", "-z", "--index-info"];
  mustSucceed(await runOnFiles(repository, index, { args, input: lines.join("") }));
  return writeTree(repository, index);
}

/** Entries that equal the last commit keep their cached data; all others are read again. */
async function readHead(repository: Repository, index: string): Promise<void> {
  const { head } = repository;
  const args = head === null ? ["read-tree", "--empty"] : ["read-tree", "--reset", head];
  const read = () => runOnFiles(repository, index, { args });
  if ((await read()).code === 0) return;
  // a damaged index costs only time
  rmSync(index, { force: true });
  mustSucceed(await read());
}

/** In a sparse checkout, a missing file is not a deleted file. The person's index knows which files are left out. */
async function markAbsent(repository: Repository, index: string): Promise<void> {
  const [theirs, ours] = await Promise.all([
    repository.git.run({ args: ["ls-files", "-t", "-z"] }),
    runOnFiles(repository, index, { args: ["ls-files", "-z"] }),
  ]);
  const known = new Set(splitNames(mustSucceed(ours)));
  const absent = splitNames(mustSucceed(theirs))
    .filter((line) => line.startsWith("S "))
    .map((line) => line.slice(2))
    .filter((name) => known.has(name));
  const args = ["update-index", "--skip-worktree", "-z", "--stdin"];
  mustSucceed(await runOnFiles(repository, index, { args, input: absent.join("\0") }));
}

export async function writeTree(repository: Repository, index: string): Promise<string> {
  return mustSucceed(await runOnFiles(repository, index, { args: ["write-tree"] })).trim();
}

/**
 * `add` skipped some files. Unreadable files and repositories without a commit may be left out; any other reason, such
 * as a full disk, is a failure.
 */
async function isRestBeyondGit(repository: Repository, index: string): Promise<boolean> {
  const args = ["ls-files", "-o", "-z", "--exclude-standard", "--", ...FILES];
  const untracked = splitNames(mustSucceed(await runOnFiles(repository, index, { args })));
  const rest = [...untracked, ...(await unstagedFiles(repository, index))];
  return rest.length > 0 && rest.every((name) => isBeyondGit(pathOf(repository, name)));
}

function isBeyondGit(path: Buffer): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stat.isSymbolicLink()) return false;
  if (!stat.isFile()) return true;
  try {
    accessSync(path, constants.R_OK);
    return false;
  } catch {
    return true;
  }
}

/** The path of a git name (one letter per byte) in the project. */
export function pathOf({ git }: Repository, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${git.cwd}/`), Buffer.from(name, "latin1")]);
}
