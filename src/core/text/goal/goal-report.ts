/**
 * Receipt and evidence of a goal as Markdown, for `loop report` and summary.md. Text from outside is in a fence or a
 * code span, so that it cannot become markup, a link or a mention.
 */
import { isWeak, renderBareCheck, renderFinding } from "../../checks/kinds.ts";
import type { Criterion, Evidence, Goal, Receipt } from "../../goal/goal.ts";
import { isMet, pendingChanges } from "../../goal/proof.ts";
import { renderDuration } from "../../task/interval.ts";
import { cleanText } from "../clean.ts";
import {
  count,
  renderBudget,
  renderMoment,
  renderPricesNote,
  renderReceiptCost,
  renderTokens,
  renderToldCost,
} from "../figures.ts";
import { codeSpan, fence, joinParts, lastPart } from "../quote.ts";
import { evidenceOf, stepCounts, verifiedBy } from "./goal-facts.ts";
import { numberOf, renderFoundBy, tokensOf } from "./receipt.ts";
import { renderVerdictBox, risksOf } from "./verdict-box.ts";

const TAIL_LINES = 60;
const TAIL_LETTERS = 8_000;

/** `output: false` leaves out the output of checks and judges. */
export function renderReportMarkdown(goal: Goal, { output = true } = {}): string {
  const parts = [
    `# Loop ${goal.id}`,
    fence(cleanText(goal.spec)),
    `## How it ${goal.end === null ? "stands" : "ended"}\n\n${renderStand(goal)}`,
    `## Verdict\n\n${fence(renderVerdictBox(goal))}`,
    section("Risks", bullets(risksOf(goal))),
    section("Criteria", renderCriteria(goal)),
    ...goal.criteria.map((criterion) => renderTail(goal, criterion, output)),
    section("Steps", renderSteps(goal)),
    section("Receipts", renderReceiptTable(goal)),
    section("Accepted changes of protected files", bullets(acceptedOf(goal))),
    section("Changes of protected files that nobody accepted yet", bullets(pendingOf(goal))),
    section("Notes", bullets(notesOf(goal))),
  ];
  return `${joinParts(parts)}\n`;
}

function section(title: string, body: string): string {
  return body === "" ? "" : `## ${title}\n\n${body}`;
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${codeSpan(line)}`).join("\n");
}

function renderStand({ status, end, pause, gate, waitUntil, waitReason, id }: Goal): string {
  if (end !== null) return `**${end.status}**, ${renderMoment(end.at)}: ${codeSpan(end.reason)}`;
  if (pause !== null)
    return `**paused** (${pause.code}) since ${renderMoment(pause.at)}: ${codeSpan(pause.reason)}\n\nGo on with ${codeSpan(pause.goOn)}`;
  if (gate !== null)
    return `**waits for a person** (${gate.kind}) since ${renderMoment(gate.askedAt)}: ${codeSpan(gate.question)}\n\nAnswer with ${codeSpan(`loop approve ${id}`)} or ${codeSpan(`loop reject ${id} "why"`)}`;
  if (waitUntil !== null)
    return `**waits** until ${renderMoment(waitUntil)}: ${codeSpan(waitReason ?? "the agent cannot be reached")}`;
  return `**${status}**`;
}

function renderCriteria(goal: Goal): string {
  if (goal.criteria.length === 0) return "";
  const rows = goal.criteria.map((criterion) => {
    const { name, check } = criterion;
    const evidence = evidenceOf(goal, name);
    const verification = verifiedBy(goal, criterion);
    return [
      cell(name),
      cell(renderBareCheck(check)),
      `${verification}${isWeak(verification) ? " (weaker)" : ""}`,
      isMet(goal, name) ? "✓" : "✗",
      `${renderFinding(criterion, evidence)}${evidence === null ? "" : originOf(evidence)}`,
    ];
  });
  return table(["Criterion", "Check", "Verified by", "Met", "Evidence"], rows);
}

function originOf({ at, durationMs, tree }: Evidence): string {
  return `, ${renderMoment(at)}, took ${renderDuration(durationMs)}, tree ${cell(tree.slice(0, 10))}`;
}

function renderTail(goal: Goal, { name }: Criterion, output: boolean): string {
  const evidence = evidenceOf(goal, name);
  if (evidence === null || !output) return "";
  const note = evidence.note === null ? [] : [`Note: ${codeSpan(evidence.note)}`];
  const tail = evidence.tail.trim() === "" ? [] : [fence(lastPart(evidence.tail, TAIL_LINES, TAIL_LETTERS))];
  const body = [...note, ...tail];
  return body.length === 0 ? "" : [`### ${codeSpan(name)}`, ...body].join("\n\n");
}

