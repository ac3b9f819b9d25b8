/** Reads the newest lines of a client's transcript: one JSON object per line. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { Usage } from "../../core/base.ts";
import { countOf, type Fields, isFields } from "./fields.ts";

/** Almost always more than one turn writes. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The complete lines at the end of the file; none if it cannot be read. The path is untrusted. */
export function readClientRecord(path: string): readonly Fields[] {
  let text: string;
  try {
    text = readEnd(path);
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return isFields(value) ? [value] : [];
    } catch {
      // an incomplete first line, or not JSON
      return [];
    }
  });
}

/** The lines after the last line for which `isMark` is true. */
export function after(lines: readonly Fields[], isMark: (line: Fields) => boolean): readonly Fields[] {
  return lines.slice(lines.findLastIndex(isMark) + 1);
}

/** Adds up the usage of several requests. The keys are the client's names for input, output and cached input. */
export function addUp(
  usages: readonly unknown[],
  [input, output, cached]: readonly [string, string, string],
  model: string,
): Usage | null {
  const counted = usages.filter(isFields);
  if (counted.length === 0) return null;
  const sum = (key: string) => counted.reduce((total, usage) => total + countOf(usage, key), 0);
  return {
    costUsd: null,
    inputTokens: sum(input),
    outputTokens: sum(output),
    ...(model === "" ? {} : { model }),
    ...(sum(cached) > 0 ? { cacheReadTokens: sum(cached) } : {}),
  };
}

function readEnd(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return "";
    const from = Math.max(0, stat.size - MOST_BYTES);
    const bytes = Buffer.alloc(stat.size - from);
    const read = readSync(fd, bytes, 0, bytes.length, from);
    return bytes.toString("utf8", 0, read);
  } finally {
    closeSync(fd);
  }
}
