/**
 * `loop register-task | mark-complete | mark-blocked | next-task`: edits the stories of `.loop/prd.json` (D8, D12).
 * Never prints holdouts, which only the evaluator may see (C15).
 */
import { problemsOf, renderStoryProblem } from "../../core/backlog/prd/dependencies.ts";
import {
  faultOfStoryId,
  markBlocked,
  markComplete,
  registerStory,
  type StoryChange,
  type StoryDraft,
  unblock,
} from "../../core/backlog/prd/registry.ts";
import { countsOfStories, DEPTHS, nextOf, renderNextStory, type Story } from "../../core/backlog/stories.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { viewStory } from "../../core/views/backlog-view.ts";
import { refuseDuringRun } from "../../engine/backlogs/backlogs.ts";
import { type LoopError, surroundingsError, usageError } from "../../errors.ts";
import { changeStories, loadPrd, prdPath } from "../../store/files/prd-file.ts";
import { EXIT } from "../exit-codes.ts";
import { countFlag, oneOf } from "../flags/values.ts";
import { answer, type Io } from "../io.ts";
import { openProject, openProjectToChange, type Project, type ProjectFlags } from "../project.ts";
import { refuseTurns } from "../run/person.ts";

export interface RegisterFlags extends ProjectFlags {
  readonly description?: string;
  readonly criterion?: readonly string[];
  readonly check?: readonly string[];
  /** Each entry may hold several ids, separated by commas. */
  readonly dependsOn?: readonly string[];
  readonly priority?: string;
  readonly depth?: string;
}

/** C16: the exit code when there is no story to work on. */
const NOTHING_LEFT = 3;

export async function registerTaskCommand(
  words: readonly string[],
  flags: RegisterFlags,
  io: Io,
): Promise<number> {
  const draft = readDraft(words, flags);
  const project = openProjectToChange(flags, io);
  const { story, stories } = await changeRegistry(project, "register-task", (before) =>
    registerStory(before, draft),
  );
  const waits = story.dependsOn.length === 0 ? "" : ` It waits for ${story.dependsOn.join(", ")}.`;
  const text = `Registered ${story.id}: ${cleanLine(story.title)}.${waits}`;
  return answer(flags, io, viewChange(story, stories), text);
}

export async function markCompleteCommand(id: string, flags: ProjectFlags, io: Io): Promise<number> {
  const project = openProjectToChange(flags, io);
  refuseTurns(project.store, "mark a story complete");
  const { story, stories } = await changeRegistry(project, "mark-complete", (before) =>
    markComplete(before, id),
  );
  const { passed, total } = countsOfStories(stories);
  const text = `Marked ${story.id} complete: ${cleanLine(story.title)}. ${passed} of ${total} stories have passed.`;
  return answer(flags, io, viewChange(story, stories), text);
}

/** `loop mark-blocked <id>`. Refused inside a turn: a loop ends when all open stories are blocked. */
export async function markBlockedCommand(
  id: string,
  flags: ProjectFlags & { readonly reason?: string; readonly undo?: boolean },
  io: Io,
): Promise<number> {
  if (flags.undo && flags.reason !== undefined)
    throw usageError("--reason and --undo cannot be used together.", "See: loop help mark-blocked");
  const project = openProjectToChange(flags, io);
  refuseTurns(project.store, flags.undo ? "unblock a story" : "mark a story blocked");
  const { story, stories } = await changeRegistry(project, "mark-blocked", (before) =>
    flags.undo ? unblock(before, id) : markBlocked(before, id, flags.reason ?? ""),
  );
  const text = flags.undo
    ? `Unblocked ${story.id}: ${cleanLine(story.title)}.`
    : `Marked ${story.id} blocked: ${cleanLine(story.title)}. To undo: loop mark-blocked ${story.id} --undo`;
  return answer(flags, io, viewChange(story, stories), text);
}

