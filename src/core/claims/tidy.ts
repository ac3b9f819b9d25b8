/** Cleans an agent's text for display on one line and for later prompts. */

/** One line without control characters, at most `max` characters long. */
export function tidyLine(text: string, max: number): string {
  const line = withoutEscapes(text)
    .replace(INVISIBLE, "")
    .replace(/[\s\p{Cc}]+/gu, " ")
    .replace(/\p{Cs}/gu, "\u{fffd}")
    .trim();
  if (line.length <= max) return line;
  // Do not cut a character in half.
  return `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Without colours and other terminal sequences. */
export function withoutEscapes(text: string): string {
  return text.includes(ESCAPE) ? text.replace(SEQUENCE, "") : text;
}

/** Removes spaces and tabs at both ends. */
export function trimSpace(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text[from])) from++;
  while (to > from && isSpace(text[to - 1])) to--;
  return text.slice(from, to);
}

function isSpace(char: string | undefined): boolean {
  return char === " " || char === "\t";
}

const ESCAPE = String.fromCharCode(27);
const SEQUENCE = new RegExp(`${ESCAPE}\\[[0-?]*[ -/]*[@-~]`, "g");
/** Direction marks and zero-width spaces. Joiners stay, because scripts and emoji need them. */
const INVISIBLE = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;
