/**
 * `.loop/triage/TRIAGE_BRIEF.md` (C14): blocked and rejected stories, the reasons, and what a person has to decide.
 * A generator can read the file, so it must not contain holdouts (C15).
 */
import { cleanLine } from "../../text/clean.ts";
import { codeSpan, joinParts, lastPart, quote, quoteFenced } from "../../text/quote.ts";
import type { StoryReceipt } from "../backlog.ts";
import { byPriority, countsOfStories, reachable, type Story, type Waiting, withStatus } from "../stories.ts";

/** A receipt of the journal, with the failing checks if they are known. */
export interface TriageAttempt
  extends Pick<StoryReceipt, "story" | "iteration" | "outcome" | "reason" | "at" | "filesChanged"> {
  readonly failing?: readonly { readonly name: string; readonly tail: string }[];
}

export interface Triage {
  readonly blocked: readonly Story[];
  /** Rejected and still open. */
  readonly rejected: readonly Story[];
  readonly waiting: readonly (Waiting & Pick<Story, "title">)[];
}

export function triageOf(stories: readonly Story[]): Triage {
  const blocked = withStatus(byPriority(stories), "blocked");
  const open = withStatus(byPriority(stories), "open");
  const rejected = open.filter((story) => story.rejections > 0 || reasonsOf(story).length > 0);
  const waiting = open
    .map(({ id, title }) => ({
      id,
      title,
      waitsFor: blocked.filter((one) => isBehind(stories, id, one.id)).map((one) => one.id),
    }))
    .filter(({ waitsFor }) => waitsFor.length > 0);
  return { blocked, rejected, waiting };
}

/** `project` may be empty. */
export function renderTriageBrief(
  project: string,
  stories: readonly Story[],
  attempts: readonly TriageAttempt[],
  at: number,
): string {
  const { blocked, rejected, waiting } = triageOf(stories);
  const { passed, total, open } = countsOfStories(stories);
  const parts = [
    `# Triage${project === "" ? "" : `: ${cleanLine(project)}`}`,
    `${new Date(at).toISOString()} | ${passed} of ${total} passed, ${blocked.length} blocked, ${open} open`,
  ];
  if (blocked.length + rejected.length === 0) parts.push("No story waits for a decision.");
  if (blocked.length > 0)
    parts.push("## Blocked", ...blocked.map((story) => section(story, stories, attempts)));
  if (rejected.length > 0)
    parts.push("## Rejected, still open", ...rejected.map((story) => section(story, stories, attempts)));
  if (waiting.length > 0)
    parts.push(
      "## Waiting for a blocked story",
      waiting
        .map(({ id, title, waitsFor }) => `- ${id} ${cleanLine(title)}: waits for ${waitsFor.join(", ")}`)
        .join("\n"),
    );
  return `${parts.join("\n\n")}\n`;
}

/** The reasons in its notes, oldest first. */
export function reasonsOf({ notes }: Story): readonly string[] {
  return [...notes.matchAll(/^\s*\[(?:REJECTED|BLOCKED)\]\s*(.*)$/gm)]
    .map(([, reason = ""]) => cleanLine(reason))
    .filter((reason) => reason !== "");
}

const SHOWN_ATTEMPTS = 5;
const TAIL_LINES = 20;
const TAIL_LETTERS = 2_000;

function section(story: Story, stories: readonly Story[], attempts: readonly TriageAttempt[]): string {
  const own = attempts.filter((attempt) => attempt.story === story.id).toSorted((a, b) => a.at - b.at);
  const reasons = reasonsOf(story);
  return joinParts([
    `### ${story.id}: ${cleanLine(story.title)}`,
    story.description.trim() === "" ? "" : quote(story.description.trim(), null),
    `Rejections: ${story.rejections}`,
    list("Criteria", story.acceptanceCriteria.map(cleanLine)),
    list("Checks", story.checks.map(codeSpan)),
    list("Why", reasons.length === 0 ? ["no reason is recorded"] : reasons),
    list("Attempts", own.slice(-SHOWN_ATTEMPTS).map(renderAttempt)),
    ...evidenceOf(own),
    list("To decide", decisions(story, stories, reasons, own)),
  ]);
}

function list(title: string, items: readonly string[]): string {
  return items.length === 0 ? "" : [`${title}:`, ...items.map((item) => `- ${item}`)].join("\n");
}

function renderAttempt({ iteration, outcome, reason, at, filesChanged }: TriageAttempt): string {
  const files = filesChanged === 1 ? "1 file changed" : `${filesChanged} files changed`;
  const why = reason === null ? "" : `: ${cleanLine(reason)}`;
  return `iteration ${iteration}, ${new Date(at).toISOString()}, ${outcome}, ${files}${why}`;
}

/** Only of the last attempt that has any: earlier output is about other files. */
function evidenceOf(own: readonly TriageAttempt[]): readonly string[] {
  const failing = own.findLast((attempt) => (attempt.failing?.length ?? 0) > 0)?.failing ?? [];
  return failing.map(
    ({ name, tail }) =>
      `Failing: ${cleanLine(name)}\n\n${quoteFenced(lastPart(tail, TAIL_LINES, TAIL_LETTERS), null)}`,
  );
}

function decisions(
  story: Story,
  stories: readonly Story[],
  reasons: readonly string[],
  own: readonly TriageAttempt[],
): readonly string[] {
  const { id, blocked, checks } = story;
  const said = new Set(reasons.map((reason) => reason.toLowerCase()));
  const waits = withStatus(stories, "open").filter((one) => isBehind(stories, one.id, id));
  const isRepeated = reasons.length > 1;
  const isUnchanged = own.length > 0 && own.every(({ filesChanged }) => filesChanged === 0);
  const all: readonly (readonly [boolean, string])[] = [
    [
      isRepeated && said.size === 1,
      "The reason is the same each time: is the criterion right, and is it possible to meet it?",
    ],
    [
      isRepeated && said.size === reasons.length,
      "The reason is different each time: is it more than one story? Split it, or write its contract.",
    ],
    [checks.length === 0, "It has no check of its own: which command would prove that it is done?"],
    [
      isUnchanged,
      "No attempt changed a file: does the agent have permission to write, and does it know where?",
    ],
    [waits.length > 0, `${waits.map((one) => one.id).join(", ")} wait for it: do they have to?`],
    [blocked, `Try it again, with a hint: loop backlog unblock ${id} "<what to do differently>"`],
    [blocked, `Accept it as done: loop mark-complete ${id}`],
    [!blocked, `Leave it out: loop backlog block ${id} "<reason>"`],
  ];
  return all.filter(([isAsked]) => isAsked).map(([, text]) => text);
}

/** Does `id` depend on `other`, directly or through stories that have not passed? */
function isBehind(stories: readonly Story[], id: string, other: string): boolean {
  const byId = new Map(stories.map((story) => [story.id, story]));
  return reachable(byId.get(id)?.dependsOn ?? [], byId).has(other);
}
