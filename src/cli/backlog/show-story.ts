/** `loop backlog show [US-003]`: shows one story, or a list of all stories. Changes nothing. */
import { problemsOf, renderStoryProblem } from "../../core/backlog/prd/dependencies.ts";
import { findStory } from "../../core/backlog/prd/registry.ts";
import {
  byPriority,
  countsOfStories,
  nextOf,
  passedIn,
  renderNextStory,
  type Story,
  statusOf,
} from "../../core/backlog/stories.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { renderColumns } from "../../core/text/width.ts";
import { viewStory } from "../../core/views/backlog-view.ts";
import { usageError } from "../../errors.ts";
import { loadPrd, prdPath } from "../../store/files/prd-file.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io } from "../io.ts";
import { openProject, type ProjectFlags } from "../project.ts";
import { renderStory } from "../render/stories.ts";

export async function backlogShowCommand(
  id: string | undefined,
  flags: ProjectFlags,
  io: Io,
): Promise<number> {
  const { root } = openProject(flags, io);
  const { stories } = loadBacklog(root);
  if (id === undefined) showAll(stories, flags, io);
  else showOne(stories, id, flags, io);
  // an invalid backlog is shown too
  for (const problem of problemsOf(stories)) io.say(renderStoryProblem(problem));
  return EXIT.ok;
}

export function loadBacklog(root: string): { readonly project: string; readonly stories: readonly Story[] } {
  const loaded = loadPrd(root);
  if (loaded === null)
    throw usageError(
      `There is no backlog here: ${prdPath(root)} is missing.`,
      "Create one: loop backlog plan, loop backlog import <file>, or loop register-task",
    );
  return { project: loaded.prd.project ?? "", stories: loaded.prd.stories };
}

function showAll(stories: readonly Story[], flags: ProjectFlags, io: Io): void {
  const next = nextOf(stories);
  const view = {
    version: 1,
    stories: stories.map(viewStory),
    progress: countsOfStories(stories),
    next: next.kind === "story" ? next.story.id : null,
  };
  const rows = byPriority(stories).map((story) => [story.id, statusOf(story), cleanLine(story.title)]);
  const last = next.kind === "story" ? `Next: ${cleanLine(renderNextStory(next))}` : renderNextStory(next);
  answer(flags, io, view, rows.length === 0 ? last : `${renderColumns(rows)}\n${last}`);
}

function showOne(stories: readonly Story[], id: string, flags: ProjectFlags, io: Io): void {
  const story = findStory(stories, id);
  if (story === null)
    throw usageError(`There is no story "${cleanLine(id)}".`, "List the stories: loop backlog show");
  const isMet = passedIn(stories);
  const waitsFor = story.dependsOn.filter((other) => !isMet.has(other));
  const neededBy = stories.filter(({ dependsOn }) => dependsOn.includes(story.id)).map((one) => one.id);
  const progress = countsOfStories(stories);
  const more = [
    ...(waitsFor.length === 0 || story.passes ? [] : [`Waits for: ${waitsFor.map(cleanLine).join(", ")}`]),
    ...(neededBy.length === 0 ? [] : [`Needed by: ${neededBy.join(", ")}`]),
  ];
  const view = { version: 1, story: viewStory(story), waitsFor, neededBy, progress };
  answer(flags, io, view, renderStory(story, more));
}
