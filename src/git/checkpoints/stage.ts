/**
 * The project's files as a tree of git's: what is tracked and what would be, with the work tree's content. The rest
 * of the repository, and every `.loop`, is in it as the last commit has it. Ignored files are left out.
 *
 * A submodule or a repository inside of the project is in it by the commit it stands on, without its files.
 */
import { accessSync, constants, lstatSync, rmSync } from "node:fs";
import { LoopError } from "../../errors.ts";
import type { GitAnswer, GitCall } from "../git-process.ts";
import type { Repository } from "../repository.ts";

/** Other projects of the same repository have a `.loop` too: a rollback must not turn back their journal. */
export const FILES = [".", ":(exclude,glob)**/.loop", ":(exclude,glob)**/.loop/**"];

/** Brings the index up to date with the files; the tree. */
export async function stageFiles(repository: Repository, index: string): Promise<string> {
  await readHead(repository, index);
  if (repository.isSparse) await markAbsent(repository, index);
  const args = ["add", "-A", "--ignore-errors", ...(repository.isSparse ? ["--sparse"] : []), "--", ...FILES];
  const added = await runOnFiles(repository, index, { args });
  if (added.code !== 0 && !(added.code === 1 && (await isRestBeyondGit(repository, index)))) fail(added);
  return writeTree(repository, index);
}

/** Takes in files that are ignored. */
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

/** Files of which the index does not know the present content. */
export async function unstagedFiles(repository: Repository, index: string): Promise<readonly string[]> {
  const args = ["diff-files", "-z", "--name-only", "--relative", "--ignore-submodules=all"];
  return splitNames(mustSucceed(await runOnFiles(repository, index, { args })));
}

/** For commands that use the index: even `read-tree` may look into a file, through its filter. */
export function runOnFiles(
  { git, filterSettings }: Repository,
  index: string,
  call: GitCall,
): Promise<GitAnswer> {
  return git.run({
    ...call,
    args: [...filterSettings, ...call.args],
    env: { ...call.env, GIT_INDEX_FILE: index },
  });
}

export function mustSucceed(answer: GitAnswer): string {
  return answer.code === 0 ? answer.stdout : fail(answer);
}

export function splitNames(output: string): string[] {
  return output.split("\0").filter((name) => name !== "");
}

function fail({ problem }: GitAnswer): never {
  throw new LoopError("surroundings", problem);
}

/** Entries that are as in the last commit keep what is known of their files; all others are looked at again. */
async function readHead(repository: Repository, index: string): Promise<void> {
  const { head } = repository;
  const args = head === null ? ["read-tree", "--empty"] : ["read-tree", "--reset", head];
  const read = () => runOnFiles(repository, index, { args });
  if ((await read()).code === 0) return;
  // a damaged index is only a loss of time
  rmSync(index, { force: true });
  mustSucceed(await read());
}

/** In a sparse checkout files that are not on disk are not deleted: the person's index knows which. */
async function markAbsent(repository: Repository, index: string): Promise<void> {
  const [theirs, ours] = await Promise.all([
    repository.git.run({ args: [...repository.filterSettings, "ls-files", "-t", "-z"] }),
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
 * `add` went on after files that it could not take. Those that nobody can read and repositories without a commit
 * are left out; anything else, such as a full disk, is a failure.
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

/** A name of git's, one letter per byte, in the project. */
export function pathOf({ git }: Repository, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${git.cwd}/`), Buffer.from(name, "latin1")]);
}