function renderSteps(goal: Goal): string {
  if (goal.steps.length === 0) return "";
  const { done, total } = stepCounts(goal);
  const lines = goal.steps.map(({ name, status }) => {
    const mark = status === "done" ? "[x]" : "[ ]";
    return `- ${mark} ${codeSpan(name)}${status === "replaced" ? " (replaced)" : ""}`;
  });
  return [`${done} of ${total} done`, "", ...lines].join("\n");
}

function renderReceiptTable(goal: Goal): string {
  if (goal.receipts.length === 0) return "";
  const { spent, limits } = goal;
  const untold =
    spent.unpriced === 0 ? "" : ` (${count(spent.unpriced, "turn")}: cost not reported by the agent)`;
  const note = renderPricesNote(goal);
  const notes = [...(note === null ? [] : [note]), ...renderFoundBy(goal.receipts)];
  const head = ["#", "Step", "Agent", "Checks", "Tokens", "Cost", "Files", "Moved", "Checkpoint"];
  return `${table(head, goal.receipts.map(receiptRow))}

Total: ${count(goal.iteration, "iteration")} of ${limits.iterations}, ${renderToldCost(spent)} of ${renderBudget(limits.budgetUsd)}${untold}, ${renderTokens(spent.tokens)} tokens, ${renderDuration(spent.timeMs)}.${notes.map((each) => `\n\n${each}.`).join("")}`;
}

function receiptRow(receipt: Receipt): readonly string[] {
  const { failure, takenBy, moved, checkpoint } = receipt;
  const what = failure === null ? moved.join(", ") : `failed (${failure.class}): ${failure.reason}`;
  return [
    `${numberOf(receipt)}${takenBy === undefined ? "" : ` ${cell(takenBy)}`}`,
    receipt.step === null ? "–" : cell(receipt.step),
    renderDuration(receipt.agentMs),
    renderDuration(receipt.checksMs),
    tokensOf(receipt),
    renderReceiptCost(receipt),
    `${receipt.filesChanged}`,
    what === "" ? "–" : cell(what),
    checkpoint === null ? "–" : cell(String(checkpoint)),
  ];
}

function acceptedOf({ accepted }: Goal): readonly string[] {
  return accepted.map(({ path, hash }) => `${path} ${hash === null ? "(deleted)" : hash.slice(0, 10)}`);
}

function pendingOf(goal: Goal): readonly string[] {
  return pendingChanges(goal, goal.protectedChanges).map(
    ({ path, change, criteria }) => `${path} (${change}; ${criteria.join(", ")})`,
  );
}

function notesOf({ end, receipts, pause }: Goal): readonly string[] {
  const ofTurns = receipts.flatMap(({ iteration, notes }) =>
    notes.map((note) => `iteration ${iteration}: ${note}`),
  );
  return [...(end?.notes ?? []), ...(pause?.evidence ?? []), ...ofTurns];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A bar ends a cell even inside a code span. A backslash before the bar would undo the escape. */
function cell(text: string): string {
  return codeSpan(text).replaceAll("\\|", "\\ |").replaceAll("|", "\\|");
}
