/** Columns that line up, cut to the terminal's width. Width counts what is seen: colours and wide letters too. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with one
const ESCAPE = /(\u001b\[[0-9;]*m)/;
const WIDE =
  /\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Extended_Pictographic}|[\uff00-\uff60]/u;

/** Letters of one column each and nothing hidden: most of what is shown, and not worth a closer look. */
const PLAIN = /^[\x20-\x7e]*$/;

export function renderTable(rows: readonly (readonly string[])[], width: number): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) =>
    Math.max(...rows.map((row) => seenWidth(row[i] ?? ""))),
  );
  return rows
    .map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : pad(cell, widths[i] ?? 0))).join("  "))
    .map((line) => cut(line.trimEnd(), width))
    .join("\n");
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
