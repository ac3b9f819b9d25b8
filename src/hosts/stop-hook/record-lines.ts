/** The newest lines of the record that a client keeps of its conversation: JSON, one object per line. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { Usage } from "../../core/base.ts";
import { countOf, type Fields, isFields } from "./fields.ts";

/** More than a turn writes in all but odd cases. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Those of the end of the file that are whole; none where it cannot be read. Its path is a client's word. */
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
      // the first one, cut, or what is no line of the record
      return [];
    }
  });
}

/** Behind the last line that is one of these. */
export function after(lines: readonly Fields[], isMark: (line: Fields) => boolean): readonly Fields[] {
  return lines.slice(lines.findLastIndex(isMark) + 1);
}

/** What several requests to the model used together, by the client's names: input, output, input from a cache. */
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
