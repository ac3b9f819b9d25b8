/**
 * Wall-clock time that has to pass: the moment of a kill must not depend on what the killed process says, so
 * there is no event to wait for. Everything else waits with `until`. The length comes from a seed.
 */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What an agent's command line says to take so long. */
export function pauseCommand(ms: number): string {
  return ms === 0 ? ":" : `sleep ${ms / 1000}`;
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
