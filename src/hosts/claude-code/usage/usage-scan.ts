/** The lines of a large file that grows, from some place on. */
import { readSync } from "node:fs";
import { timeOfLine } from "./usage-line.ts";

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** Lines are written by several hands and are out of order by as much. */
const DISORDER_MS = 60_000;
/** A line that tells of usage has one of these in it; the others, which may be megabytes of a picture, are not parsed. */
const TELLING = ['"usage"', '"cost-state"'].map((word) => Buffer.from(word));

export interface ScannedLine {
  /** null for a line that tells nothing of usage. */
  readonly text: string | null;
  /** Where the next line begins. */
  readonly end: number;
}

/** Complete lines only. */
export function* linesBehind(fd: number, start: number, size: number): Generator<ScannedLine> {
  let parts: Buffer[] = [];
  for (let at = start; at < size; ) {
    const chunk = readAt(fd, at, Math.min(CHUNK_BYTES, size - at));
    if (chunk.length === 0) return;
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, end)]);
      parts = [];
      from = end + 1;
      yield { text: isTelling(line) ? line.toString("utf8") : null, end: at + from };
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
    at += chunk.length;
  }
}

/** The start of a line, with everything since that time behind it. Looks for it from the end. */
export function findStart(fd: number, size: number, since: number | null): number {
  if (since === null) return 0;
  for (let from = size - CHUNK_BYTES; from > 0; from -= CHUNK_BYTES) {
    const chunk = readAt(fd, from, CHUNK_BYTES);
    const begin = chunk.indexOf(NEWLINE) + 1;
    const time = begin === 0 ? null : firstTime(chunk.subarray(begin));
    if (time !== null && time < since - DISORDER_MS) return from + begin;
  }
  return 0;
}

function firstTime(bytes: Buffer): number | null {
  for (let from = 0; ; ) {
    const end = bytes.indexOf(NEWLINE, from);
    if (end === -1) return null;
    const time = timeOfLine(bytes.toString("utf8", from, end));
    if (time !== null) return time;
    from = end + 1;
  }
}

function isTelling(line: Buffer): boolean {
  return TELLING.some((word) => line.includes(word));
}

function readAt(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, at));
}
