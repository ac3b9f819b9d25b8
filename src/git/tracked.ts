/** The engine's files that git tracks. They come with a pull or a checkout, so nobody can tell who wrote them (H2). */
import { createGit } from "./git-process.ts";

const NAMES = ["journal*.jsonl", "tasks.json", "state.json", "origin", "loop.lock", "runs"];

/** Relative to the project. Empty outside git. */
export async function trackedEngineFiles(root: string): Promise<readonly string[]> {
  const paths = NAMES.map((name) => `:(glob).loop/${name}`);
  const { code, stdout } = await createGit(root).run({ args: ["ls-files", "-z", "--", ...paths] });
  return code === 0 ? stdout.split("\0").filter((path) => path !== "") : [];
}
