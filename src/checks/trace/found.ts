/** What a command consists of, as it is found. Paths are from the project on, with `/`; `../` leads above it. */
import { lstatSync, realpathSync } from "node:fs";
import { posix } from "node:path";
import { ALL_ROLES } from "../../core/toolchain/files.ts";
import type { FileRole } from "../../core/toolchain/tool.ts";
import { readPlain } from "../files/file-hash.ts";

export interface Found {
  readonly roles: Set<FileRole>;
  /** Whether they are there or not: one that appears was added. */
  readonly files: Set<string>;
  /** Files of which a script asks whether they are there; folders count too. */
  readonly asked: Set<string>;
  /** Files that the check makes itself. */
  readonly written: Set<string>;
  /** Settings in the person's own folder, as `~/.npmrc`. */
  readonly own: Set<string>;
  /** All in them. */
  readonly folders: Set<string>;
  /** `package.json#scripts.test`, `.git/config#alias`: one part of a file of which the rest is free. */
  readonly values: Set<string>;
  /** Names that are looked for on the path. */
  readonly programs: Set<string>;
  /** Folders that package managers put in front of the path. */
  readonly binFolders: Set<string>;
}

export function createFound(): Found {
  return {
    roles: new Set(["config:env"]),
    files: new Set(),
    asked: new Set(),
    written: new Set(),
    own: new Set(),
    folders: new Set(),
    values: new Set(),
    programs: new Set(["sh"]),
    binFolders: new Set(),
  };
}

/** Nobody knows what the command reads: everything that any runner reads counts. */
export function addEverything(found: Found): void {
  for (const role of ALL_ROLES) found.roles.add(role);
}

/** A path as a command names it → from the project on. null: it is far outside, or no path that can be known. */
export function placeInProject(cwd: string, word: string, root: string): string | null {
  const known = word.replace(/^\$(?:\{PWD\}|PWD\b)/, root);
  if (known === "" || /[$`\0]/.test(known)) return null;
  if (!posix.isAbsolute(known)) return posix.normalize(posix.join(cwd, known)).replace(/\/$/, "");
  const way = posix.relative(root, known);
  return way.startsWith("../../../") ? null : way;
}

/** Where a link leads to in the end, absolute. null: it is none, or leads nowhere. */
export function targetOf(place: string): string | null {
  try {
    return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() ? realpathSync(place) : null;
  } catch {
    return null;
  }
}

/** Without links; null: there is nothing. */
export function realPlace(place: string): string | null {
  try {
    return realpathSync(place);
  } catch {
    return null;
  }
}

const TEXT_BYTES = 512 * 1024;

/** A small text, also behind a link. */
export function readProjectText(root: string, path: string): string | null {
  const place = posix.join(root, path);
  const bytes = readPlain(place, TEXT_BYTES) ?? readPlain(targetOf(place) ?? "", TEXT_BYTES);
  return bytes === null || bytes.includes(0) ? null : bytes.toString("utf8");
}
