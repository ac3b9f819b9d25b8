/**
 * Stories that had passed, and that an attempt at another one broke. Rejected work stays where it is, in the project's
 * own folder: then what the file says of the others has to stay true of the files. In worktrees nothing of it is met
 * by anybody.
 */
import type { Evidence } from "../../goal/goal.ts";
import { tellingLine } from "../../text/telling-line.ts";
import type { Attempt, Backlog, StoryReceipt } from "../backlog.ts";
import type { Story } from "../stories.ts";
import { withNote } from "./registry.ts";

const NOTHING_SPENT = { costUsd: 0, tokens: 0, timeMs: 0, unpriced: 0 };

/** An attempt that came to nothing stays for one more round of checks, when the others may not be what they were. */
export function lookAfter({ stories, attempts }: Backlog, ended: Attempt): readonly Attempt[] {
  const isInProject = ended.place !== null && ended.place.worktree === null;
  const hasOthers = stories.some(
    ({ id, passes, checks }) => id !== ended.story && passes && checks.length > 0,
  );
  if (!isInProject || !hasOthers) return attempts.filter(({ story }) => story !== ended.story);
  const look: Attempt = {
    ...ended,
    ...{ job: null, next: "check", evidence: {}, checkedTree: null, verdict: LOOK, spent: NOTHING_SPENT },
  };
  return attempts.map((each) => (each.story === ended.story ? look : each));
}

/** What a generator left is not what the story was begun with, when all the others were proved. */
export function isTouched({ diff }: Attempt): boolean {
  return diff === null || diff.tree !== diff.treeBefore;
}

/** Nobody is judged any more: the attempt was settled before. */
const LOOK: Attempt["verdict"] = { kind: "none", reason: null };

export function isLook({ verdict }: Attempt): boolean {
  return verdict?.kind === "none";
}

/** What is red of stories that had passed is open again. It costs them no rejection: it was not their doing. */
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
    if (red !== null) broken.set(id, `it had passed, and is broken after the attempt at ${by}: ${red}`);
  }
  const update = (story: Story): Story => {
    const reason = broken.get(story.id);
    return reason === undefined
      ? story
      : { ...story, passes: false, notes: withNote(story.notes, "REJECTED", reason) };
  };
  const taken = [...broken].map(
    ([story, reason]): StoryReceipt => ({
      ...{ story, iteration, outcome: "rejected", reason, failure: null, at: now, spent: NOTHING_SPENT },
      ...{ filesChanged: 0, failing: {}, outputTokens: 0 },
    }),
  );
  return { stories: stories.map(update), receipts: [...receipts, ...taken] };
}

/** The first check that is red, in one line. */
export function whyUnmet(evidence: Readonly<Record<string, Evidence>>): string | null {
  const red = Object.entries(evidence).find(([, { met }]) => !met);
  if (red === undefined) return null;
  const [name, { exitCode, timedOut, tail }] = red;
  const how = timedOut ? "ran out of time" : `exit ${exitCode ?? "by a signal"}`;
  const line = tellingLine(tail);
  return `${name} is not met: ${how}${line === "" ? "" : `: ${line}`}`;
}
