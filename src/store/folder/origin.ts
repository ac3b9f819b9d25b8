/**
 * `.loop/origin`: the sign that the engine's files in this folder were made here (H2). Without it they are foreign:
 * a clone or a copy brought them along, so they may be read, but nothing of them runs and nothing is written.
 *
 * A mark is a hash of what a repository cannot bring with it: this machine, this user and this very folder. Nothing
 * is kept elsewhere, moving the project on its disk keeps the mark, and a copy of the file fits no other folder. The
 * number of the device is not in it: it is given out anew at every boot.
 *
 * 1. The mark is written before the first of the engine's files, and looked at after them: two first commands at
 *    once never take each other's files for foreign.
 * 2. A person's word (`loop trust`) adds a mark; the marks of others who use the folder stay.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { LoopError } from "../../errors.ts";
import { errorCode, readSmall, writeAtomic } from "../../system/files.ts";

/** `none`: the engine has no files here yet. */
export type Origin = "none" | "ours" | "foreign";

export const FOREIGN =
  "The tasks here were not made on this machine; nothing of them runs until you say so: loop trust";

/** Names under which the engine finds something to run, also on disks that do not tell A from a. */
const ENGINE_FILES = /^(?:journal.*\.jsonl|tasks\.json|runs)$/i;
const MARK = /^[0-9a-f]{64}$/;
/** Users and machines that share a folder; more would be guesses. */
const MAX_MARKS = 8;

export function originOf(dir: string): Origin {
  if (!hasEngineFiles(dir)) return "none";
  return isMarked(dir) ? "ours" : "foreign";
}

export function isMarked(dir: string): boolean {
  const marks = readMarks(dir);
  return marks.length > 0 && marks.includes(markOf(dir));
}

/** Throws the sentence when what is there is foreign. */
export function refuseForeign(dir: string): void {
  if (originOf(dir) === "foreign") throw new LoopError("surroundings", FOREIGN);
}

/** For a folder in which the engine has no files yet: whatever mark lies there proves nothing. */
export function createOrigin(dir: string): void {
  if (!isMarked(dir)) writeAtomic(originPath(dir), `${markOf(dir)}\n`);
}

/** A person looked at what is there and wants it run. */
export function trustOrigin(dir: string): void {
  if (isMarked(dir)) return;
  const marks = [...readMarks(dir), markOf(dir)].slice(-MAX_MARKS);
  writeAtomic(originPath(dir), `${marks.join("\n")}\n`);
}

function hasEngineFiles(dir: string): boolean {
  try {
    return readdirSync(dir).some((name) => ENGINE_FILES.test(name));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

function readMarks(dir: string): string[] {
  const lines = readSmall(originPath(dir))?.split("\n") ?? [];
  return lines.filter((line) => MARK.test(line)).slice(0, MAX_MARKS);
}

export function markOf(dir: string): string {
  const { ino } = statSync(dir, { bigint: true });
  const parts = ["loopwright origin 1", machineId(), String(process.getuid?.() ?? ""), String(ino)];
  return createHash("sha256").update(parts.join("\n")).digest("hex");
}

/** It cannot change while we run. */
let machine: string | null = null;

function machineId(): string {
  machine ??= readMachineId() ?? hostname();
  return machine;
}

function readMachineId(): string | null {
  for (const path of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    try {
      const [, id] = /^([0-9a-f]{32})\s*$/.exec(readFileSync(path, "latin1")) ?? [];
      if (id !== undefined) return id;
    } catch {
      // not every system has one
    }
  }
  return null;
}

function originPath(dir: string): string {
  return join(dir, "origin");
}
