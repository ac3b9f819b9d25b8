/** What a command depends on. Paths are relative to the project, with `/`; `../` leads above it. */
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { posix } from "node:path";
import { ALL_ROLES } from "../../core/toolchain/files.ts";
import type { FileRole } from "../../core/toolchain/tool.ts";
import { readPlain } from "../files/file-hash.ts";

export interface Found {
  readonly roles: Set<FileRole>;
  /** Also missing files: a missing file that appears was added. */
  readonly files: Set<string>;
  /** Files and folders whose existence a script tests. */
  readonly asked: Set<string>;
  /** Files that the check writes itself. */
  readonly written: Set<string>;
  /** Settings in the person's home folder, such as `~/.npmrc`. */
  readonly own: Set<string>;
  /** All files in them count. */
  readonly folders: Set<string>;
  /** `package.json#scripts.test`, `.git/config#alias`: one part of a file. The rest of the file may change. */
  readonly values: Set<string>;
  /** Names to find on the PATH. */
  readonly programs: Set<string>;
  /** Folders that package managers put before the PATH. */
  readonly binFolders: Set<string>;
}

/** A running trace, as the files for one kind of program see it. */
export interface Trace {
  readonly root: string;
  readonly found: Found;
  /** Every package.json of the project. */
  readonly manifests: () => readonly string[];
  /** Manifests whose settings count. */
  readonly usedManifests: Set<string>;
  /** Traces a shell line. */
  line(text: string, cwd: string): void;
  /** Traces a program with its arguments. */
  call(program: string, args: readonly string[], cwd: string): void;
  /** Traces a program as a test runner, by its name and arguments. */
  runner(program: string, name: string, args: readonly string[], cwd: string): void;
  script(word: string, cwd: string, isShell: boolean): void;
  /** Adds words that name files of the check, not of the product. */
  parts(words: readonly string[], cwd: string): void;
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

/** The command is unknown, so the files of every runner count. */
export function addEverything(found: Found): void {
  for (const role of ALL_ROLES) found.roles.add(role);
}

/** Makes a path of a command relative to the project. null: far outside, or it contains variables. */
export function placeInProject(cwd: string, word: string, root: string): string | null {
  const known = word.replace(/^\$(?:\{PWD\}|PWD\b)/, root);
  if (known === "" || /[$`\0]/.test(known)) return null;
  if (!posix.isAbsolute(known)) return posix.normalize(posix.join(cwd, known)).replace(/\/$/, "");
  const way = posix.relative(root, known);
  return way.startsWith("../../../") ? null : way;
}

/** The final target of a link, absolute. null: not a link, or a broken link. */
export function targetOf(place: string): string | null {
  try {
    return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() ? realpathSync(place) : null;
  } catch {
    return null;
  }
}

/** The path with all links resolved; null: it does not exist. */
export function realPlace(place: string): string | null {
  try {
    return realpathSync(place);
  } catch {
    return null;
  }
}

/** The text of a link; null: not a link. */
export function linkText(place: string): string | null {
  try {
    return readlinkSync(place);
  } catch {
    return null;
  }
}

const TEXT_BYTES = 512 * 1024;

/** The content of a small text file, also through a link. */
export function readProjectText(root: string, path: string): string | null {
  const place = posix.join(root, path);
  const bytes = readPlain(place, TEXT_BYTES) ?? readPlain(targetOf(place) ?? "", TEXT_BYTES);
  return bytes === null || bytes.includes(0) ? null : bytes.toString("utf8");
}
