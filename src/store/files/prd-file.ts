/**
 * `.loop/prd.json` on disk. People, planning agents and several commands may write it at the same time.
 *
 * 1. A change is based on the file as read. It is written only if the file is unchanged; otherwise it is decided again.
 * 2. An invalid file stays unchanged and is reported. So is a link, a folder or a pipe with that name.
 * 3. A refused change writes nothing, not even `.loop`.
 */
import { basename, join } from "node:path";
import type { StoryChange } from "../../core/backlog/prd/registry.ts";
import type { Story } from "../../core/backlog/stories.ts";
import { LoopError, surroundingsError } from "../../errors.ts";
import { emptyPrd, type Prd, parsePrdText, renderPrd, withStories } from "../../schema/prd.ts";
import { errorCode, readIfThere, replaceIf } from "../../system/files.ts";
import { cannotWrite, checkLoopDir, ensureLoopDir, whileReading } from "../folder/loop-dir.ts";
import { whileLocked } from "../folder/write-lock.ts";

/** `text` is the text of the file. `message` is a sentence with the path. */
type PrdState =
  | { readonly kind: "absent" }
  | { readonly kind: "broken"; readonly message: string }
  | { readonly kind: "whole"; readonly prd: Prd; readonly text: string };

export function prdPath(root: string): string {
  return join(root, ".loop", "prd.json");
}

/** Throws a sentence when the file is unreadable. */
export function readPrd(root: string): PrdState {
  const text = checkLoopDir(root) ? readFile(prdPath(root)) : null;
  if (text === null) return { kind: "absent" };
  const parsed = parsePrdText(text);
  if (parsed.kind === "ok") return { kind: "whole", prd: parsed.prd, text };
  return { kind: "broken", message: `${prdPath(root)}: ${parsed.message}.` };
}

/** Like `readPrd`, but throws when the file is broken. null: there is no file. */
export function loadPrd(root: string): { readonly prd: Prd; readonly text: string } | null {
  const state = readPrd(root);
  if (state.kind === "broken") throw surroundingsError(state.message, "Fix the file. It was not changed.");
  return state.kind === "absent" ? null : state;
}

/** May call `decide` several times, each time with the current stories. Carries out and returns the last answer. */
export async function changeStories(
  root: string,
  decide: (stories: readonly Story[]) => StoryChange,
): Promise<StoryChange> {
  const asked = decide(loadPrd(root)?.prd.stories ?? []);
  return asked.kind === "refused" ? asked : writePrd(root, () => tryToChange(root, decide));
}

/** Repeats `attempt` under the lock of prd.json until it returns a result. */
export async function writePrd<T>(root: string, attempt: () => T | null): Promise<T> {
  const dir = ensureLoopDir(root);
  try {
    for (;;) {
      // .gitignore covers this name by *.tmp
      const done = await whileLocked(join(dir, "prd.lock.tmp"), attempt);
      if (done !== null) return done;
    }
  } catch (error) {
    throw errorCode(error) === null || error instanceof LoopError ? error : cannotWrite(prdPath(root), error);
  }
}

/** null: another program, for example an editor, wrote the file meanwhile. */
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
  return whileReading(path, () => readIfThere(path));
}