export async function nextTaskCommand(flags: ProjectFlags, io: Io): Promise<number> {
  const { root } = openProject(flags, io);
  const loaded = loadPrd(root);
  if (loaded === null) throw usageError(`There are no stories here: ${prdPath(root)} is missing.`, ADD_ONE);
  const { stories } = loaded.prd;
  refuseProblems(root, stories);
  const next = nextOf(stories);
  const isPicked = next.kind === "story";
  if (flags.json)
    io.json({
      story: isPicked ? viewStory(next.story) : null,
      reason: isPicked ? null : renderNextStory(next),
      blocked: "blocked" in next ? next.blocked : [],
      waiting: next.kind === "waiting" ? next.waiting : [],
      progress: countsOfStories(stories),
    });
  else if (isPicked) io.out(renderStory(next.story));
  else io.say(renderNextStory(next));
  return isPicked ? EXIT.ok : NOTHING_LEFT;
}

const ADD_ONE = 'Add a story: loop register-task "<title>"';

function readDraft(words: readonly string[], flags: RegisterFlags): StoryDraft {
  const { id, title } = readTitle(words);
  if (title === "") throw usageError("A story needs a title.", ADD_ONE);
  const dependsOn = (flags.dependsOn ?? []).flatMap((list) => list.split(",")).map((one) => one.trim());
  if (dependsOn.includes(""))
    throw usageError("--depends-on has an empty id. Separate ids with commas, such as US-001,US-002.");
  return {
    id,
    title,
    description: flags.description ?? "",
    acceptanceCriteria: flags.criterion ?? [],
    checks: flags.check ?? [],
    dependsOn,
    priority: countFlag("--priority", flags.priority) ?? null,
    depth: oneOf("--depth", flags.depth, DEPTHS) ?? null,
  };
}

/** `US-007 "Add a login"`, `login "Add a login"`, `"Add a login"` and `Add a login`. */
function readTitle(words: readonly string[]): { readonly id: string | null; readonly title: string } {
  const [first = "", ...rest] = words;
  const isNumbered = /^[a-z]{1,10}[-_.]\d+$/i.test(first);
  const isBeforeQuoted =
    rest.length === 1 && /\s/.test(rest[0]?.trim() ?? "") && faultOfStoryId(first) === null;
  if (isNumbered || isBeforeQuoted) return { id: first, title: rest.join(" ").trim() };
  return { id: null, title: words.join(" ").trim() };
}

/** `command`: named in the hint. */
export async function changeRegistry(
  { root, store }: Project,
  command: string | null,
  decide: (stories: readonly Story[]) => StoryChange,
): Promise<Extract<StoryChange, { kind: "changed" }>> {
  refuseDuringRun(store);
  const change = await changeStories(root, decide);
  if (change.kind === "changed") return change;
  if (change.fault === "backlog") throw faulty(root, change.message, change.hint);
  throw usageError(change.message, change.hint ?? (command && `See: loop help ${command}`));
}

function refuseProblems(root: string, stories: readonly Story[]): void {
  const [first, ...more] = problemsOf(stories).map(renderStoryProblem);
  if (first !== undefined) throw faulty(root, first, more.length === 0 ? null : `Also: ${more.join(" ")}`);
}

function faulty(root: string, message: string, hint: string | null): LoopError {
  return surroundingsError(`${prdPath(root)}: ${message}`, hint ?? "Fix the file; it was not changed.");
}

function viewChange(story: Story, stories: readonly Story[]): object {
  return { story: viewStory(story), progress: countsOfStories(stories) };
}

function renderStory(story: Story): string {
  const { id, title, description, acceptanceCriteria, checks, notes, depth } = story;
  const facts = [
    ...(description.trim() === "" ? [] : [description]),
    ...(depth === null ? [] : [`Depth: ${depth}`]),
    ...acceptanceCriteria.map((one) => `- ${one}`),
    ...checks.map((one) => `Check: ${one}`),
    ...notes.split("\n").filter((line) => line.trim() !== ""),
  ];
  return [`${id}: ${cleanLine(title)}`, ...facts.map((fact) => `  ${cleanLine(fact)}`)].join("\n");
}
