/** Reads the lines of a large, growing file from an offset. */
import { readSync } from "node:fs";
import { timeOfLine } from "./usage-line.ts";

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** Several writers append lines, so timestamps may be out of order by this much. */
const DISORDER_MS = 60_000;
/** Only lines with this word are parsed. Other lines may be megabytes of image data. */
const TELLING = Buffer.from('"usage"');

/** Yields complete lines only. `text` is null for a line without usage; `end` is where the next line begins. */
export function* linesBehind(
  fd: number,
  start: number,
  size: number,
): Generator<{ readonly text: string | null; readonly end: number }> {
  let parts: Buffer[] = [];
  for (let at = start; at < size; ) {
    const chunk = readAt(fd, at, Math.min(CHUNK_BYTES, size - at));
    if (chunk.length === 0) return;
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, end)]);
      parts = [];
      from = end + 1;
      yield { text: line.includes(TELLING) ? line.toString("utf8") : null, end: at + from };
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
    at += chunk.length;
  }
}

/** The offset of a line before which nothing is newer than `since`. Searches from the end. */
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

function readAt(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, at));
}
