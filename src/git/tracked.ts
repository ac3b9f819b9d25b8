/** The engine's files that git tracks. They come with a pull or a checkout, so nobody can tell who wrote them (H2). */
import { repositoryAbove } from "../system/find-program.ts";
import { createGit } from "./git-process.ts";

const NAMES = ["journal*.jsonl", "tasks.json", "state.json", "origin", "loop.lock", "runs"];

export interface Tracked {
  /** Relative to the project. */
  readonly files: readonly string[];
  /** Why git does not tell, for the middle of a sentence; null: it told. */
  readonly problem: string | null;
}

/** Outside a repository nothing is tracked. */
export async function trackedEngineFiles(root: string): Promise<Tracked> {
  // some disks ignore upper and lower case
  const paths = NAMES.map((name) => `:(glob,icase).loop/${name}`);
  const { code, stdout, problem } = await createGit(root).run({ args: ["ls-files", "-z", "--", ...paths] });
  if (code === 0) return { files: stdout.split("\0").filter((path) => path !== ""), problem: null };
  return { files: [], problem: repositoryAbove(root) === null ? null : problem };
}
