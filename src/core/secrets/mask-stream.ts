/**
 * Masks a text that arrives in pieces. The result is that of the whole text, wherever the pieces end.
 *
 * 1. Holds the line that is not complete, and a private key that has not ended; of a very long line, only as much as a
 *    secret can be long.
 * 2. The time grows with the length of the text, also when each piece is one character.
 */
import { labelOf, type Mask, moved, render, type Span } from "./mask.ts";

export interface MaskStream {
  /** The text that is safe now. */
  push(text: string): string;
  /** The rest. The stream can then take another text. */
  end(): string;
}

/** More than any token or key. */
const LONGEST_SECRET = 16 * 1024;

export function createMaskStream(
  mask: Mask,
  replacement: (name: string, length: number) => string = labelOf,
  longestSecret = LONGEST_SECRET,
): MaskStream {
  const margin = Math.max(longestSecret, mask.longest);
  let held = "";
  /** The last character before `held`: a token must not begin in the middle of a word. */
  let before = "";
  /** The length of an open key at the last look. The next look is only after some growth, to keep the time linear. */
  let seen = 0;

  function take(isLast: boolean): string {
    const text = before + held;
    const spans = mask.find(text).filter(({ end }) => end > before.length);
    const cut = isLast ? text.length : Math.max(before.length, safeCut(text, spans, margin));
    const taken = moved(spans, -before.length)
      .filter(({ end }) => end <= cut - before.length)
      .map((span) => ({ ...span, start: Math.max(0, span.start) }));
    const masked = render(text.slice(before.length, cut), taken, replacement);
    if (masked !== "") before = isLast ? "" : text.slice(cut - 1, cut);
    held = text.slice(cut);
    seen = held.includes("\n") ? held.length : 0;
    return masked;
  }

  return {
    push(text) {
      held += text;
      if (!text.includes("\n") && held.length <= 3 * margin) return "";
      return held.length < seen * 1.1 ? "" : take(false);
    },
    end: () => (held === "" ? "" : take(true)),
  };
}

/** How much of the text no later character can change. */
function safeCut(text: string, spans: readonly Span[], margin: number): number {
  const line = text.lastIndexOf("\n") + 1;
  // a very long line is cut where no secret can reach
  let cut = Math.max(line, text.length - margin);
  for (const span of spans.toReversed()) {
    if (span.end < cut && !isOpenKey(text, span, cut)) break;
    if (span.from < cut && text.length - span.from <= 2 * margin) cut = span.from;
    else if (span.from < cut && span.end > cut) cut = span.end;
  }
  return cut;
}

/** A private key that may go on: after it there is at most one more short line. */
function isOpenKey(text: string, { start, end }: Span, cut: number): boolean {
  return (
    cut - end < 300 &&
    text.startsWith("-----BEGIN ", start) &&
    !/-----END [A-Z0-9 ]{1,60}-----$/.test(text.slice(Math.max(start, end - 80), end)) &&
    /^(?:\\+[nrt]|[\s"'|,])*[A-Za-z0-9+/=]{0,76}(?:\\+[nrt]|[\s"'|,])*$/.test(text.slice(end, cut))
  );
}
