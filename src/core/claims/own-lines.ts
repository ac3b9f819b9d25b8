/**
 * Finds the lines of a message that are the agent's own words. Code, quotes, comments and text inside tags (tool output,
 * `<details>`) are only shown.
 *
 * Markdown is ambiguous: is an indented fence a fence, does a fence inside a tag open? All readings are tried, and a line
 * counts only if it is outside in all of them. One reading is CommonMark itself (code-lines.ts). An unclosed region hides
 * everything after it. Each reading is one linear pass.
 */
import { codeLines } from "./code-lines.ts";
import { type Fence, type LineShape, shapeOf, type TagToken } from "./line-shape.ts";

export interface OwnLines {
  readonly lines: readonly string[];
  /** The line is not in code, a quote, a comment or a tag. */
  isOwn(index: number): boolean;
  /** Also, the line does not continue a quote, a table or inline code. */
  startsOwn(index: number): boolean;
  /** The line is own text at least up to the tag or comment that it opens. */
  opensOwn(index: number): boolean;
}

/** The line is in code, a quote, a tag or a comment. */
const SHOWN = 1; // as in `codeLines`
/** A tag or comment starts on the line and continues below. */
const OPENING = 2;
const CLINGING = 4;

export function readOwnLines(message: string): OwnLines {
  const lines = splitLines(message);
  const shapes = lines.map(shapeOf);
  const closedAt = lastClosings(shapes);
  const marks = /`|~~~|\t| {4}/.test(message) ? codeLines(lines) : new Uint8Array(lines.length);
  for (const looseFences of [false, true]) {
    for (const withTags of [false, true]) mark(shapes, marks, closedAt, { looseFences, withTags });
  }
  return {
    lines,
    isOwn: (index) => ((marks[index] ?? SHOWN) & (SHOWN | OPENING)) === 0,
    startsOwn: (index) => marks[index] === 0,
    opensOwn: (index) => ((marks[index] ?? SHOWN) & SHOWN) === 0,
  };
}

/** As in Markdown, only CR and LF end a line. */
export function splitLines(text: string): string[] {
  return (text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text).split("\n");
}

interface Reading {
  /** A fence counts at any indentation. */
  readonly looseFences: boolean;
  readonly withTags: boolean;
}

/** An open comment (`name` is null) or tag, with its nesting depth. */
interface Region {
  readonly name: string | null;
  readonly depth: number;
}

function mark(shapes: readonly LineShape[], marks: Uint8Array, closedAt: Closings, reading: Reading): void {
  let fence: Fence | null = null;
  let region: Region | null = null;
  let clinging = false;
  const add = (index: number, bit: number) => {
    marks[index] = (marks[index] ?? 0) | bit;
  };
  shapes.forEach((shape, index) => {
    if (fence !== null) {
      add(index, SHOWN);
      if (closes(shape.fence, fence, reading)) fence = null;
      return;
    }
    if (region === null && shape.fence !== null && opens(shape.fence, reading)) {
      add(index, SHOWN);
      fence = shape.fence;
      clinging = false;
      return;
    }
    const before: Region | null = region;
    if (reading.withTags) region = afterTags(region, shape.tags, index, closedAt);
    if (before !== null || shape.isQuote) add(index, SHOWN);
    if (region !== null) add(index, OPENING);
    if (shape.isBlank) clinging = false;
    else if (shape.clings) clinging = true;
    if (clinging) add(index, CLINGING);
  });
}

function opens(fence: Fence, { looseFences }: Reading): boolean {
  return looseFences || fence.inItem || fence.column <= 3;
}

function closes(line: Fence | null, open: Fence, { looseFences }: Reading): boolean {
  if (line === null || !line.canClose || line.char !== open.char || line.length < open.length) return false;
  return looseFences || line.column <= open.column + 3;
}

/** Tag name → the last line that closes it. */
type Closings = ReadonlyMap<string, number>;

function lastClosings(shapes: readonly LineShape[]): Closings {
  const closings = new Map<string, number>();
  shapes.forEach(({ tags }, index) => {
    for (const tag of tags) if (tag.kind === "close") closings.set(tag.name, index);
  });
  return closings;
}

function afterTags(
  start: Region | null,
  tags: readonly TagToken[],
  index: number,
  closedAt: Closings,
): Region | null {
  let region = start;
  for (const tag of tags) {
    if (region === null) {
      if (tag.kind === "comment") region = { name: null, depth: 1 };
      else if (tag.kind === "open" && holds(tag, index, closedAt)) region = { name: tag.name, depth: 1 };
    } else if (region.name === null) {
      if (tag.kind === "comment-end") region = null;
    } else if ("name" in tag && tag.name === region.name) {
      const depth: number = region.depth + (tag.kind === "open" ? 1 : -1);
      region = depth === 0 ? null : { name: region.name, depth };
    }
  }
  return region;
}

/** Tags of tools and of shown text. They count anywhere, even unclosed. */
const FOREIGN =
  /^(?:[\w.-]+:)?(?:details|pre|code|blockquote|stdout|stderr|output|(?:tool|function|system|command|local-command|bash)[-_][\w-]+)$/;

/** Any other tag must start its line and be closed: `<Button>` in a sentence opens nothing. */
function holds(tag: TagToken & { kind: "open" }, index: number, closedAt: Closings): boolean {
  return FOREIGN.test(tag.name) || (tag.isFirst && (closedAt.get(tag.name) ?? -1) >= index);
}
