/** How many columns of a terminal a clean text takes. Tests compare it with the package string-width. */

export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const letter of text) columns += columnsOfLetter(letter);
  return columns;
}

/** Cuts what is too long, with an ellipsis. */
export function cutTo(text: string, columns: number): string {
  return columnsOf(text) <= columns ? text : `${takeColumns(text, columns - 1)}…`;
}

/** The longest start of the text that fits. */
export function takeColumns(text: string, columns: number): string {
  let kept = "";
  let seen = 0;
  for (const letter of text) {
    seen += columnsOfLetter(letter);
    if (seen > columns) break;
    kept += letter;
  }
  return kept;
}

/** Cuts or pads the text to exactly this many columns. */
export function fitTo(text: string, columns: number): string {
  const kept = cutTo(text, columns);
  return kept + " ".repeat(Math.max(0, columns - columnsOf(kept)));
}

/** A table with two spaces between the columns. */
export function renderColumns(rows: readonly (readonly string[])[]): string {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, i) =>
    Math.max(...rows.map((row) => columnsOf(row[i] ?? ""))),
  );
  const line = (row: readonly string[]) => row.map((cell, i) => fitTo(cell, widths[i] ?? 0)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}

/** Removes letters of unclear width: joiners, variation selectors, skin tones and key caps. */
export function simplify(text: string): string {
  return text.replaceAll(/\u200c|\u200d|\u20e3|[\ufe00-\ufe0f]|[\u{1f3fb}-\u{1f3ff}]/gu, "");
}

const PLAIN = /^[\x20-\x7e]*$/;

/** Combining marks, vowels and finals of Korean syllables, and fillers take no column. */
const NARROWEST = /[\p{Mn}\p{Me}\p{Cf}\u115f-\u11ff\u3164\ud7b0-\ud7ff\uffa0]/u;

/** Wide letters and emoji. The two halves of a flag take one column each. */
const WIDE =
  /[\u1100-\u115e\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3247\u3250-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation}/u;

function columnsOfLetter(letter: string): number {
  if (letter <= "\u007e") return 1;
  if (NARROWEST.test(letter)) return 0;
  return WIDE.test(letter) ? 2 : 1;
}
