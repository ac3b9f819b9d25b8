/**
 * The one line at the foot of a conversation (A11, E1), from what `progress.ts` published. A part of the fast path of
 * `loop statusline`: it needs neither cron nor time zones.
 */

import { ownerOf } from "../session.ts";
import type { GoalProgress, Progress } from "../views/progress.ts";
import { cleanLine } from "./clean.ts";
import { ESTIMATE_MARK, renderBudget, renderMoment, renderTokens, renderUsd } from "./figures.ts";
import { columnsOf, cutTo, simplify } from "./width.ts";

export interface StatusLineView {
  /** Id of the conversation that shows it; without one it is a terminal. */
  readonly session?: string;
  /** What a person types there to reach us, such as `/loop`; without one it is a terminal's `loop`. */
  readonly commandName?: string;
  readonly now: number;
  readonly columns: number;
}

/** The end of a goal is news for this long. */
const NEWS_MS = 10 * 60_000;
const ID_LETTERS = 4;
/** A question that is cut further than this says nothing: then rather without the command. */
const MIN_QUESTION_COLUMNS = 16;
const SEPARATOR = " · ";

/** Empty: there is nothing to tell. */
export function renderStatusLine(progress: Progress, view: StatusLineView): string {
  const { tasks } = progress;
  const goal = shownGoal(progress, view);
  if (tasks.live === 0 && goal === null) return "";
  const name = `loop${tasks.live > 0 ? `:${tasks.live}` : ""}${renderRunner(progress, goal, view)}`;
  const head = [
    name,
    ...(tasks.paused > 0 ? [`${tasks.paused} paused`] : []),
    ...(tasks.missed > 0 ? [`${tasks.missed} missed`] : []),
  ].join(SEPARATOR);
  if (goal === null) return cutTo(head, view.columns);
  const start = `${head}${head === "loop" ? ": " : SEPARATOR}${shortId(goal.id)} `;
  const left = view.columns - columnsOf(start);
  return cutTo(`${start}${renderGoal(goal, progress, view, left)}`, view.columns);
}

/** The conversation's own goal comes before those of others. */
function shownGoal({ goal, otherGoals }: Progress, { session, now }: StatusLineView): GoalProgress | null {
  const shown = [...(goal === null ? [] : [goal]), ...otherGoals].filter((each) => isNews(each, now));
  const own = session === undefined ? undefined : shown.find((each) => each.session === ownerOf(session));
  return own ?? shown[0] ?? null;
}

function isNews({ status, endedAt }: GoalProgress, now: number): boolean {
  return status !== "ended" || (endedAt !== null && Math.abs(now - Date.parse(endedAt)) < NEWS_MS);
}

/** Said where somebody else fires, and where something waits and nobody does. */
function renderRunner({ tasks, lease }: Progress, goal: GoalProgress | null, view: StatusLineView): string {
  if (lease !== null)
    return view.session === undefined || lease.owner === ownerOf(view.session) ? "" : " (passive)";
  const hasWork = goal?.status === "active" && goal.gate === null;
  return hasWork || tasks.live > tasks.paused + tasks.missed ? " (nobody runs it)" : "";
}

function renderGoal(goal: GoalProgress, progress: Progress, view: StatusLineView, columns: number): string {
  switch (goal.phase) {
    case "paused":
      return `⏸ ${clean(goal.pauseReason ?? "paused")}`;
    case "waiting for you":
      return renderQuestion(goal, progress, view, columns);
    case "done":
    case "cancelled":
    case "failed":
      return [`${END_MARKS[goal.phase]}${goal.phase}`, ...renderFigures(goal)].join(SEPARATOR);
    default:
      return [
        renderPhase(goal, view.now),
        ...renderFigures(goal),
        ...(goal.step === null ? [] : [`next: ${clean(goal.step)}`]),
      ].join(SEPARATOR);
  }
}

const END_MARKS = { done: "✓ ", cancelled: "", failed: "✗ " } as const;

/** The command stays whole; the question is cut. */
function renderQuestion(
  { id, gate }: GoalProgress,
  { otherGoals }: Progress,
  { commandName = "loop" }: StatusLineView,
  columns: number,
): string {
  const hint = ` (${commandName} approve${otherGoals.length > 0 ? ` ${shortId(id)}` : ""})`;
  const question = `asks: ${clean(gate ?? "go on?")}`;
  const left = columns - columnsOf(hint);
  return left < MIN_QUESTION_COLUMNS ? question : `${cutTo(question, left)}${hint}`;
}

function renderPhase({ phase, iteration, iterations, waitUntil }: GoalProgress, now: number): string {
  const until = phase === "sleeping" && waitUntil !== null ? ` until ${renderUntil(waitUntil, now)}` : "";
  return `${phase}${until}${iteration > 0 ? ` ${iteration}/${iterations}` : ""}`;
}

/** The line may stand for hours without being drawn anew: a moment stays true, "in 5 minutes" does not. */
function renderUntil(waitUntil: string, now: number): string {
  const moment = renderMoment(Date.parse(waitUntil));
  const [day] = renderMoment(now).split(" ");
  return moment.startsWith(`${day} `) ? moment.slice(`${day} `.length) : moment;
}

function renderFigures(goal: GoalProgress): readonly string[] {
  const { criteriaMet, criteriaTotal, costUsd, unpriced, budgetUsd, tokens } = goal;
  const spent =
    costUsd !== null
      ? [
          `${goal.isEstimate === true ? ESTIMATE_MARK : ""}${renderUsd(costUsd)}${unpriced > 0 ? "+" : ""}/${renderBudget(budgetUsd)}`,
        ]
      : tokens > 0
        ? [`${renderTokens(tokens)} tokens`]
        : [];
  return [...(criteriaTotal > 0 ? [`${criteriaMet}/${criteriaTotal} ✓`] : []), ...spent];
}

/** Once more, although it was published clean: who wrote the file that was read is not known. */
function clean(text: string): string {
  return simplify(cleanLine(text));
}

function shortId(id: string): string {
  return clean(id.slice(0, ID_LETTERS));
}
