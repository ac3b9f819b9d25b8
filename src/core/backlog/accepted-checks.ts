/**
 * Which checks of a backlog a person said yes to (B6, H2). The engine writes verdicts into prd.json all the time, so
 * that the word is not for the file but for what it would run: this text is the content that is trusted.
 */
import type { Story } from "./stories.ts";

/** Same text, same commands; "" when there are none. The order of stories and who has which check do not matter. */
export function checksText(stories: readonly Pick<Story, "checks">[]): string {
  const checks = new Set(stories.flatMap((story) => story.checks));
  return checks.size === 0 ? "" : `${JSON.stringify(["loopwright checks 1", ...[...checks].sort()])}\n`;
}
