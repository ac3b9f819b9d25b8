/** A command line taken apart at its spaces as a shell does: no further than it takes to tell a comparison from a word. */

export interface ShellPart {
  readonly text: string;
  /** Where it starts. */
  readonly at: number;
  /** Neither quoted nor inside of brackets. */
  readonly isPlain: boolean;
  /** `>=` or `<=` in it that a shell would read as a redirection. */
  readonly strayComparison: string | null;
}

export function shellParts(text: string): ShellPart[] {
  const parts: ShellPart[] = [];
  let at = -1;
  let isPlain = true;
  let stray: string | null = null;
  let quote: string | null = null;
  let depth = 0;
  const end = (to: number): void => {
    if (at >= 0) parts.push({ text: text.slice(at, to), at, isPlain, strayComparison: stray });
    at = -1;
    isPlain = true;
    stray = null;
  };
  for (let i = 0; i < text.length; i++) {
    const letter = text[i] ?? "";
    if (quote === null && depth === 0 && /\s/.test(letter)) {
      end(i);
      continue;
    }
    if (at < 0) at = i;
    if (letter === "\\" && quote !== "'") {
      isPlain = false;
      i++;
    } else if (quote !== null) {
      if (letter === quote) quote = null;
    } else if (letter === "'" || letter === '"' || letter === "`") {
      quote = letter;
      isPlain = false;
    } else if (OPENING.has(letter)) {
      depth++;
      isPlain = false;
    } else if (CLOSING.has(letter)) {
      depth = Math.max(0, depth - 1);
      isPlain = false;
    } else if (depth === 0 && (letter === ">" || letter === "<") && text[i + 1] === "=") {
      stray ??= `${letter}=`;
    }
  }
  end(text.length);
  return parts;
}

const OPENING: ReadonlySet<string> = new Set(["(", "{", "["]);
const CLOSING: ReadonlySet<string> = new Set([")", "}", "]"]);
