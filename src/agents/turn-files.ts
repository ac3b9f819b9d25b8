/** Small files that outlive their writer: on disk before the next step, read without ever throwing. */
import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";

/** Whole or as it was before, whoever looks and whenever the machine stops. */
export function replaceFile(path: string, text: string, token: number): void {
  const temporary = `${path}.${process.pid}.${token}.tmp`;
  try {
    writeSynced(temporary, text);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** A new file, never one that is there or that a link leads to. */
export function writeSynced(path: string, text: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600, flag: "wx", flush: true });
}

/** Makes the names in a folder durable. */
export function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** null for what cannot be read. */
export function readSmall(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** Size and time of last change; zeros for what cannot be looked at. */
export function lookAt(path: string): { readonly size: number; readonly mtimeMs: number } {
  try {
    return statSync(path);
  } catch {
    return { size: 0, mtimeMs: 0 };
  }
}
