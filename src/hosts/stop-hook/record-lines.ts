/** Reads the newest lines of a client's transcript: one JSON object per line. */
import type { Usage } from "../../core/base.ts";
import { openOwn, readEndOf } from "../../system/files.ts";
import { countOf, type Fields, isFields, parseFields } from "../conversation/fields.ts";

/** Almost always more than one turn writes. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The complete lines at the end of the file; none if it cannot be read. The path is untrusted. */
export function readClientRecord(path: string): readonly Fields[] {
  let text: string;
  try {
    text = readEndOf(path, MOST_BYTES, openOwn);
  } catch {
    return [];
  }
  return text
    .split("\n")
    .map(parseFields)
    .filter((line) => line !== null);
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
