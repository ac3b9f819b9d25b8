/**
 * Aligned columns, cut to the terminal's width. Widths ignore colour codes and count wide letters twice.
 * Cells contain no colours: control characters are removed first, then the text is coloured.
 */
import { columnsOf, simplify, takeColumns } from "../../core/text/width.ts";
import { type Io, paint, type Style } from "../io.ts";

export interface CellSpan {
  readonly style: Style;
  readonly text: string;
}

/** Parts of a cell are joined with a space. */
export type Cell = string | CellSpan | readonly (string | CellSpan)[];

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with one
const ESCAPE = /(\u001b\[[0-9;]*m)/;
const ESCAPES = new RegExp(ESCAPE, "g");

/** ASCII: the fast path. */
const PLAIN = /^[\x20-\x7e]*$/;

export function renderTable(
  table: readonly (readonly Cell[])[],
  width: number,
  io: Pick<Io, "colour">,
): string {
  const rows = table.map((row) => row.map((cell) => renderCell(cell, io)));
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) =>
    Math.max(...rows.map((row) => seenWidth(row[i] ?? ""))),
  );
  return rows
    .map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : pad(cell, widths[i] ?? 0))).join("  "))
    .map((line) => cut(line.trimEnd(), width))
    .join("\n");
}

export function titles(...texts: readonly string[]): readonly Cell[] {
  return texts.map((text) => ({ style: "dim", text }));
}

export function renderCell(cell: Cell, io: Pick<Io, "colour">): string {
  if (typeof cell === "string") return oneLine(cell);
  if (isSpan(cell)) return paint(io, cell.style, oneLine(cell.text));
  return cell.map((part) => renderCell(part, io)).join(" ");
}

function isSpan(cell: Exclude<Cell, string>): cell is CellSpan {
  return "style" in cell;
}

/** One line without control characters: quoted text must not move the cursor. */
export function oneLine(text: string): string {
  if (PLAIN.test(text) && !text.includes("  ")) return text.trim();
  return simplify(text)
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
}

/** Cuts a long line with an ellipsis. */
export function cut(line: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY || seenWidth(line) <= width) return line;
  let left = width - 1;
  let kept = "";
  for (const part of line.split(ESCAPE)) {
    const isColour = ESCAPE.test(part);
    const fits = isColour ? part : takeColumns(part, left);
    kept += fits;
    if (fits !== part) return `${kept}…${ESCAPE.test(kept) ? "\u001b[0m" : ""}`;
    if (!isColour) left -= columnsOf(part);
  }
  return kept;
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - seenWidth(cell)));
}

export function seenWidth(text: string): number {
  return PLAIN.test(text) ? text.length : columnsOf(text.replaceAll(ESCAPES, ""));
}
