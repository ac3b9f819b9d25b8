/** Makes text from outside harmless for a terminal: no escape sequences, control characters or hidden letters. */

/** Keeps tabs. Every kind of line end becomes a line feed. */
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

/** Most text needs no cleaning. */
const PLAIN = /^[\n\t\x20-\x7e]*$/;

/** Colours, cursor moves and titles. An unclosed one is left for HIDDEN, so that it does not remove the rest. */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-OQ-WYZ\\`-~]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: vertical tab and form feed end lines too
const LINE_END = /\r\n?|[\u000b\u000c\u0085\u2028\u2029]/gu;

/** A joiner between non-Latin letters is part of their spelling (a family, a Persian word). */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Latin is written as its range
  /(?<=[^\u0000-\u024f])[\u200c\u200d](?=[^\u0000-\u024f])|((?![\n\t])[\p{Cc}\p{Cf}\p{Cs}])/gu;
