/** The lines by which a run of a backlog tells people what it does (C10). */
import { cleanLine } from "../text/clean.ts";
import { count } from "../text/figures.ts";
import type { Backlog, Mode } from "./backlog.ts";
import { countsOfStories, type Story, withStatus } from "./stories.ts";

export function renderLoopReady(run: {
  readonly mode: Mode;
  readonly stories: readonly Story[];
  readonly maxIterations: number;
  readonly skipEval: boolean;
}): string {
  return [
    "Loop Ready",
    `- Mode: ${run.mode}`,
    `- Stories: ${renderComplete(run.stories)}`,
    `- Max iterations: ${run.maxIterations}`,
    `- Eval: ${run.skipEval ? "off" : "on"}`,
    "Starting loop. You can interrupt me at any time to adjust course.",
  ].join("\n");
}

/** Names the earlier rejections that this attempt has to answer. */
export function renderIterationStart(iteration: number, maxIterations: number, story: Story): string {
  const head = `Iteration ${iteration}/${maxIterations} — ${story.id}: ${cleanLine(story.title)}`;
  const rejections = rejectionsIn(story.notes).map((reason) => `  rejected before: ${reason}`);
  return [head, ...rejections].join("\n");
}

export function renderPassed({ id }: Pick<Story, "id">): string {
  return `✓ ${id} PASSED`;
}

export function renderRejected({ id }: Pick<Story, "id">, reason: string): string {
  return `✗ ${id} REJECTED — ${cleanLine(reason)}`;
}

export function renderBlocked({ id, rejections }: Pick<Story, "id" | "rejections">): string {
  return `⚠ ${id} BLOCKED — rejected ${count(rejections, "time")}, needs human review`;
}

export function renderCounts(stories: readonly Story[]): string {
  const { passed, total } = countsOfStories(stories);
  return `${passed}/${total} stories complete`;
}

/** For `loop status`. */
export function renderRun(backlog: Backlog): string {
  const { id, status, iteration, terms, attempts, stories, pause, waitReason } = backlog;
  const work = attempts.map(({ story, job }) => (job === null ? story : `${story} (${job.phase})`));
  const now =
    status === "paused"
      ? `paused: ${pause?.reason ?? "by a person"}; go on with: loop backlog run --resume`
      : (waitReason ?? (work.length === 0 ? "between two stories" : `working on ${work.join(", ")}`));
  return [
    `Backlog ${id}: ${renderCounts(stories)}, iteration ${iteration} of ${terms.maxIterations}`,
    `  ${now}`,
  ].join("\n");
}

export function renderLoopComplete(iterations: number, stories: readonly Story[]): string {
  const { blocked, open } = countsOfStories(stories);
  const ids = withStatus(stories, "blocked").map(({ id }) => id);
  const named = ids.length === 0 ? "" : `Blocked: ${ids.join(", ")}. `;
  return [
    "Loop Complete",
    `- Iterations used: ${iterations}`,
    `- Stories: ${renderComplete(stories)}, ${blocked} blocked`,
    ...(blocked + open === 0 ? [] : [`- ${named}See why: loop backlog triage`]),
  ].join("\n");
}

/** The reasons of `[REJECTED]` lines, oldest first. */
export function rejectionsIn(notes: string): readonly string[] {
  return notes.split(/\r?\n/).flatMap((line) => {
    const [, reason] = /^\s*\[REJECTED\](.*)$/.exec(line) ?? [];
    return reason === undefined ? [] : [cleanLine(reason)];
  });
}

function renderComplete(stories: readonly Story[]): string {
  const { passed, total } = countsOfStories(stories);
  return `${passed}/${total} complete`;
}
