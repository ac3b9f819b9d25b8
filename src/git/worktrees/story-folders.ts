/** The project's folder in each worktree of a story. Turns of the story leave their output there. */
import { openPlace, projectIn } from "./worktree-place.ts";
import { readRecords } from "./worktree-record.ts";

/** Newest first; empty without git. Never rejects. */
export async function storyFolders(projectDir: string): Promise<readonly string[]> {
  try {
    const opened = await openPlace(projectDir);
    if (opened.kind === "none") return [];
    const { place } = opened;
    return readRecords(place.commonDir)
      .filter(({ kind }) => kind === "story")
      .map(({ path }) => projectIn(place, path))
      .reverse();
  } catch {
    return [];
  }
}
