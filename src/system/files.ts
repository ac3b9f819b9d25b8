/**
 * The one door to files (H4, J4). Files are complete or missing (A13).
 *
 * 1. A file of ours is opened only if it is a plain file of this user: no link, no folder, no pipe, no device.
 * 2. No open and no read waits: a pipe in place of a file is an error.
 * 3. A write makes a new file and renames it, so it never goes through a link. Logs are the exception (`appendTo`).
 */
import {
  closeSync,
  constants,
  fchmodSync,
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
  type Stats,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { surroundingsError } from "../errors.ts";

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

/** Windows has neither flag. */
export const NO_LINK = constants.O_NOFOLLOW ?? 0;
const NO_WAIT = constants.O_NONBLOCK ?? 0;

/** No file that we read whole is larger. An archive may contain a file of terabytes without content. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Opens a file of ours. Throws a sentence if the name belongs to something else. Without O_TRUNC, which acts first. */
export function openOwn(path: string, flags: number): number {
  return open(path, flags | NO_LINK, true).fd;
}

/** Opens a plain file, whoever owns it. Follows links unless the flags say otherwise. */
export function openPlain(path: string, flags: number): number {
  return open(path, flags, false).fd;
}

/** With what it found out about the file: the journal is read at every step. */
function open(
  path: string,
  flags: number,
  mustBeOwn: boolean,
): { readonly fd: number; readonly stat: Stats } {
  let fd: number | null = null;
  try {
    fd = openSync(path, flags | NO_WAIT, 0o600);
    const stat = fstatSync(fd);
    // the system's own error for a folder that is read or opened for writing
    if (stat.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: "EISDIR" });
    if (!stat.isFile()) throw notPlain(path);
    if (mustBeOwn && !isOwn(stat))
      throw surroundingsError(`${path} belongs to another user.`, takeOver(path));
    return { fd, stat };
  } catch (error) {
    if (fd !== null) closeSync(fd);
    // a pipe without a reader, or a socket
    throw errorCode(error) === "ENXIO" ? notPlain(path) : error;
  }
}

function notPlain(path: string): Error {
  return surroundingsError(`${path} is not a plain file (it is a pipe, a socket or a device).`, "Remove it.");
}

/** Windows has no user ids. */
const USER = process.geteuid?.();

export function isOwn({ uid }: Pick<Stats, "uid">): boolean {
  return USER === undefined || uid === USER;
}

/** A hint for something of another user. */
export function takeOver(path: string): string {
  return `Remove it, or make it yours: sudo chown -R "$(id -un)" '${path.replaceAll("'", "'\\''")}'`;
}

/** The text of a file of ours; null: no such file. Throws a sentence, or an error of the system for a link or a folder. */
export function readIfThere(path: string): string | null {
  const fd = nullOn("ENOENT", () => openOwn(path, constants.O_RDONLY));
  return fd === null ? null : (textOf(fd, MOST_BYTES) ?? refuseSize(path));
}

export function readSmall(path: string): string | null {
  return orNull(() => readIfThere(path));
}

/** Like `readSmall`. null: also if it is too large. */
export function readSmallFile(path: string, maxBytes: number): string | null {
  return orNull(() => textOf(openOwn(path, constants.O_RDONLY), maxBytes));
}

/** The text of a file that belongs to the project or to another program, whoever owns it. null: none, a link, or too large. */
export function readAnyones(path: string, maxBytes = MOST_BYTES): string | null {
  return orNull(() => textOf(openPlain(path, constants.O_RDONLY | NO_LINK), maxBytes));
}

/** The text of a file outside the project: dotfile managers keep files as links. null: no such file. */
export function readThroughLinks(path: string): string | null {
  const fd = nullOn("ENOENT", () => openPlain(path, constants.O_RDONLY));
  return fd === null ? null : (textOf(fd, MOST_BYTES) ?? refuseSize(path));
}

/** The bytes of a plain file, whoever owns it. */
export function readBytes(path: string): Buffer {
  const fd = openPlain(path, constants.O_RDONLY | NO_LINK);
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function refuseSize(path: string): never {
  throw surroundingsError(`${path} is larger than 256 MB.`, "Remove it.");
}

function textOf(fd: number, maxBytes: number): string | null {
  try {
    return fstatSync(fd).size <= maxBytes ? readFileSync(fd, "utf8") : null;
  } finally {
    closeSync(fd);
  }
}

/** The end of a file, never starting in the middle of a character. Throws if it is not a plain file. */
export function readEndOf(path: string, capBytes: number, open = openPlain): string {
  const fd = open(path, constants.O_RDONLY);
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, capBytes));
    const length = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    let from = 0;
    while (size > capBytes && from < 4 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
    return bytes.toString("utf8", from, length);
  } finally {
    closeSync(fd);
  }
}

/** The bytes after the offset; null: there is no file, or `tail` is not before the offset. */
export function readAfter(path: string, offset: number, tail: Buffer): Buffer | null {
  const file = nullOn("ENOENT", () => open(path, constants.O_RDONLY | NO_LINK, true));
  if (file === null) return null;
  const { fd, stat } = file;
  try {
    const from = offset - tail.length;
    if (stat.size - from > MOST_BYTES) refuseSize(path);
    const bytes = Buffer.allocUnsafe(Math.max(0, stat.size - from));
    const read = bytes.length === 0 ? 0 : readSync(fd, bytes, 0, bytes.length, from);
    if (!bytes.subarray(0, Math.min(read, tail.length)).equals(tail)) return null;
    return bytes.subarray(tail.length, read);
  } finally {
    closeSync(fd);
  }
}

/** Like `openOwn`, to change the file in place. Throws a sentence if it has a second name, which may be outside the project. */
export function openToChange(path: string, flags: number): number {
  const { fd, stat } = open(path, flags | NO_LINK, true);
  if (stat.nlink <= 1) return fd;
  closeSync(fd);
  throw surroundingsError(`${path} is a hard link: the file has a second name.`, "Replace it with a copy.");
}

/**
 * Adds text to a log of ours, which people may have written first. Creates it if it is missing. Takes away the permission
 * of other users to write.
 */
export function appendTo(path: string, text: string): void {
  const fd = openToChange(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  try {
    const { mode } = fstatSync(fd);
    if ((mode & 0o022) !== 0) fchmodSync(fd, mode & 0o755);
    writeSync(fd, text);
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
  const fd = openOwn(path, constants.O_RDONLY);
  try {
    writeFileSync(target, readFileSync(fd), { mode: 0o600, flag: "wx" });
  } finally {
    closeSync(fd);
  }
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
