/**
 * The text that a person trusts when they accept the checks of a backlog (B6, H2). The engine writes verdicts into
 * prd.json all the time, so the person accepts the commands and not the file.
 */
import type { Story } from "./stories.ts";

/** Equal texts mean equal commands, in any order and story; "" means no commands. */
export function checksText(stories: readonly Pick<Story, "checks">[]): string {
  const checks = new Set(stories.flatMap((story) => story.checks));
  return checks.size === 0 ? "" : `${JSON.stringify(["loopwright checks 1", ...[...checks].sort()])}\n`;
}
