/**
 * Text from outside (a spec, what a command printed, a name, a reason), made harmless for a terminal: no escape
 * sequence, no control character, no letter that hides or that changes the direction of reading.
 */

/** Keeps lines and tabs; everything that ends a line anywhere becomes a line feed. */
export function cleanText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replaceAll(SEQUENCE, "")
    .replaceAll(LINE_END, "\n")
    .replaceAll(HIDDEN, (found, hidden?: string) => (hidden === undefined ? found : "�"));
}

/** One line with single spaces, for names and reasons. */
export function cleanLine(text: string): string {
  return cleanText(text).replaceAll(/\s+/gu, " ").trim();
}

/** Nothing to clean: most of what is shown. */
const PLAIN = /^[\n\t\x20-\x7e]*$/;

/** Colours, cursor moves and titles. One that is not closed is left for HIDDEN: it must not swallow the rest. */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what has to go
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-OQ-WYZ\\`-~]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: vertical tab and form feed end lines too
const LINE_END = /\r\n?|[\u000b\u000c\u0085\u2028\u2029]/gu;

/** A joiner between letters that are not Latin is part of how they are written (a family, a Persian word). */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Latin is written as its range
  /(?<=[^\u0000-\u024f])[\u200c\u200d](?=[^\u0000-\u024f])|((?![\n\t])[\p{Cc}\p{Cf}\p{Cs}])/gu;
