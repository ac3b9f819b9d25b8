/** What one line of Markdown can be, without the lines around it. */
import { trimSpace, withoutEscapes } from "./tidy.ts";

export interface LineShape {
  readonly isBlank: boolean;
  readonly isQuote: boolean;
  /** The next lines, up to a blank line, may belong to the same quote, table or inline code. */
  readonly clings: boolean;
  readonly fence: Fence | null;
  readonly tags: readonly TagToken[];
}

export interface Fence {
  readonly char: string;
  readonly length: number;
  readonly column: number;
  /** The fence follows the bullet or number of a list item. */
  readonly inItem: boolean;
  readonly canClose: boolean;
}

export type TagToken =
  | { readonly kind: "comment" }
  | { readonly kind: "comment-end" }
  | { readonly kind: "open"; readonly name: string; readonly isFirst: boolean }
  | { readonly kind: "close"; readonly name: string };

const PLAIN: LineShape = { isBlank: false, isQuote: false, clings: false, fence: null, tags: [] };
const BLANK: LineShape = { ...PLAIN, isBlank: true };

/** Terminal colours are ignored. */
export function shapeOf(coloured: string): LineShape {
  const line = withoutEscapes(coloured);
  if (isBlank(line)) return BLANK;
  if (!/[`~<>|]/.test(line)) return PLAIN;
  const fence = fenceOf(line);
  if (fence !== null) return { ...PLAIN, clings: true, fence };
  const isQuote = line.includes(">") && QUOTE.test(line);
  const code = readInlineCode(line);
  return { ...PLAIN, isQuote, clings: isQuote || isTableRow(line) || code.isOpen, tags: tagsOf(code.rest) };
}

/** Only spaces and tabs. Other white space is invisible, so it does not count as blank. */
export function isBlank(text: string): boolean {
  return trimSpace(text) === "";
}

const ITEM = String.raw`[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*`;
const QUOTE = new RegExp(`^${ITEM}>`);
const FENCE = new RegExp(`^(${ITEM})(\`{3,}|~{3,})(.*)$`, "s");

function fenceOf(line: string): Fence | null {
  if (!line.includes("```") && !line.includes("~~~")) return null;
  const [, indent = "", run = "", rest = ""] = FENCE.exec(line) ?? [];
  const char = run[0];
  // A second run of ticks makes it inline code.
  if (char === undefined || (char === "`" && rest.includes("`"))) return null;
  const inItem = !isBlank(indent);
  return {
    char,
    length: run.length,
    // A tab counts as four spaces.
    column: indent.includes("\t") ? Math.max(indent.length, 4) : indent.length,
    inItem,
    canClose: !inItem && isBlank(rest),
  };
}

function isTableRow(line: string): boolean {
  return /^[ \t]*\|/.test(line) || (line.includes("|") && /^[ \t|:-]+$/.test(line));
}

/** The line without its inline code. Unclosed or escaped code may continue below. */
function readInlineCode(line: string): { readonly isOpen: boolean; readonly rest: string } {
  if (!line.includes("`")) return { isOpen: false, rest: line };
  if (line.includes("\\`")) return { isOpen: true, rest: line };
  const outside: string[] = [];
  let opened = 0;
  let from = 0;
  for (let at = line.indexOf("`"); at !== -1; at = line.indexOf("`", from)) {
    let end = at;
    while (line[end] === "`") end++;
    if (opened === 0) {
      outside.push(line.slice(from, at));
      opened = end - at;
    } else if (opened === end - at) {
      opened = 0;
    }
    from = end;
  }
  if (opened > 0) return { isOpen: true, rest: line };
  return { isOpen: false, rest: [...outside, line.slice(from)].join("`") };
}

const TAG = /<!--|-->|<(\/?)([A-Za-z][\w:.-]*)(\s[^<>]*|\/)?>/g;

function tagsOf(line: string): readonly TagToken[] {
  if (!line.includes("<") && !line.includes("-->")) return PLAIN.tags;
  const tags: TagToken[] = [];
  for (const { 0: text, 1: slash, 2: written = "", 3: attributes = "", index } of line.matchAll(TAG)) {
    const name = written.toLowerCase();
    if (text === "<!--") tags.push({ kind: "comment" });
    else if (text === "-->") tags.push({ kind: "comment-end" });
    else if (slash === "/") tags.push({ kind: "close", name });
    else if (!attributes.endsWith("/")) {
      tags.push({ kind: "open", name, isFirst: tags.length === 0 && isBlank(line.slice(0, index)) });
    }
  }
  return tags;
}
