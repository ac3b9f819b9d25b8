/** Reads and writes the lines of one file of the journal. Knows nothing about their meaning. */
import { constants, fstatSync, readdirSync, readSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { nullOn, openOwn, readAfter } from "../../system/files.ts";
import type { Signer } from "../signed/signer.ts";
import { type Decoded, decodeEntry, type Entry } from "./entry.ts";
import { segmentPath } from "./segment-path.ts";

/** Ends a torn line, so that a line which lacks only its newline does not become valid later. */
const VOID = "~";
/** Every read compares this many bytes before the offset, to detect a file that was replaced or cut. */
const TAIL_BYTES = 64;

export const NO_BYTES = Buffer.alloc(0);

/** null: the segment no longer exists. Creates only the first segment; the others start with a snapshot. */
export function openForAppend(path: string, isFirst: boolean): number | null {
  const flags = constants.O_RDWR | constants.O_APPEND | (isFirst ? constants.O_CREAT : 0);
  const open = () => openOwn(path, flags);
  return isFirst ? open() : nullOn("ENOENT", open);
}

const SEGMENT = /^journal(?:\.(?!1\.)([1-9]\d{0,8}))?\.jsonl$/;
const LEFTOVER =
  /^(?:journal(?:\.\d+)?\.jsonl|tasks\.json|loop\.lock|prd\.json|ledger\.json|capabilities\.json|progress\.json)\..+\.tmp$/;
const LEFTOVER_AFTER_MS = 60 * 60_000;

export function generations(dir: string): number[] {
  return segmentNumbers(listDir(dir), SEGMENT);
}

/** The numbers in the file names, in order. A name without a number is number 1. */
export function segmentNumbers(names: readonly string[], pattern: RegExp): number[] {
  const found = names.flatMap((name) => {
    const match = pattern.exec(name);
    return match === null ? [] : [Number(match[1] ?? 1)];
  });
  return found.sort((a, b) => a - b);
}

/**
 * Removes the oldest segments until both limits hold for the closed ones. Keeps the current segment and the one before
 * it, which can rebuild a damaged snapshot.
 */
export function retireSegments(dir: string, keptSegments: number, keptBytes: number): void {
  const closed = generations(dir).slice(0, -1).reverse();
  let bytes = 0;
  for (const [place, generation] of closed.entries()) {
    const path = segmentPath(dir, generation);
    bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const isKept = place < keptSegments && (place === 0 || bytes <= keptBytes);
    if (!isKept) rmSync(path, { force: true });
  }
}

/** Removes the temporary files of killed processes. */
export function removeLeftovers(dir: string, now: number): void {
  for (const name of listDir(dir)) {
    if (!LEFTOVER.test(name)) continue;
    const stat = statSync(join(dir, name), { throwIfNoEntry: false });
    if (stat !== undefined && stat.mtimeMs < now - LEFTOVER_AFTER_MS)
      rmSync(join(dir, name), { force: true });
  }
}

function listDir(dir: string): string[] {
  return nullOn("ENOENT", () => readdirSync(dir)) ?? [];
}

interface Line {
  readonly entry: Decoded;
  /** The index of the byte after the line. */
  readonly end: number;
}

/** The bytes of a written line and its entry: the same bytes need no parsing. */
export interface Written {
  /** The folder whose signature the line has. */
  readonly folder: string;
  readonly bytes: Buffer;
  readonly entry: Entry;
}

/** Complete lines. A last line without a newline is left for later, because its writer may not be done. */
export function* linesOf(
  bytes: Buffer,
  signer: Signer | null,
  written: Written | null = null,
): Generator<Line> {
  let start = 0;
  for (;;) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1) return;
    const end = newline + 1;
    if (written?.bytes.equals(bytes.subarray(start, end)) === true) yield { entry: written.entry, end };
    else {
      const text = bytes.toString("utf8", start, newline);
      // a void line after a complete one: the line was only unfinished when the next writer looked
      if (text !== "" && text !== VOID) yield { entry: decodeEntry(text, signer), end };
    }
    start = end;
  }
}

/**
 * The newest segment up to the wanted one from which a reader can start; 0: the wanted one does not exist. A segment
 * with a damaged snapshot is rebuilt from the segment before it.
 */
export function startFor(
  dir: string,
  known: readonly number[],
  wanted: number,
  signer: Signer | null,
): number {
  if (!known.includes(wanted)) return 0;
  for (let generation = wanted; ; generation--) {
    const isOldest = !known.includes(generation - 1);
    if (isOldest || startsWithSnapshot(readWhole(segmentPath(dir, generation)), signer)) return generation;
  }
}

function startsWithSnapshot(bytes: Buffer, signer: Signer | null): boolean {
  for (const { entry } of linesOf(bytes, signer))
    if (entry !== "foreign") return entry !== "damaged" && entry.type === "snapshot";
  return false;
}

export function readWhole(path: string): Buffer {
  return readAfter(path, 0, NO_BYTES) ?? NO_BYTES;
}

export function tailBytes(bytes: Buffer): Buffer {
  return bytes.subarray(Math.max(0, bytes.length - TAIL_BYTES));
}

/** The `tailBytes` before the offset; null: there is no file, or it is shorter. */
export function tailBefore(path: string, offset: number): Buffer | null {
  const from = Math.max(0, offset - TAIL_BYTES);
  const tail = readAfter(path, from, NO_BYTES)?.subarray(0, offset - from);
  return tail?.length === offset - from ? tail : null;
}

export function writeLine(fd: number, line: Buffer): void {
  const bytes = endsTorn(fd) ? Buffer.concat([Buffer.from(`${VOID}\n`), line]) : line;
  // never a second write(2) for the rest: another process may have written a line in between
  if (writeSync(fd, bytes) === bytes.length) return;
  throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
}

function endsTorn(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}
