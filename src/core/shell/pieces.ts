/** Splits a command line at its spaces, to find a comparison at its end. */
import { quotedEnd } from "./quoting.ts";

export interface ShellPiece {
  readonly text: string;
  readonly at: number;
  /** Neither quoted nor in brackets. */
  readonly isPlain: boolean;
  /** A `>=` or `<=` that a shell would read as a redirection. */
  readonly strayComparison: string | null;
}

export function shellPieces(text: string): ShellPiece[] {
  const pieces: ShellPiece[] = [];
  for (let at = 0; at < text.length; at++) {
    if (/\s/.test(text[at] ?? "")) continue;
    const piece = pieceAt(text, at);
    pieces.push(piece);
    at += piece.text.length;
  }
  return pieces;
}

function pieceAt(text: string, start: number): ShellPiece {
  let isPlain = true;
  let strayComparison: string | null = null;
  let depth = 0;
  let at = start;
  while (at < text.length && (depth > 0 || !/\s/.test(text[at] ?? ""))) {
    const character = text[at] ?? "";
    const end = quotedEnd(text, at);
    if (end > at || /[()[\]{}]/.test(character)) isPlain = false;
    if (/[([{]/.test(character)) depth++;
    else if (/[)\]}]/.test(character)) depth = Math.max(0, depth - 1);
    else if (depth === 0 && /[<>]/.test(character) && text[at + 1] === "=")
      strayComparison ??= `${character}=`;
    at = Math.max(end, at + 1);
  }
  at = Math.min(at, text.length);
  return { text: text.slice(start, at), at: start, isPlain, strayComparison };
}
