/** Answers queries of the history for the folder store and the memory store. */
import type { Loop, LoopId } from "../../core/loop.ts";
import type {
  HistoryEntry,
  HistoryPage,
  HistoryQuery,
  LoopReceipt,
  ReceiptQuery,
} from "../../ports/history.ts";
import type { Entry, LoopEntry } from "./entry.ts";

/** `end` is the place after the last entry. Stops reading when the page is full. */
export function pageOf(all: Iterable<HistoryEntry>, query: HistoryQuery, end: () => string): HistoryPage {
  const entries: HistoryEntry[] = [];
  let next: string | undefined;
  for (const entry of all) {
    if (!isWanted(entry, query)) continue;
    if (entries.length >= (query.limit ?? Number.POSITIVE_INFINITY))
      return { kind: "page", entries, next: next ?? query.after ?? "", isEnd: false };
    entries.push(entry);
    next = entry.cursor;
  }
  return { kind: "page", entries, next: end(), isEnd: true };
}

export function entryOf(line: LoopEntry, cursor: string): HistoryEntry {
  const { at, id: loopId, ver: version, token, event, outcomes, loop } = line;
  return { cursor, at, loopId, version, token, event, outcomes, loop };
}

/** The last state of every loop in these lines. */
export function loopsIn(lines: Iterable<Entry>): readonly Loop[] {
  const loops = new Map<LoopId, Loop>();
  for (const line of lines) {
    if (line.type === "loop") loops.set(line.id, line.loop);
    if (line.type === "snapshot") for (const loop of line.loops) loops.set(loop.id, loop);
  }
  return [...loops.values()];
}

export function receiptsOf(loops: readonly Loop[], query: ReceiptQuery): readonly LoopReceipt[] {
  return loops
    .flatMap((loop) => (query.loopId === undefined || query.loopId === loop.id ? receiptsIn(loop) : []))
    .filter((receipt) => isWithin(timeOf(receipt), query))
    .sort((one, other) => timeOf(one) - timeOf(other));
}

function timeOf({ kind, receipt }: LoopReceipt): number {
  return kind === "goal" ? receipt.startedAt : receipt.at;
}

function receiptsIn(loop: Loop): readonly LoopReceipt[] {
  const { id: loopId } = loop;
  switch (loop.kind) {
    case "goal":
      return loop.receipts.map((receipt) => ({ kind: "goal", loopId, receipt }));
    case "backlog":
      return loop.receipts.map((receipt) => ({ kind: "backlog", loopId, receipt }));
    default:
      return [];
  }
}

function isWanted({ loopId, at }: HistoryEntry, query: HistoryQuery): boolean {
  return (query.loopId === undefined || query.loopId === loopId) && isWithin(at, query);
}

function isWithin(at: number, { since, until }: ReceiptQuery): boolean {
  return at >= (since ?? Number.NEGATIVE_INFINITY) && at < (until ?? Number.POSITIVE_INFINITY);
}
