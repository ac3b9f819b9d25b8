/**
 * Some clients end a turn by themselves after so many answers to stop hooks in a row without a call of a tool. The
 * stop before the last is let go, and the wake-up of an idle conversation goes on.
 */

/** `cap` 0: there is none. */
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
