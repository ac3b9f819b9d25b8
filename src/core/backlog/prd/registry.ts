/** What a person changes in a backlog (D8): pure, and refused with a sentence when it would leave it faulty. */
import { parseCheckFlag } from "../../spec/check-flag.ts";
import { cleanLine } from "../../text/clean.ts";
import type { Depth, Story } from "../stories.ts";
import { problemsOf, renderStoryProblem } from "./dependencies.ts";

export interface StoryDraft {
  /** null: the next free US-00N. */
  readonly id: string | null;
  readonly title: string;
  readonly description: string;
  readonly acceptanceCriteria: readonly string[];
  readonly checks: readonly string[];
  readonly dependsOn: readonly string[];
  readonly priority: number | null;
  readonly depth: Depth | null;
}

/** `fault` says whose it is: what was asked, or what the backlog was like before. */
export type StoryChange =
  | { readonly kind: "changed"; readonly stories: readonly Story[]; readonly story: Story }
  | {
      readonly kind: "refused";
      readonly fault: "request" | "backlog";
      readonly message: string;
      readonly hint: string | null;
    };

export function registerStory(stories: readonly Story[], draft: StoryDraft): StoryChange {
  const title = cleanLine(draft.title);
  const id = draft.id ?? nextId(stories);
  const fault = faultOfDraft({ ...draft, id, title });
  if (fault !== null) return refused(fault);
  const taken = findStory(stories, id);
  if (taken !== null) return refused(`There is a story ${taken.id} already: ${cleanLine(taken.title)}.`);
  const dependsOn = [...new Set(draft.dependsOn.map((other) => findStory(stories, other)?.id ?? other))];
  const story: Story = {
    ...draft,
    id,
    title,
    dependsOn,
    passes: false,
    notes: "",
    rejections: 0,
    blocked: false,
    tier: null,
    holdouts: [],
  };
  return sound(stories, [...stories, story], story);
}

function faultOfDraft({
  id,
  title,
  acceptanceCriteria,
  checks,
  priority,
}: StoryDraft & { id: string }): string | null {
  if (title === "") return "A story needs a title.";
  const fault = faultOfStoryId(id);
  if (fault !== null) return `"${cleanLine(id)}" cannot be the id of a story: ${fault}.`;
  if (priority !== null && !(Number.isSafeInteger(priority) && priority >= 0))
    return `${priority} is not a priority: write a whole number, 1 for what comes first.`;
  if (acceptanceCriteria.some((one) => one.trim() === "")) return "A criterion is empty.";
  const [wrong] = faultsOfChecks(checks);
  return wrong === undefined ? null : `${wrong.message}.`;
}

/** A person's word: no check has to be green for it, and what it depends on need not have passed. */
export function markComplete(stories: readonly Story[], id: string): StoryChange {
  return changeStory(stories, id, (story) =>
    story.passes ? `${story.id} has passed already.` : { ...story, passes: true, blocked: false },
  );
}

export function markBlocked(stories: readonly Story[], id: string, reason: string): StoryChange {
  return changeStory(stories, id, (story) => {
    if (story.passes) return `${story.id} has passed; there is nothing to block.`;
    if (story.blocked) return `${story.id} is blocked already.`;
    return { ...story, blocked: true, notes: withNote(story.notes, "BLOCKED", reason) };
  });
}

/** It gets all its attempts again: with the old count, the first rejection would block it at once. */
export function unblock(stories: readonly Story[], id: string): StoryChange {
  return changeStory(stories, id, (story) => {
    if (story.passes || !story.blocked) return `${story.id} is not blocked.`;
    return { ...story, blocked: false, rejections: 0 };
  });
}

/** The notes with one line more, `[BLOCKED] why`; earlier ones stay. */
export function withNote(notes: string, mark: "BLOCKED" | "REJECTED", reason: string): string {
  const line = `[${mark}] ${cleanLine(reason)}`.trim();
  return notes.trim() === "" ? line : `${notes.trimEnd()}\n${line}`;
}

/** As it was typed, or with other capitals. */
export function findStory(stories: readonly Story[], id: string): Story | null {
  const same = (story: Story) => story.id.toLowerCase() === id.toLowerCase();
  return stories.find((story) => story.id === id) ?? stories.find(same) ?? null;
}

/** What is wrong with an id, as half a sentence; null: nothing. Files of a story are named by it. */
export function faultOfStoryId(id: string): string | null {
  if (id.length > MAX_ID) return `it has more than ${MAX_ID} characters`;
  return ID.test(id) ? null : "write letters, digits, dots, dashes or underscores, such as US-001";
}

/** Which of them are not in the form of `--check`, or have the name of one before; half a sentence each. */
export function faultsOfChecks(
  checks: readonly string[],
): readonly { readonly index: number; readonly message: string }[] {
  const names = new Set<string>();
  return checks.flatMap((text, index) => {
    const parsed = parseCheckFlag(text);
    if (parsed.kind === "wrong") return { index, message: parsed.message.replace(/\.$/, "") };
    const { name } = parsed.criterion;
    if (names.has(name)) return { index, message: `There are two checks with the name "${name}"` };
    names.add(name);
    return [];
  });
}

/** One more than the highest: a number that was in use does not come back while a later one is there. */
export function nextId(stories: readonly Story[]): string {
  const numbers = stories.map(({ id }) => Number(/^US-(\d{1,9})$/i.exec(id)?.[1] ?? 0));
  const next = numbers.reduce((most, number) => Math.max(most, number), 0) + 1;
  return `US-${String(next).padStart(3, "0")}`;
}

const MAX_ID = 64;
const ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?$/;

/** `change` returns the story as it is to be, or why not. */
function changeStory(
  stories: readonly Story[],
  id: string,
  change: (story: Story) => Story | string,
): StoryChange {
  const story = findStory(stories, id);
  if (story === null) return refused(`There is no story "${cleanLine(id)}".`, knownIds(stories));
  const after = change(story);
  if (typeof after === "string") return refused(after);
  return sound(
    stories,
    stories.map((one) => (one === story ? after : one)),
    after,
  );
}

/** What was faulty before may be mended by a change, and is otherwise the reason to refuse it. */
function sound(before: readonly Story[], after: readonly Story[], story: Story): StoryChange {
  const [problem, ...more] = problemsOf(after).map(renderStoryProblem);
  if (problem === undefined) return { kind: "changed", stories: after, story };
  const old = problemsOf(before).map(renderStoryProblem);
  const caused = [problem, ...more].find((one) => !old.includes(one));
  if (caused !== undefined) return refused(caused);
  const hint = more.length === 0 ? null : `And: ${more.join(" ")}`;
  return { kind: "refused", fault: "backlog", message: problem, hint };
}

const SHOWN_IDS = 10;

function knownIds(stories: readonly Story[]): string {
  if (stories.length === 0) return 'There are none yet; add one: loop register-task "<title>"';
  const ids = stories.slice(0, SHOWN_IDS).map(({ id }) => id);
  return `There are: ${ids.join(", ")}${stories.length > SHOWN_IDS ? ", …" : ""}`;
}

function refused(message: string, hint: string | null = null): StoryChange {
  return { kind: "refused", fault: "request", message, hint };
}
