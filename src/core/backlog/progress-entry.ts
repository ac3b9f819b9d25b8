/** Entries of `.loop/progress.md` (C10), for people and for later generators. */
import { cleanLine, cleanText } from "../text/clean.ts";
import { renderMoment } from "../text/figures.ts";
import { lastPart, quote } from "../text/quote.ts";
import type { Story } from "./stories.ts";

export interface ProgressEntry {
  readonly story: Pick<Story, "id" | "title">;
  readonly at: number;
  readonly iteration: number;
  /** SKIP-EVAL: passed without an evaluator. */
  readonly verdict: "PASS" | "REJECT" | "SKIP-EVAL";
  readonly reason: string | null;
  /** The generator's last message. */
  readonly summary: string | null;
}

export const PROGRESS_HEADER = "# Progress\n\nWritten by loopwright, one entry for each attempt.\n\n---\n";

/** No text in an entry can end it or start another one. */
export function renderProgressEntry(entry: ProgressEntry): string {
  const { story, at, iteration, verdict, reason, summary } = entry;
  const said = summary === null ? "" : cleanText(summary).trim();
  return [
    `### ${story.id} — ${cleanLine(story.title)}`,
    `Date: ${renderMoment(at)}`,
    `Iteration: ${iteration}`,
    `Verdict: ${verdict}`,
    ...(reason === null ? [] : [`Reason: ${cleanLine(reason)}`]),
    ...(said === "" ? [] : [quote(lastPart(said, SUMMARY_LINES, SUMMARY_LETTERS), null)]),
    "---",
    "",
  ].join("\n");
}

const SUMMARY_LINES = 15;
const SUMMARY_LETTERS = 1_500;

/** The last entries that fit. If even the last one does not fit, its end. */
export function lastEntries(text: string, maxEntries: number, maxLetters: number): string {
  const entries = cleanText(text)
    .split(/^---[ \t]*$/m)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "" && !entry.startsWith("# "));
  const kept: string[] = [];
  let letters = 0;
  for (const entry of entries.toReversed()) {
    if (kept.length === maxEntries) break;
    if (letters + entry.length > maxLetters) {
      if (kept.length === 0) kept.push(lastPart(entry, SUMMARY_LINES, maxLetters));
      break;
    }
    kept.push(entry);
    letters += entry.length;
  }
  return kept.toReversed().join("\n\n");
}
