/**
 * Stories that had passed, and that an attempt at another story broke. Without worktrees, rejected work stays in the
 * project's folder. So the passed stories are checked again, and reopened if a check fails.
 */
import { NOTHING_SPENT } from "../../cost/usage.ts";
import type { Evidence } from "../../goal/goal.ts";
import { tellingLine } from "../../text/telling-line.ts";
import type { Attempt, Backlog, StoryReceipt } from "../backlog.ts";
import { replaceAttempt, without } from "../change.ts";
import type { Story } from "../stories.ts";
import { withNote } from "./registry.ts";

/** Keeps an unsuccessful attempt for one more round of checks, if it may have broken other stories. */
export function lookAfter(backlog: Backlog, ended: Attempt): readonly Attempt[] {
  const isInProject = ended.place !== null && ended.place.worktree === null;
  const hasOthers = backlog.stories.some(
    ({ id, passes, checks }) => id !== ended.story && passes && checks.length > 0,
  );
  if (!isInProject || !hasOthers) return without(backlog, ended);
  return replaceAttempt(backlog, {
    ...ended,
    job: null,
    next: "check",
    evidence: {},
    checkedTree: null,
    verdict: LOOK,
    spent: NOTHING_SPENT,
  });
}

/** The files differ from those that the other stories were proved on. */
export function isTouched({ diff }: Attempt): boolean {
  return diff === null || diff.tree !== diff.treeBefore;
}

/** Marks a round of checks after the attempt was settled. */
const LOOK: Attempt["verdict"] = { kind: "none", reason: null };

export function isLook({ verdict }: Attempt): boolean {
  return verdict?.kind === "none";
}

/** Reopens passed stories whose checks fail now. This is no rejection of their own work. */
export function takeBack(
  { stories, receipts }: Backlog,
  { story: by, iteration, place, evidence }: Attempt,
  now: number,
): Pick<Backlog, "stories" | "receipts"> {
  if (place !== null && place.worktree !== null) return { stories, receipts };
  const broken = new Map<string, string>();
  for (const { id, passes } of stories) {
    const own = Object.entries(evidence).filter(([name]) => name.startsWith(`${id}: `));
    const red = passes && id !== by ? whyUnmet(Object.fromEntries(own)) : null;
    if (red !== null) broken.set(id, `it had passed, and the attempt at ${by} broke it: ${red}`);
  }
  const update = (story: Story): Story => {
    const reason = broken.get(story.id);
    return reason === undefined
      ? story
      : { ...story, passes: false, notes: withNote(story.notes, "REJECTED", reason) };
  };
  const taken = [...broken].map(
    ([story, reason]): StoryReceipt => ({
      story,
      iteration,
      outcome: "rejected",
      reason,
      failure: null,
      at: now,
      spent: NOTHING_SPENT,
      filesChanged: 0,
      failing: {},
      outputTokens: 0,
    }),
  );
  return { stories: stories.map(update), receipts: [...receipts, ...taken] };
}

/** The first failing check, in one line. */
export function whyUnmet(evidence: Readonly<Record<string, Evidence>>): string | null {
  const red = Object.entries(evidence).find(([, { met }]) => !met);
  if (red === undefined) return null;
  const [name, { exitCode, timedOut, tail }] = red;
  const how = timedOut ? "ran out of time" : `exit ${exitCode ?? "by a signal"}`;
  const line = tellingLine(tail);
  return `${name} is not met: ${how}${line === "" ? "" : `: ${line}`}`;
}
