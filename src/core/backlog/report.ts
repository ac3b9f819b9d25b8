/** What a run of a backlog tells people (C10), in the seed's words. */
import { cleanLine } from "../text/clean.ts";
import { count } from "../text/figures.ts";
import type { Backlog, Mode } from "./backlog.ts";
import { countsOfStories, type Story, statusOf } from "./stories.ts";

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

/** With what earlier attempts were told, so that a person knows what this one is about. */
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

/** After every iteration. */
export function renderCounts(stories: readonly Story[]): string {
  const { passed, total } = countsOfStories(stories);
  return `${passed}/${total} stories complete`;
}

/** The run as `loop status` shows it. */
export function renderRun({
  id,
  status,
  iteration,
  terms,
  attempts,
  stories,
  pause,
  waitReason,
}: Backlog): string {
  const work = attempts.map(({ story, job }) => (job === null ? story : `${story} (${job.phase})`));
  const now =
    status === "paused"
      ? `paused: ${pause?.reason ?? "by a person"}; go on with: loop backlog run --resume`
      : (waitReason ?? (work.length === 0 ? "between two stories" : `at work on ${work.join(", ")}`));
  return [
    `Backlog ${id}: ${renderCounts(stories)}, iteration ${iteration} of ${terms.maxIterations}`,
    `  ${now}`,
  ].join("\n");
}

export function renderLoopComplete(iterations: number, stories: readonly Story[]): string {
  const { blocked, open } = countsOfStories(stories);
  const ids = stories.filter((story) => statusOf(story) === "blocked").map(({ id }) => id);
  const named = ids.length === 0 ? "" : `Blocked: ${ids.join(", ")}. `;
  return [
    "Loop Complete",
    `- Iterations used: ${iterations}`,
    `- Stories: ${renderComplete(stories)}, ${blocked} blocked`,
    ...(blocked + open === 0 ? [] : [`- ${named}See what stands in the way: loop backlog triage`]),
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
