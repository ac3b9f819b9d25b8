/**
 * Which lines of a message the agent says in its own voice. Code, quotes, comments and what stands inside tags (tool
 * output, `<details>`) is shown, not said.
 *
 * Markdown can be read in more than one way: is an indented fence a fence, does one inside a tag open? Every way is
 * tried, and a line counts only if all of them leave it outside. What is left open hides all that follows. Each way
 * is one pass, and no pattern here looks at a character more than a few times: five megabytes take a moment.
 */
import { type Fence, type LineShape, shapeOf, type TagToken } from "./line-shape.ts";

export interface OwnLines {
  readonly lines: readonly string[];
  /** Not in code, a quote, a comment or a tag. */
  isOwn(index: number): boolean;
  /** The same, and it does not continue a paragraph that starts as a quote, a table or inline code. */
  startsOwn(index: number): boolean;
  /** Own at least up to the tag or comment that it opens. */
  opensOwn(index: number): boolean;
}

/** Code, a quote, or inside a tag or comment from its first character. */
const SHOWN = 1;
/** A tag or comment starts on it and goes on below. */
const OPENING = 2;
const CLINGING = 4;

export function readOwnLines(message: string): OwnLines {
  const lines = splitLines(message);
  const shapes = lines.map(shapeOf);
  const closedAt = lastClosings(shapes);
  const marks = new Uint8Array(lines.length);
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

/** As Markdown has it: no other character ends a line. */
export function splitLines(text: string): string[] {
  return (text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text).split("\n");
}

/** One way to read the message. */
interface Reading {
  /** Does a fence count at any indentation? */
  readonly looseFences: boolean;
  readonly withTags: boolean;
}

/** An open comment (`name` is null) or tag, and how often it was opened inside itself. */
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

/** Name of a tag → the last line on which it is closed. */
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

/** Tags of tools and of shown text, wherever they stand, even if nothing closes them. */
const FOREIGN =
  /^(?:[\w.-]+:)?(?:details|pre|code|blockquote|stdout|stderr|output|(?:tool|function|system|command|local-command|bash)[-_][\w-]+)$/;

/** Any other must start its line and be closed: `<Button>` in a sentence opens nothing. */
function holds(tag: TagToken & { kind: "open" }, index: number, closedAt: Closings): boolean {
  return FOREIGN.test(tag.name) || (tag.isFirst && (closedAt.get(tag.name) ?? -1) >= index);
}
