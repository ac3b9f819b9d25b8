/**
 * The client ends a turn by itself after so many answers to stop hooks in a row without a call of a tool. A setting
 * lifts it; without that, the stop before the last is let go, and the wake-up of an idle conversation goes on.
 */

const DEFAULT_CAP = 8;

/** 0: none. */
export function capOf(env: NodeJS.ProcessEnv): number {
  const value = env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP;
  if (value === undefined || !/^\d{1,6}$/.test(value)) return DEFAULT_CAP;
  return Number(value);
}

export function nearCap(blocks: number, cap: number): boolean {
  return cap > 0 && blocks >= cap - 1;
}
