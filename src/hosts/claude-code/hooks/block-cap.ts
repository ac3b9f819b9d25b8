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

/** From so many answers before the cap on, a tool call is asked for. */
const LAST_CALLS = 3;
const CALL_A_TOOL =
  "First of all call the tool loop_status (or any other): the client ends this run after a few more answers without a tool call.";

/** For a conversation that nobody could wake again. */
export function askForTool(text: string, blocks: number, cap: number): string {
  return nearCap(blocks + LAST_CALLS, cap) ? `${CALL_A_TOOL}\n\n${text}` : text;
}
