/**
 * Replaces a whole backlog (C10).
 *
 * 1. The decision is based on the file as read. It is written only if the file is unchanged; otherwise it is made again.
 * 2. Before that, the old backlog goes to `.loop/archive/<date>-<branch>/`: prd.json is copied, the files of its stories
 *    are moved. A kill in between loses nothing.
 * 3. A refused change writes nothing, not even `.loop`.
 */
import { lstatSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ARCHIVED, archiveName } from "../../core/backlog/prd/archive.ts";
import { type Prd, type PrdContent, renderPrd } from "../../schema/prd.ts";
import { fsyncDir, readIfThere, replaceIf, tryToCreate, writeAtomic } from "../../system/files.ts";
import { ensureFolder } from "./backlog-files.ts";
import { loadPrd, prdPath, writePrd } from "./prd-file.ts";

/** `archive`: keep the old backlog, if there is one. */
export type Replacement =
  | { readonly kind: "replace"; readonly content: PrdContent; readonly archive: boolean }
  | { readonly kind: "refused"; readonly message: string; readonly hint: string | null };

type Replaced =
  /** `archived` is the folder of the archive; null: there is none. `before` is the old backlog. */
  | { readonly kind: "replaced"; readonly archived: string | null; readonly before: Prd | null }
  | Extract<Replacement, { kind: "refused" }>;

/** May call `decide` several times, each time with the current backlog, and carries out the last answer. */
export async function replacePrd(
  root: string,
  decide: (before: Prd | null) => Replacement,
  now: number,
): Promise<Replaced> {
  const asked = decide(loadPrd(root)?.prd ?? null);
  return asked.kind === "refused" ? asked : writePrd(root, () => tryToReplace(root, decide, now));
}

/** null: another program, for example an editor, wrote the file meanwhile; nothing was changed. */
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
  let isReplaced = false;
  try {
    const after = renderPrd(wanted.content, text);
    isReplaced = replaceIf(path, after, () => readIfThere(path) === text);
  } finally {
    if (!isReplaced) archive?.undo();
  }
  return isReplaced
    ? { kind: "replaced", archived: archive?.folder ?? null, before: before?.prd ?? null }
    : null;
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

/** Creates a folder that no other process has. */
function newFolder(parent: string, branchName: string | null, now: number): string {
  for (let count = 1; ; count++) {
    const folder = join(parent, archiveName(branchName, now, count));
    if (tryToCreate(() => mkdirSync(folder, { mode: 0o700 }))) return folder;
  }
}
