/** Commits the uncommitted work of an attempt on the story's branch, because only commits can be merged. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  asBytes,
  commitOf,
  type Git,
  type GitOptions,
  isAncestor,
  mustSucceed,
  OUR_NAME,
  wordsOf,
} from "../git-process.ts";
import { openPlace, treeOfFiles, type WorkTree } from "./worktree-place.ts";

export type StoryCommitResult =
  /** `commit` is the tip of the branch. */
  | { readonly kind: "committed" | "nothing"; readonly commit: string }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Only for worktrees that we created, because it writes their index. Commits no `.loop` and no ignored file. If the agent
 * switched to another branch, HEAD returns to the story's branch, as long as no commit of that branch is lost.
 */
export async function commitWork(
  worktree: string,
  { branch, message }: { readonly branch: string; readonly message: string },
  options?: GitOptions,
): Promise<StoryCommitResult> {
  try {
    return await commitIn(await openPlace(worktree, options), `refs/heads/${branch}`, message);
  } catch (error) {
    return refused(error);
  }
}

async function commitIn(place: WorkTree, ref: string, message: string): Promise<StoryCommitResult> {
  const { git, head, gitDir } = place.repository;
  const tip = await commitOf(git, ref);
  if (tip === null || head === null) return refused(`the branch ${ref.replace("refs/heads/", "")} is gone`);
  if (underWay(gitDir)) return refused("a merge or rebase is in progress in its worktree");
  if (!(await isAncestor(git, tip, head)))
    return refused("the checked-out commit does not follow the story's branch: its history was rewritten");
  const tree = await treeOfFiles(place);
  const isSame = tree === mustSucceed(await git.run({ args: ["rev-parse", `${head}^{tree}`] })).trim();
  const commit = isSame ? head : await makeCommit(git, tree, [head], message);
  if (commit !== tip) mustSucceed(await git.run({ args: ["update-ref", ref, commit, tip] }));
  mustSucceed(await git.run({ args: ["symbolic-ref", "HEAD", ref] }));
  // always: an earlier process may have been killed right after the branch moved
  mustSucceed(await git.run({ args: ["read-tree", commit] }));
  // only makes the next command faster
  await git.run({ args: ["update-index", "-q", "--refresh"] });
  return { kind: commit === tip ? "nothing" : "committed", commit };
}

export function underWay(gitDir: string): boolean {
  const signs = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];
  return signs.some((name) => existsSync(join(gitDir, name)));
}

/** With the person's name, or with ours if git has no name. */
export async function makeCommit(
  git: Git,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const known = await Promise.all(
    ["user.name", "user.email"].map((key) => git.run({ args: ["config", "--get", key] })),
  );
  const isKnown = known.every(({ code, stdout }) => code === 0 && stdout.trim() !== "");
  const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent])];
  const input = asBytes(`${message.trim()}\n`);
  return mustSucceed(await git.run({ args, input, ...(isKnown ? {} : { env: OUR_NAME }) })).trim();
}

function refused(reason: unknown): StoryCommitResult {
  return { kind: "refused", reason: `The work could not be committed: ${wordsOf(reason)}.` };
}
