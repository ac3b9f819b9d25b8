/** The cost and the results of iterations, as a table for the terminal. */
import type { FoundBy } from "../../base.ts";
import type { Goal, Receipt } from "../../goal/goal.ts";
import { renderDuration } from "../../task/interval.ts";
import { cleanLine } from "../clean.ts";
import { count, renderPricesNote, renderReceiptCost, renderTokens, renderToldCost } from "../figures.ts";
import { columnsOf, cutTo, renderColumns, simplify } from "../width.ts";

const STEP_COLUMNS = 32;
const MOVED_COLUMNS = 40;
/** Step and Moved shrink to this width on a narrow terminal. */
const LEAST_COLUMNS = 10;
const STEP = 1;
const MOVED = 6;

export function renderReceipts(goal: Goal, columns = 80): string {
  if (goal.receipts.length === 0) return "No turn has ended yet.";
  const rows = goal.receipts.map(rowOf);
  const { receipts, spent } = goal;
  const total = [
    "Total",
    count(goal.iteration, "iteration"),
    renderDuration(receipts.reduce((ms, { agentMs, checksMs }) => ms + agentMs + checksMs, 0)),
    spent.tokens === 0 ? "–" : renderTokens(spent.tokens),
    renderToldCost(spent),
    "",
    "",
  ];
  const note = renderPricesNote(goal);
  const notes = [
    ...(spent.unpriced > 0 ? [`${count(spent.unpriced, "turn")}: cost not reported by the agent`] : []),
    ...(note === null ? [] : [note]),
    ...renderFoundBy(receipts),
  ];
  return [renderColumns(fitWords([HEAD, ...rows, total], columns)), ...notes].join("\n");
}

/** How the processes of a turn were found, so that they ended with it. */
export const FOUND_BY: Readonly<Record<FoundBy, string>> = {
  seal: "found by a mark that no process can remove",
  marks: "found by marks in the environment, which a process can remove",
  group: "found by their process group, which a process can leave",
};

/** One line for each way that is weaker than it could be. */
export function renderFoundBy(receipts: readonly Receipt[]): readonly string[] {
  return (Object.keys(FOUND_BY) as FoundBy[]).flatMap((foundBy) => {
    if (foundBy === "seal") return [];
    const turns = receipts.filter((receipt) => receipt.foundBy === foundBy).length;
    return turns === 0 ? [] : [`${count(turns, "turn")}: processes ${FOUND_BY[foundBy]}`];
  });
}

/** Figures are never cut. Step and Moved share the rest of the line. */
function fitWords(rows: readonly (readonly string[])[], columns: number): readonly (readonly string[])[] {
  const widthOf = (at: number) => Math.max(...rows.map((row) => columnsOf(row[at] ?? "")));
  const figures = HEAD.map((_, at) => at).filter((at) => at !== STEP && at !== MOVED);
  const taken = figures.reduce((width, at) => width + widthOf(at), 2 * (HEAD.length - 1));
  const left = Math.max(2 * LEAST_COLUMNS, columns - taken);
  const half = Math.floor(left / 2);
  const step = Math.min(widthOf(STEP), Math.max(half, left - widthOf(MOVED)));
  const fit = (cell: string, at: number) =>
    at === STEP ? cutTo(cell, step) : at === MOVED ? cutTo(cell, left - step) : cell;
  return rows.map((row) => row.map(fit));
}

const HEAD = ["#", "Step", "Time", "Tokens", "Cost", "Files", "Checks moved"];

export function renderReceiptLine(receipt: Receipt): string {
  const [number, step, time, tokens, cost, , moved] = rowOf(receipt);
  const files = count(receipt.filesChanged, "file");
  return `${number} ${step}: ${time}, ${tokens} tokens, ${cost}, ${files} changed, ${moved}`;
}

function rowOf(receipt: Receipt): readonly string[] {
  const { step, agentMs, checksMs, filesChanged, takenBy } = receipt;
  return [
    // the fallback agent that took the turn
    `${numberOf(receipt)}${takenBy === undefined ? "" : ` ${simplify(cleanLine(takenBy))}`}`,
    cutTo(simplify(cleanLine(step ?? "–")), STEP_COLUMNS),
    checksMs === 0 ? renderDuration(agentMs) : `${renderDuration(agentMs)} + ${renderDuration(checksMs)}`,
    tokensOf(receipt),
    renderReceiptCost(receipt),
    `${filesChanged}`,
    cutTo(simplify(movedOf(receipt)), MOVED_COLUMNS),
  ];
}

export function numberOf({ kind, iteration, charged }: Receipt): string {
  if (kind !== "work") return kind;
  return charged ? `${iteration}` : `${iteration} (free)`;
}

export function tokensOf({ inputTokens, outputTokens }: Receipt): string {
  if (inputTokens === null && outputTokens === null) return "–";
  return renderTokens((inputTokens ?? 0) + (outputTokens ?? 0));
}

function movedOf({ moved, failure }: Receipt): string {
  if (failure !== null) return `failed (${failure.class}): ${cleanLine(failure.reason)}`;
  return moved.length === 0 ? "no check moved" : cleanLine(moved.join(", "));
}
