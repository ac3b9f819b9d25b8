/**
 * Follows the lines of a file that another process writes. Owns a timer and the open file until `finish` or `drop`.
 *
 * 1. Never throws: it is for people who watch, and must not end a turn.
 * 2. Holds one block and one line at most.
 * 3. Shows nothing from before this attempt, and at most `LOOK_LINES` lines at once.
 */
import { closeSync, constants, fstatSync, readSync } from "node:fs";
import { lookAt, openOwn } from "../../system/files.ts";
import { quietly } from "../quietly.ts";
import { createLineSplitter } from "./lines.ts";

export type Tail = ReturnType<typeof tailLines>;

const POLL_MS = 100;
const BLOCK_BYTES = 64 * 1024;
/** Limit per poll, so that a large output does not block other work. */
const LOOK_BYTES = 4 * 1024 * 1024;
const LONGEST_LINE_BYTES = 1024 * 1024;
const LOOK_LINES = 400;

/** Reads from the start, once the time of change is not `oldMs` any more. null: reads from the present end. */
export function tailLines(path: string, oldMs: number | null, onLine: (line: string) => void) {
  const size = oldMs === null ? lookAt(path).size : 0;
  // start one byte early: if it ends a line, the next line is complete
  let offset = Math.max(0, size - 1);
  let file: number | null = null;
  const splitter = createLineSplitter(LONGEST_LINE_BYTES, size > 0);
  const block = Buffer.alloc(BLOCK_BYTES);

  function look(isLast: boolean): void {
    file ??= openOwn(path, constants.O_RDONLY);
    const stat = fstatSync(file);
    if (stat.mtimeMs === oldMs) return;
    const until = isLast ? stat.size : Math.min(stat.size, offset + LOOK_BYTES);
    let left = LOOK_LINES;
    while (offset < until) {
      const length = readSync(file, block, 0, Math.min(block.length, until - offset), offset);
      if (length === 0) return;
      offset += length;
      const lines = splitter.push(block.subarray(0, length), left);
      give(lines, onLine);
      left -= lines.length;
    }
  }

  function drop(): void {
    clearInterval(timer);
    if (file !== null) closeSync(file);
    file = null;
  }

  const timer = setInterval(() => quietly(() => look(false)), POLL_MS);
  return {
    drop,
    /** Reads the rest, and ends. */
    finish(): void {
      quietly(() => look(true));
      const rest = splitter.rest();
      if (rest !== null) give([rest], onLine);
      drop();
    },
  };
}

function give(lines: readonly string[], onLine: (line: string) => void): void {
  for (const line of lines) quietly(() => onLine(line));
}
