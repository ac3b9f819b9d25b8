/**
 * Renders a unified diff of two texts, by Myers' O(ND) algorithm. If the texts differ too much, the whole text is shown
 * as replaced.
 */
const CONTEXT = 3;
const MAX_DISTANCE = 2_000;

interface Edit {
  readonly kind: " " | "-" | "+";
  readonly line: string;
}

/** Empty for equal texts. At most `maxLines` lines; the last line says how many are not shown. */
export function renderDiff(path: string, before: string, after: string, maxLines = 200): string {
  const lines = renderHunks(diffLines(splitLines(before), splitLines(after)));
  if (lines.length === 0) return "";
  const head = [`--- ${path}`, `+++ ${path}`];
  const shown = lines.length + head.length > maxLines ? lines.slice(0, maxLines - head.length - 1) : lines;
  const left = lines.length - shown.length;
  return `${[...head, ...shown, ...(left > 0 ? [`… ${left} more lines`] : [])].join("\n")}\n`;
}

/** The mark for a missing final newline is part of the last line, so the line differs from one with a newline. */
function splitLines(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

function diffLines(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const keep = (line: string): Edit => ({ kind: " ", line });
  const [old, now] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  return [
    ...before.slice(0, start).map(keep),
    ...(shortestEdit(old, now) ?? replaceAll(old, now)),
    ...before.slice(before.length - end).map(keep),
  ];
}

function replaceAll(before: readonly string[], after: readonly string[]): Edit[] {
  return [
    ...before.map((line): Edit => ({ kind: "-", line })),
    ...after.map((line): Edit => ({ kind: "+", line })),
  ];
}

/** null: the texts differ too much. */
function shortestEdit(before: readonly string[], after: readonly string[]): Edit[] | null {
  const limit = Math.min(before.length + after.length, MAX_DISTANCE);
  const reach = new Int32Array(2 * limit + 3);
  const trace: Int32Array[] = [];
  const middle = limit + 1;
  for (let distance = 0; distance <= limit; distance++) {
    trace.push(reach.slice(middle - distance - 1, middle + distance + 2));
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      const down = reach[middle + diagonal + 1] ?? 0;
      const right = (reach[middle + diagonal - 1] ?? 0) + 1;
      const isDown = diagonal === -distance || (diagonal !== distance && right <= down);
      let x = isDown ? down : right;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++;
      reach[middle + diagonal] = x;
      if (x >= before.length && x - diagonal >= after.length) return backtrack(before, after, trace);
    }
  }
  return null;
}

/** `trace[d]` holds the furthest points before step d, from diagonal -d-1 on. */
function backtrack(
  before: readonly string[],
  after: readonly string[],
  trace: readonly Int32Array[],
): Edit[] {
  const edits: Edit[] = [];
  let x = before.length;
  let y = after.length;
  for (let distance = trace.length - 1; distance >= 0; distance--) {
    const reach = trace[distance] ?? new Int32Array();
    const at = (diagonal: number): number => reach[diagonal + distance + 1] ?? 0;
    const diagonal = x - y;
    const isDown =
      diagonal === -distance || (diagonal !== distance && at(diagonal - 1) + 1 <= at(diagonal + 1));
    const fromX = distance === 0 ? 0 : isDown ? at(diagonal + 1) : at(diagonal - 1) + 1;
    const fromY = fromX - diagonal;
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      edits.push({ kind: " ", line: before[--x] ?? "" });
      y--;
    }
    if (distance === 0) break;
    if (isDown) edits.push({ kind: "+", line: after[--y] ?? "" });
    else edits.push({ kind: "-", line: before[--x] ?? "" });
  }
  return edits.reverse();
}

function renderHunks(edits: readonly Edit[]): string[] {
  const lines: string[] = [];
  const numbers = { "-": 1, "+": 1 };
  for (let at = 0; at < edits.length; ) {
    const first = edits.findIndex((edit, index) => index >= at && edit.kind !== " ");
    if (first === -1) break;
    const from = Math.max(at, first - CONTEXT);
    advance(numbers, edits.slice(at, from));
    const to = endOfHunk(edits, first);
    const hunk = edits.slice(from, to);
    const count = (other: Edit["kind"]): number => hunk.filter((edit) => edit.kind !== other).length;
    lines.push(`@@ -${range(numbers["-"], count("+"))} +${range(numbers["+"], count("-"))} @@`);
    lines.push(...hunk.map((edit) => edit.kind + edit.line));
    advance(numbers, hunk);
    at = to;
  }
  return lines;
}

/** An empty range stands after a line, so it has the number of the line before it. */
function range(start: number, count: number): string {
  return `${count === 0 ? start - 1 : start},${count}`;
}

function endOfHunk(edits: readonly Edit[], first: number): number {
  let last = first;
  for (let at = first; at < edits.length && at - last <= 2 * CONTEXT; at++) {
    if (edits[at]?.kind !== " ") last = at;
  }
  return Math.min(edits.length, last + CONTEXT + 1);
}

function advance(numbers: { "-": number; "+": number }, edits: readonly Edit[]): void {
  for (const edit of edits) {
    if (edit.kind !== "+") numbers["-"]++;
    if (edit.kind !== "-") numbers["+"]++;
  }
}
