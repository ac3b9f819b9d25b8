/** Renders the changes of a goal as lines for people. */
import { renderCheck } from "../../core/checks/kinds.ts";
import { unmetLine } from "../../core/goal/breakers.ts";
import type { Goal, Job } from "../../core/goal/goal.ts";
import { isConfirmed } from "../../core/goal/phase.ts";
import { isMet, isProved } from "../../core/goal/proof.ts";
import { cleanLine } from "../../core/text/clean.ts";
import {
  renderComplete,
  renderGate,
  renderIteration,
  renderIterationEnd,
  renderPaused,
  renderStarting,
  renderWaiting,
  renderWarning,
} from "../../core/text/goal/announcements.ts";
import { renderResumeHeader } from "../../core/text/goal/goal-prompt.ts";
import { suggestLearnable } from "../../core/text/goal/learnable.ts";
import { renderReceipts } from "../../core/text/goal/receipt.ts";
import { renderVerdictBox } from "../../core/text/goal/verdict-box.ts";
import type { GoalChange } from "../../core/views/goal-changes.ts";
import type { AgentEvent } from "../../ports/agent.ts";
import { type Io, paint, type Style } from "../io.ts";

export function renderGoalChange(change: GoalChange, goal: Goal, now: number, io: Io): string[] {
  switch (change.type) {
    case "start":
      return [
        ...headOf(goal).map((line) => paint(io, "bold", line)),
        ...goal.criteria.map((one) => `  check ${cleanLine(renderCheck(one))}`),
      ];
    case "survey":
      return surveyLines(change, goal, io);
    case "turn":
      return [paint(io, "cyan", turnLine(change.job, goal))];
    case "turn.end":
      // a turn without a failure is announced after its checks
      return change.receipt.failure === null ? [] : [renderIterationEnd(goal, change.receipt)];
    case "plan":
      return goal.steps.map(({ name }, index) => `  ${index + 1}. ${cleanLine(name)}`);
    case "checks":
      return checkLines(goal, io);
    case "gate":
      return yellow(renderGate(goal), io);
    case "warning":
      return yellow(renderWarning(goal, change.limit), io);
    case "wait":
      return yellow(renderWaiting(goal, now), io);
    case "go-on":
      return [`[LOOP] Continuing goal ${goal.id}`];
    case "pause":
      return ["", ...yellow(renderPaused(goal), io), ...receiptLines(goal)];
    case "end":
      return endLines(goal, io);
  }
}

/** After a pause or a crash, shows the state of the goal (B20). */
function headOf(goal: Goal): string[] {
  const hasWorked = goal.receipts.some(({ kind }) => kind === "work");
  return hasWorked ? renderResumeHeader(goal).split("\n") : [renderStarting(goal)];
}

function turnLine({ kind }: Job, goal: Goal): string {
  if (kind === "work") return renderIteration(goal);
  return kind === "plan" ? "[LOOP] Planning the steps" : "[LOOP] A second agent reviews the plan for risks";
}

/** One short line for an event of an agent. The agent's text stays in its own log. */
export function renderAgentEvent(event: AgentEvent, io: Io): string | null {
  const line = (style: Style, text: string) => paint(io, style, `  · ${text}`);
  switch (event.type) {
    case "tool": {
      const detail = event.detail === "" ? "" : ` ${cleanLine(event.detail).slice(0, 100)}`;
      return line("dim", `${cleanLine(event.name)}${detail}`);
    }
    case "permission":
      return line("yellow", `permission for ${cleanLine(event.tool)} ${event.answer}`);
    case "taken": {
      const [instead, reason, by] = [event.instead, event.reason, event.by].map(cleanLine);
      return line("yellow", `${instead}: ${reason}; ${by} takes the turn`);
    }
    case "failure":
      return line("yellow", `${cleanLine(event.failure.class)}: ${cleanLine(event.failure.reason)}`);
    case "notice":
      return line("yellow", `the agent says: ${event.severity}: ${cleanLine(event.text)}`);
    default:
      return null;
  }
}

function surveyLines(change: Extract<GoalChange, { type: "survey" }>, goal: Goal, io: Io): string[] {
  const count = change.protectedCount;
  const git =
    goal.baseline?.isGit === true
      ? []
      : ["This folder has no git: loop cannot roll files back, and build output may count as work."];
  const guarded = `${count === 0 ? "no file is" : count === 1 ? "1 file is" : `${count} files are`} protected: the checks depend on ${count === 1 ? "it" : "them"}`;
  return [
    ...(goal.criteria.length === 0 ? [] : [`  ${guarded}`]),
    ...change.green.map((name) =>
      paint(io, "yellow", `  ! ${cleanLine(name)} passes before any work, so it cannot prove the work`),
    ),
    ...git.map((line) => paint(io, "yellow", `  ! ${line}`)),
  ];
}

function checkLines(goal: Goal, io: Io): string[] {
  const last = goal.receipts.at(-1);
  const lines = goal.criteria.map(({ name }) => checkLine(goal, name, io));
  if (last === undefined || last.failure !== null || isConfirmed(goal.phase)) return lines;
  const isRefuted = last.claimedExit && !isProved(goal);
  if (isRefuted) {
    const what =
      goal.status === "active" ? ", but it is not: it continues with the evidence" : ", but it is not";
    return [...lines, paint(io, "yellow", `[LOOP] ↩ The agent claimed to be done${what}`)];
  }
  // the checks proved the goal with steps still open: "goes on" would be wrong
  const isOver = goal.end !== null && goal.steps.some(({ status }) => status === "open");
  return isOver ? lines : [...lines, renderIterationEnd(goal, last)];
}

function checkLine(goal: Goal, name: string, io: Io): string {
  if (isMet(goal, name)) {
    const found = goal.evidence[name];
    const value = found?.value === null || found === undefined ? "" : ` (${found.value})`;
    return paint(io, "green", `  ✓ ${cleanLine(name)}${value}`);
  }
  return paint(io, "red", `  ✗ ${cleanLine(unmetLine(goal, name))}`);
}

function endLines(goal: Goal, io: Io): string[] {
  const complete = lines(renderComplete(goal));
  const learnable = suggestLearnable(goal);
  const notes = (goal.end?.notes ?? []).map((note) => `  note: ${cleanLine(note)}`);
  if (goal.end?.status === "cancelled")
    return [`[LOOP] Cancelled: ${cleanLine(goal.end.reason)}`, ...receiptLines(goal)];
  return [
    "",
    ...complete,
    ...lines(renderVerdictBox(goal)).map((line) => paint(io, "bold", line)),
    ...notes,
    ...receiptLines(goal),
    ...(learnable === null ? [] : ["", learnable]),
  ];
}

function receiptLines(goal: Goal): string[] {
  return goal.receipts.length === 0 ? [] : ["", ...lines(renderReceipts(goal, process.stderr.columns ?? 80))];
}

function yellow(text: string | null, io: Io): string[] {
  return lines(text).map((line) => paint(io, "yellow", line));
}

function lines(text: string | null): string[] {
  return text === null ? [] : text.split("\n");
}
