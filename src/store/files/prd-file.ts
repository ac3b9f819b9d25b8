/**
 * `.loop/prd.json` on disk. People, planning agents and several commands at once write it, so:
 *
 * 1. A change is decided on what was read, and is written only if that is still there; otherwise it is decided anew.
 * 2. What does not parse is said and left as it is, as is what is no file: a link, a folder, a pipe.
 * 3. A change that is refused writes nothing at all, not even `.loop`.
 */
import { lstatSync } from "node:fs";
import { basename, join } from "node:path";
import type { StoryChange } from "../../core/backlog/prd/registry.ts";
import type { Story } from "../../core/backlog/stories.ts";
import { LoopError } from "../../errors.ts";
import { emptyPrd, type Prd, parsePrdText, renderPrd, withStories } from "../../schema/prd.ts";
import { errorCode, readIfThere, replaceIf } from "../../system/files.ts";
import { cannotRead, cannotWrite, checkLoopDir, ensureLoopDir } from "../folder/loop-dir.ts";
import { whileLocked } from "../folder/write-lock.ts";

/** `text` is what was read. The message of a broken file is a sentence with its path. */
export type PrdState =
  | { readonly kind: "absent" }
  | { readonly kind: "broken"; readonly message: string }
  | { readonly kind: "whole"; readonly prd: Prd; readonly text: string };

export function prdPath(root: string): string {
  return join(root, ".loop", "prd.json");
}

/** Throws the sentence when it cannot be read at all. */
export function readPrd(root: string): PrdState {
  const text = checkLoopDir(root) ? readFile(prdPath(root)) : null;
  if (text === null) return { kind: "absent" };
  const parsed = parsePrdText(text);
  if (parsed.kind === "ok") return { kind: "whole", prd: parsed.prd, text };
  return { kind: "broken", message: `${prdPath(root)}: ${parsed.message}.` };
}

/** The same, for whoever cannot do anything about a broken file; null: there is none. */
export function loadPrd(root: string): { readonly prd: Prd; readonly text: string } | null {
  const state = readPrd(root);
  if (state.kind === "broken")
    throw new LoopError("surroundings", state.message, "Mend it; it was left as it is.");
  return state.kind === "absent" ? null : state;
}

/** `decide` may be called several times, each time with what is there; its last answer is carried out and returned. */
export async function changeStories(
  root: string,
  decide: (stories: readonly Story[]) => StoryChange,
): Promise<StoryChange> {
  const asked = decide(loadPrd(root)?.prd.stories ?? []);
  if (asked.kind === "refused") return asked;
  const dir = ensureLoopDir(root);
  try {
    for (;;) {
      // not in .gitignore by its own name, but as a .tmp
      const change = await whileLocked(join(dir, "prd.lock.tmp"), () => tryToChange(root, decide));
      if (change !== null) return change;
    }
  } catch (error) {
    throw errorCode(error) === null || error instanceof LoopError ? error : cannotWrite(prdPath(root), error);
  }
}

/** null: somebody else, an editor say, wrote in between. */
function tryToChange(root: string, decide: (stories: readonly Story[]) => StoryChange): StoryChange | null {
  const before = loadPrd(root);
  const prd = before?.prd ?? emptyPrd(basename(root));
  const change = decide(prd.stories);
  if (change.kind === "refused") return change;
  const text = before?.text ?? null;
  const path = prdPath(root);
  const after = renderPrd(withStories(prd, change.stories), text);
  return replaceIf(path, after, () => readFile(path) === text) ? change : null;
}

function readFile(path: string): string | null {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    // opening a pipe would wait for its other end; a link is refused by the reading itself
    if (stat !== undefined && !stat.isFile() && !stat.isSymbolicLink() && !stat.isDirectory())
      throw new LoopError("surroundings", `${path} is not a file.`, "Mend or remove it.");
    return readIfThere(path);
  } catch (error) {
    if (error instanceof LoopError) throw error;
    throw cannotRead(path, error);
  }
}
