/** The status line of a conversation (A11, E1). On the fast path of `loop statusline`: no cron, no time zones. */
import { ownerOf } from "../session.ts";
import type { GoalProgress, Progress } from "../views/progress.ts";
import { cleanLine } from "./clean.ts";
import { ESTIMATE_MARK, renderBudget, renderMoment, renderTokens, renderUsd } from "./figures.ts";
import { columnsOf, cutTo, simplify } from "./width.ts";

export interface StatusLineView {
  /** The conversation that shows it; left out: a terminal. */
  readonly session?: string;
  /** What a person types there, such as `/loop`; left out: `loop`. */
  readonly commandName?: string;
  readonly now: number;
  readonly columns: number;
}

/** An ended goal is shown for so long. */
const NEWS_MS = 10 * 60_000;
const ID_LETTERS = 4;
/** A shorter question says nothing. Then the command is left out. */
const MIN_QUESTION_COLUMNS = 16;
const SEPARATOR = " · ";

/** Empty: nothing to show. */
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

/** The conversation's own goal comes first. */
function shownGoal({ goal, otherGoals }: Progress, { session, now }: StatusLineView): GoalProgress | null {
  const shown = [...(goal === null ? [] : [goal]), ...otherGoals].filter((each) => isNews(each, now));
  const own = session === undefined ? undefined : shown.find((each) => each.session === ownerOf(session));
  return own ?? shown[0] ?? null;
}

function isNews({ status, endedAt }: GoalProgress, now: number): boolean {
  return status !== "ended" || (endedAt !== null && Math.abs(now - Date.parse(endedAt)) < NEWS_MS);
}

/** Shown when another process runs the loops, or when work waits and no process runs it. */
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

/** A time stays true when the line is not redrawn for hours; "in 5 minutes" does not. */
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

/** Cleaned again, because anybody may have written the file. */
function clean(text: string): string {
  return simplify(cleanLine(text));
}

function shortId(id: string): string {
  return clean(id.slice(0, ID_LETTERS));
}
