/**
 * Columns that line up, cut to the terminal's width. Width counts what is seen: colours and wide letters too.
 * Cells come without colours: whatever they quote is made harmless here, and painted after that.
 */
import { type Io, paint, type Style } from "../io.ts";

export interface Span {
  readonly style: Style;
  readonly text: string;
}

/** The parts of a cell stand side by side with a space between them. */
export type Cell = string | Span | readonly (string | Span)[];

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with one
const ESCAPE = /(\u001b\[[0-9;]*m)/;
const WIDE =
  /\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Extended_Pictographic}|[\uff00-\uff60]/u;

/** Letters of one column each and nothing hidden: most of what is shown, and not worth a closer look. */
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

export function renderCell(cell: Cell, io: Pick<Io, "colour">): string {
  if (typeof cell === "string") return oneLine(cell);
  if (isSpan(cell)) return paint(io, cell.style, oneLine(cell.text));
  return cell.map((part) => renderCell(part, io)).join(" ");
}

function isSpan(cell: Exclude<Cell, string>): cell is Span {
  return "style" in cell;
}

/** One line, control characters shown as spaces: what a repository or an agent wrote must not move the cursor. */
export function oneLine(text: string): string {
  if (PLAIN.test(text) && !text.includes("  ")) return text.trim();
  return text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
}

/** Like `oneLine` for a text that keeps its lines. */
export function printable(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(/(?![\n\t])[\p{Cc}]/gu, " ");
}

/** Cuts a line that is too long, with an ellipsis. */
export function cut(line: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY || seenWidth(line) <= width) return line;
  let seen = 0;
  let kept = "";
  for (const part of line.split(ESCAPE)) {
    if (ESCAPE.test(part)) {
      kept += part;
      continue;
    }
    for (const letter of part) {
      seen += letterWidth(letter);
      if (seen > width - 1) return `${kept}…${ESCAPE.test(kept) ? "\u001b[0m" : ""}`;
      kept += letter;
    }
  }
  return kept;
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - seenWidth(cell)));
}

export function seenWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const part of text.split(ESCAPE)) {
    if (!ESCAPE.test(part)) for (const letter of part) width += letterWidth(letter);
  }
  return width;
}

function letterWidth(letter: string): number {
  return letter > "\u2e7f" && WIDE.test(letter) ? 2 : 1;
}
