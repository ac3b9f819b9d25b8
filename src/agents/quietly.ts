/** Calls that may fail without ending a turn. */

/** null: it threw, because of a missing file, a full disk or a surface that fails. */
export function quietly<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}

/** null: not JSON. */
export function parseJson(text: string): unknown {
  return quietly(() => JSON.parse(text) as unknown);
}
