/**
 * `.loop/origin`: proves that the engine's files in this folder were created here (H2). Without the proof they are
 * foreign: they came with a clone or a copy. Foreign files may be read, but they do not run and nothing is written.
 *
 * A mark is a hash of facts that a repository cannot contain: the machine, the user and the inode of the folder. A move
 * of the project on its disk keeps the mark valid; a copy of the file is not valid elsewhere. The device number is not
 * part of the hash, because it may change at every boot.
 *
 * 1. The mark is written before the engine's first file and checked after it. So two first commands at the same time
 *    never see each other's files as foreign.
 * 2. `loop trust` adds a mark; the marks of other users of the folder stay.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { surroundingsError } from "../../errors.ts";
import { nullOn, orNull, readSmall, writeAtomic } from "../../system/files.ts";

export const FOREIGN =
  "The tasks here were not made on this machine. They do not run until you trust them: loop trust";

/** The names of files with something to run. Some disks ignore upper and lower case. */
const ENGINE_FILES = /^(?:journal.*\.jsonl|tasks\.json|runs)$/i;
const MARK = /^[0-9a-f]{64}$/;
/** The highest number of users and machines that share a folder. More marks would be guesses. */
const MAX_MARKS = 8;

/** `none`: the engine has no files here yet. */
export function originOf(dir: string): "none" | "ours" | "foreign" {
  if (!hasEngineFiles(dir)) return "none";
  return isMarked(dir) ? "ours" : "foreign";
}

export function isMarked(dir: string): boolean {
  const marks = readMarks(dir);
  return marks.length > 0 && marks.includes(markOf(dir));
}

/** Throws a sentence when the folder is foreign. */
export function refuseForeign(dir: string): void {
  if (originOf(dir) === "foreign") throw surroundingsError(FOREIGN);
}

/** For a folder without engine files: an existing mark of another folder proves nothing there. */
export function createOrigin(dir: string): void {
  if (!isMarked(dir)) writeAtomic(originPath(dir), `${markOf(dir)}\n`);
}

/** Called after a person reviewed the files and trusts them. */
export function trustOrigin(dir: string): void {
  if (isMarked(dir)) return;
  const marks = [...readMarks(dir), markOf(dir)].slice(-MAX_MARKS);
  writeAtomic(originPath(dir), `${marks.join("\n")}\n`);
}

function hasEngineFiles(dir: string): boolean {
  return nullOn("ENOENT", () => readdirSync(dir))?.some((name) => ENGINE_FILES.test(name)) ?? false;
}

function readMarks(dir: string): string[] {
  const lines = readSmall(originPath(dir))?.split("\n") ?? [];
  return lines.filter((line) => MARK.test(line)).slice(0, MAX_MARKS);
}

export function markOf(dir: string): string {
  const { ino } = statSync(dir, { bigint: true });
  machine ??= readMachineId() ?? hostname();
  const parts = ["loopwright origin 1", machine, String(process.getuid?.() ?? ""), String(ino)];
  return createHash("sha256").update(parts.join("\n")).digest("hex");
}

/** Read once: it does not change while the process runs. */
let machine: string | null = null;

function readMachineId(): string | null {
  for (const path of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    // some systems have no such file
    const text = orNull(() => readFileSync(path, "latin1")) ?? "";
    const [, id] = /^([0-9a-f]{32})\s*$/.exec(text) ?? [];
    if (id !== undefined) return id;
  }
  return null;
}

function originPath(dir: string): string {
  return join(dir, "origin");
}
