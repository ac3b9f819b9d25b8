/**
 * Some clients end a turn after a number of stop-hook answers in a row without a tool call (the cap). The loop allows
 * the stop just before the cap and continues by waking the idle conversation.
 */

/** `cap` 0: no cap. */
export function nearCap(blocks: number, cap: number): boolean {
  return cap > 0 && blocks >= cap - 1;
}

/** The prompt asks for a tool call from this many answers before the cap. */
const LAST_CALLS = 3;
const CALL_A_TOOL =
  "First of all call the tool loop_status (or any other): the client ends this run after a few more answers without a tool call.";

/** For a conversation that cannot be woken. */
export function askForTool(text: string, blocks: number, cap: number): string {
  return nearCap(blocks + LAST_CALLS, cap) ? `${CALL_A_TOOL}\n\n${text}` : text;
}
