/** A person's changes to a backlog (D8). A change that would leave the backlog invalid is refused. */
import { parseCheckFlag } from "../../spec/check-flag.ts";
import { cleanLine } from "../../text/clean.ts";
import { type Story, UNTRIED } from "../stories.ts";
import { problemsOf, renderStoryProblem } from "./dependencies.ts";

type Written = "title" | "description" | "acceptanceCriteria" | "checks" | "dependsOn" | "priority" | "depth";

export interface StoryDraft extends Pick<Story, Written> {
  /** null: the next free US-00N. */
  readonly id: string | null;
}

/** `fault`: the request is wrong, or the backlog was invalid before. */
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
  if (taken !== null) return refused(`The story ${taken.id} exists already: ${cleanLine(taken.title)}.`);
  const dependsOn = [...new Set(draft.dependsOn.map((other) => findStory(stories, other)?.id ?? other))];
  const story: Story = {
    ...draft,
    id,
    title,
    dependsOn,
    ...UNTRIED,
    tier: null,
    holdouts: [],
  };
  return sound(stories, [...stories, story], story);
}

function faultOfDraft(draft: StoryDraft & { readonly id: string }): string | null {
  const { id, title, acceptanceCriteria, checks, priority } = draft;
  if (title === "") return "A story needs a title.";
  const fault = faultOfStoryId(id);
  if (fault !== null) return `"${cleanLine(id)}" cannot be the id of a story: ${fault}.`;
  if (priority !== null && !(Number.isSafeInteger(priority) && priority >= 0))
    return `${priority} is not a priority: write a whole number; 1 comes first.`;
  if (acceptanceCriteria.some((one) => one.trim() === "")) return "A criterion is empty.";
  const [wrong] = faultsOfChecks(checks);
  return wrong === undefined ? null : `${wrong.message}.`;
}

/** A person decides: no check has to pass, and neither do the dependencies. */
export function markComplete(stories: readonly Story[], id: string): StoryChange {
  return changeStory(stories, id, (story) =>
    story.passes ? `${story.id} has passed already.` : { ...story, passes: true, blocked: false },
  );
}

export function markBlocked(stories: readonly Story[], id: string, reason: string): StoryChange {
  return changeStory(stories, id, (story) => {
    if (story.passes) return `${story.id} has passed already and cannot be blocked.`;
    if (story.blocked) return `${story.id} is blocked already.`;
    return { ...story, blocked: true, notes: withNote(story.notes, "BLOCKED", reason) };
  });
}

/** Resets the count of rejections: otherwise the next rejection would block the story again. */
export function unblock(stories: readonly Story[], id: string): StoryChange {
  return changeStory(stories, id, (story) => {
    if (story.passes || !story.blocked) return `${story.id} is not blocked.`;
    return { ...story, blocked: false, rejections: 0 };
  });
}

/** Adds a line `[BLOCKED] why` to the notes. */
export function withNote(notes: string, mark: "BLOCKED" | "REJECTED", reason: string): string {
  const line = `[${mark}] ${cleanLine(reason)}`.trim();
  return notes.trim() === "" ? line : `${notes.trimEnd()}\n${line}`;
}

/** The exact id comes first, then one that differs in case. */
export function findStory(stories: readonly Story[], id: string): Story | null {
  const same = (story: Story) => story.id.toLowerCase() === id.toLowerCase();
  return stories.find((story) => story.id === id) ?? stories.find(same) ?? null;
}

/** What is wrong with an id, as half a sentence; null: nothing. The id is part of file names. */
export function faultOfStoryId(id: string): string | null {
  if (id.length > MAX_ID) return `it has more than ${MAX_ID} characters`;
  return ID.test(id) ? null : "write letters, digits, dots, dashes or underscores, such as US-001";
}

/** Checks that do not have the form of `--check`, or use a name twice; half a sentence each. */
export function faultsOfChecks(
  checks: readonly string[],
): readonly { readonly index: number; readonly message: string }[] {
  const names = new Set<string>();
  return checks.flatMap((text, index) => {
    const parsed = parseCheckFlag(text);
    if (parsed.kind === "invalid") return { index, message: parsed.message.replace(/\.$/, "") };
    const { name } = parsed.criterion;
    if (names.has(name)) return { index, message: `There are two checks with the name "${name}"` };
    names.add(name);
    return [];
  });
}

/** One more than the highest number. */
export function nextId(stories: readonly Story[]): string {
  const numbers = stories.map(({ id }) => Number(/^US-(\d{1,9})$/i.exec(id)?.[1] ?? 0));
  const next = numbers.reduce((most, number) => Math.max(most, number), 0) + 1;
  return `US-${String(next).padStart(3, "0")}`;
}

const MAX_ID = 64;
const ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?$/;

/** `change` returns the new story, or a string that says why not. */
function changeStory(
  stories: readonly Story[],
  id: string,
  change: (story: Story) => Story | string,
): StoryChange {
  const story = findStory(stories, id);
  if (story === null) return refused(`There is no story "${cleanLine(id)}".`, knownIds(stories));
  const after = change(story);
  if (typeof after === "string") return refused(after);
  const changed = stories.map((one) => (one === story ? after : one));
  return sound(stories, changed, after);
}

/** Refuses a change that adds a problem, or that leaves one. A change may repair the backlog. */
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
  if (stories.length === 0) return 'There are no stories yet; add one: loop register-task "<title>"';
  const ids = stories.slice(0, SHOWN_IDS).map(({ id }) => id);
  return `Stories: ${ids.join(", ")}${stories.length > SHOWN_IDS ? ", …" : ""}`;
}

function refused(message: string, hint: string | null = null): StoryChange {
  return { kind: "refused", fault: "request", message, hint };
}
