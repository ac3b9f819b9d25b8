/** After how many answers to stop hooks in a row without a call of a tool Claude Code ends a turn; a setting lifts it. */

const DEFAULT_CAP = 8;

/** 0: none. */
export function capOf(env: NodeJS.ProcessEnv): number {
  const value = env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP;
  if (value === undefined || !/^\d{1,6}$/.test(value)) return DEFAULT_CAP;
  return Number(value);
}
