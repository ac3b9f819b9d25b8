/** Claude Code ends a turn after this many stop-hook answers in a row without a tool call. A setting changes it. */
const DEFAULT_CAP = 8;

/** 0: no limit. */
export function capOf(env: NodeJS.ProcessEnv): number {
  const value = env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP;
  if (value === undefined || !/^\d{1,6}$/.test(value)) return DEFAULT_CAP;
  return Number(value);
}
