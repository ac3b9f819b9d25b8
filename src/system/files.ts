/** Files that are complete or missing (A13). Also moves damaged files aside, and turns expected failures into answers. */
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

export function writeAtomic(path: string, text: string, durable = true): void {
  replaceIf(path, text, () => true, durable);
}

/** `isWanted` is asked last, just before the rename, so that a file that a person saved meanwhile is kept. */
export function replaceIf(
  path: string,
  text: string,
  isWanted: () => boolean,
  durable = true,
  /** The time of change to set on the file. */
  changedAt: number | null = null,
): boolean {
  const temporary = temporaryFor(path);
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: "wx", flush: durable });
    if (changedAt !== null) utimesSync(temporary, changedAt / 1000, changedAt / 1000);
    const isReplaced = isWanted();
    if (isReplaced) renameSync(temporary, path);
    else rmSync(temporary);
    if (isReplaced && durable) fsyncDir(dirname(path));
    return isReplaced;
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Random, and opened with "wx": containers may share a pid, and a predictable name may be a link. */
function temporaryFor(path: string): string {
  return `${path}.${process.pid}.${Math.random().toString(36).slice(2, 10)}.tmp`;
}

/** null: no such file. Does not follow symbolic links. */
export function readIfThere(path: string): string | null {
  const fd = nullOn("ENOENT", () => openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)));
  if (fd === null) return null;
  try {
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

export function readSmall(path: string): string | null {
  return orNull(() => readIfThere(path));
}

/** null: not a regular file, or too large. A pipe would block, and a link leads elsewhere. */
export function readSmallFile(path: string, maxBytes: number): string | null {
  return orNull(() => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size <= maxBytes ? readIfThere(path) : null;
  });
}

/** The end of a regular file, never starting in the middle of a character. Throws when the file cannot be read. */
export function readEndOf(path: string, capBytes: number, flags: number = constants.O_RDONLY): string {
  const fd = openSync(path, flags);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error(`${path} is not a file`);
    const bytes = Buffer.alloc(Math.min(stat.size, capBytes));
    const length = readSync(fd, bytes, 0, bytes.length, stat.size - bytes.length);
    let from = 0;
    while (stat.size > capBytes && from < 4 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
    return bytes.toString("utf8", from, length);
  } finally {
    closeSync(fd);
  }
}

/** Size and time of change; zeros when the file cannot be read. */
export function lookAt(path: string): { readonly size: number; readonly mtimeMs: number } {
  return orNull(() => statSync(path)) ?? { size: 0, mtimeMs: 0 };
}

/** Moves a damaged file aside, never over another one. Returns the new name. */
export function quarantine(path: string, now: number): string {
  for (let n = 1; ; n++) {
    const target = n === 1 ? asideName(path, now) : `${asideName(path, now)}-${n}`;
    if (!reserve(target, lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)) continue;
    try {
      renameSync(path, target);
      return target;
    } catch (error) {
      rmSync(target, { recursive: true, force: true });
      throw error;
    }
  }
}

/** Copies a damaged file that others still use. Returns the name of the copy. */
export function copyAside(path: string, now: number): string {
  const target = asideName(path, now);
  copyFileSync(path, target);
  return target;
}

function asideName(path: string, now: number): string {
  return `${path}.corrupt-${new Date(now).toISOString().replaceAll(/[:.]/g, "-")}`;
}

/** Reserves the name, so that two processes do not rename over each other. */
function reserve(path: string, asDirectory: boolean): boolean {
  return tryToCreate(() => {
    if (asDirectory) mkdirSync(path, { mode: 0o700 });
    else writeFileSync(path, "", { mode: 0o600, flag: "wx" });
  });
}

/** false: the name exists already. */
export function tryToCreate(create: () => void): boolean {
  try {
    create();
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** null: `act` failed with this code of the system. */
export function nullOn<T>(code: string, act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if (errorCode(error) === code) return null;
    throw error;
  }
}

/** null: `act` failed. */
export function orNull<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}

/** Makes new names durable. Ignores systems that cannot sync a folder (Windows, some drives). */
export function fsyncDir(dir: string): void {
  let fd: number | null = null;
  try {
    fd = openSync(dir, constants.O_RDONLY);
    fsyncSync(fd);
  } catch (error) {
    if (!["EISDIR", "EPERM", "EINVAL", "ENOTSUP", "EBADF"].includes(errorCode(error) ?? "")) throw error;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

/** Creates the file completely, or keeps the file of a process that was first. */
export function createOnce(path: string, text: string): void {
  const temporary = temporaryFor(path);
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: "wx", flush: true });
    linkSync(temporary, path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") return;
    if (!NO_LINKS.has(code ?? "")) throw error;
    tryToCreate(() => writeFileSync(path, text, { mode: 0o600, flag: "ax", flush: true }));
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Answers of link(2) on file systems without links (FAT, some shared folders). */
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"]);
