/** Files that are whole or not there (A13): temp file, fsync, rename. And what to do with one that does not parse. */
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

let counter = 0;

export function writeAtomic(path: string, text: string, durable = true): void {
  const temporary = `${path}.${process.pid}.${++counter}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: 0o600, flush: durable });
    renameSync(temporary, path);
    if (durable) fsyncDir(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** null when there is no such file. Symbolic links are not followed. */
export function readIfThere(path: string): string | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
  try {
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** Moves a damaged file aside, never over another one; returns its new name. */
export function quarantine(path: string, now: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, "-");
  let target = `${path}.corrupt-${stamp}`;
  for (let n = 2; existsSync(target); n++) target = `${path}.corrupt-${stamp}-${n}`;
  renameSync(path, target);
  return target;
}

export function fsyncDir(dir: string): void {
  const fd = openSync(dir, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function errorCode(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
