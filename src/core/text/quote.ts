/**
 * Quotes text from outside. The text cannot end its quotation, and an echo of it is no claim: every line has a mark,
 * and the nonce of the turn is removed (invariant 8).
 */
import { cleanLine, cleanText } from "./clean.ts";

/** Starts each line with the quotation mark of Markdown, which the parser of claims knows. */
export function quote(text: string, nonce: string | null): string {
  return withoutNonce(cleanText(text), nonce)
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

/** The same inside a fence, for the output of commands. */
export function quoteFenced(text: string, nonce: string | null): string {
  return fence(quote(text, nonce));
}

/** A name or a reason inside a line. */
export function inLine(text: string, nonce: string | null): string {
  return withoutNonce(cleanLine(text), nonce);
}

/** A code span that its content cannot end. */
export function codeSpan(text: string): string {
  const line = cleanText(text).replaceAll(/[\n\t]+/g, " ");
  const ticks = "`".repeat(longestRun(line) + 1);
  const space = line === "" || line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${ticks}${space}${line}${space}${ticks}`;
}

/** A fence that its content cannot end. */
export function fence(text: string): string {
  const ticks = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${ticks}text\n${text}\n${ticks}`;
}

/** The end of a text. A first line counts the lines that are left out. */
export function lastPart(text: string, maxLines: number, maxLetters: number): string {
  const lines = cleanText(text).replace(/\n+$/, "").split("\n");
  const kept: string[] = [];
  let letters = 0;
  for (const line of lines.toReversed()) {
    if (kept.length === maxLines) break;
    const room = maxLetters - letters - 1;
    if (line.length > room) {
      if (kept.length === 0) kept.push(`…${endOf(line, room)}`);
      break;
    }
    kept.push(line);
    letters += line.length + 1;
  }
  const left = lines.length - kept.length;
  const head = left > 0 ? [`[${left} ${left === 1 ? "line" : "lines"} before this left out]`] : [];
  return [...head, ...kept.toReversed()].join("\n");
}

/** Paragraphs; empty ones are left out. */
export function joinParts(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}

export function withoutNonce(text: string, nonce: string | null): string {
  return nonce === null || nonce === "" ? text : text.replaceAll(nonce, "[nonce]");
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}

/** Never starts with half a letter. */
function endOf(line: string, letters: number): string {
  const end = line.slice(-Math.max(1, letters));
  return /^[\udc00-\udfff]/.test(end) ? end.slice(1) : end;
}
