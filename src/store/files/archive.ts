/**
 * A whole backlog in the place of the one that is there (C10).
 *
 * 1. It is decided on what was read, and written only if that is still there; otherwise it is decided anew.
 * 2. What it takes the place of is in `.loop/archive/<date>-<branch>/` before anything is written: prd.json as a
 *    copy, what belongs to its stories by its name alone. A kill in between leaves all of it, here or there.
 * 3. What is refused writes nothing at all, not even `.loop`.
 */
import { lstatSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ARCHIVED, archiveName } from "../../core/backlog/prd/archive.ts";
import { LoopError } from "../../errors.ts";
import { type Prd, type PrdContent, renderPrd } from "../../schema/prd.ts";
import { errorCode, fsyncDir, readIfThere, replaceIf, writeAtomic } from "../../system/files.ts";
import { cannotWrite, ensureLoopDir } from "../folder/loop-dir.ts";
import { whileLocked } from "../folder/write-lock.ts";
import { ensureFolder } from "./backlog-files.ts";
import { loadPrd, prdPath } from "./prd-file.ts";

/** `archive`: what is there is kept as an archive; a file that is not there has nothing to keep. */
export type Replacement =
  | { readonly kind: "replace"; readonly content: PrdContent; readonly archive: boolean }
  | { readonly kind: "refused"; readonly message: string; readonly hint: string | null };

export type Replaced =
  /** `archived` is the folder; null: nothing was. `before` is what is no longer there. */
  | { readonly kind: "replaced"; readonly archived: string | null; readonly before: Prd | null }
  | Extract<Replacement, { kind: "refused" }>;

/** `decide` may be called several times, each time with what is there; its last answer is carried out. */
export async function replacePrd(
  root: string,
  decide: (before: Prd | null) => Replacement,
  now: number,
): Promise<Replaced> {
  const asked = decide(loadPrd(root)?.prd ?? null);
  if (asked.kind === "refused") return asked;
  const dir = ensureLoopDir(root);
  try {
    for (;;) {
      // the same lock as for every other change of the file
      const done = await whileLocked(join(dir, "prd.lock.tmp"), () => tryToReplace(root, decide, now));
      if (done !== null) return done;
    }
  } catch (error) {
    throw errorCode(error) === null || error instanceof LoopError ? error : cannotWrite(prdPath(root), error);
  }
}

/** null: somebody else, an editor say, wrote in between; nothing was changed then. */
function tryToReplace(
  root: string,
  decide: (before: Prd | null) => Replacement,
  now: number,
): Replaced | null {
  const before = loadPrd(root);
  const wanted = decide(before?.prd ?? null);
  if (wanted.kind === "refused") return wanted;
  const archive = wanted.archive && before !== null ? makeArchive(root, before.prd, before.text, now) : null;
  const path = prdPath(root);
  const text = before?.text ?? null;
  try {
    const after = renderPrd(wanted.content, text);
    if (replaceIf(path, after, () => readIfThere(path) === text))
      return { kind: "replaced", archived: archive?.folder ?? null, before: before?.prd ?? null };
  } catch (error) {
    archive?.undo();
    throw error;
  }
  archive?.undo();
  return null;
}

interface Archive {
  readonly folder: string;
  undo(): void;
}

function makeArchive(root: string, { branchName }: Prd, text: string, now: number): Archive {
  const parent = ensureFolder(root, "archive");
  const folder = newFolder(parent, branchName, now);
  const moved: (readonly [string, string])[] = [];
  const undo = () => {
    for (const [from, to] of moved.toReversed()) renameSync(to, from);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    writeAtomic(join(folder, "prd.json"), text);
    for (const name of ARCHIVED) {
      const from = join(root, ".loop", name);
      if (lstatSync(from, { throwIfNoEntry: false }) === undefined) continue;
      renameSync(from, join(folder, name));
      moved.push([from, join(folder, name)]);
    }
    fsyncDir(folder);
    fsyncDir(parent);
  } catch (error) {
    undo();
    throw error;
  }
  return { folder, undo };
}

/** One that nobody else has. */
function newFolder(parent: string, branchName: string | null, now: number): string {
  for (let count = 1; ; count++) {
    const folder = join(parent, archiveName(branchName, now, count));
    try {
      mkdirSync(folder, { mode: 0o700 });
      return folder;
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
}
