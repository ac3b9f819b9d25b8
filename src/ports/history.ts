/**
 * The history of loops: one entry per commit, in the order of the commits. Any process can read it.
 *
 * 1. An entry never changes, and new entries come only at the end.
 * 2. A cursor is an opaque string that names a place between two entries. It stays valid across restarts and across
 *    the store's own housekeeping, until the store drops the entries after it. From then on the answer is `too-old`,
 *    never a silent gap.
 * 3. The history of an ended loop stays readable while the store keeps its entries.
 */
import type { StoryReceipt } from "../core/backlog/backlog.ts";
import type { LoopEvent, Outcome } from "../core/event.ts";
import type { Receipt } from "../core/goal/goal.ts";
import type { Loop, LoopId } from "../core/loop.ts";

export interface HistoryEntry {
  /** The place after this entry: a read from here starts with the next entry. */
  readonly cursor: string;
  readonly at: number;
  readonly loopId: LoopId;
  readonly version: number;
  /** The token of the owner that made the commit; null: a person asked for it. */
  readonly token: number | null;
  readonly event: LoopEvent;
  readonly outcomes: readonly Outcome[];
  /** The loop after this commit. */
  readonly loop: Loop;
}

export interface HistoryQuery {
  /** Default: all loops. */
  readonly loopId?: LoopId;
  /** Entries committed at this time or later. */
  readonly since?: number;
  /** Entries committed before this time. */
  readonly until?: number;
  /** Entries after this cursor. Default: from the oldest entry that the store keeps. */
  readonly after?: string;
  /** The highest number of entries. Default: no limit. */
  readonly limit?: number;
}

export type HistoryPage =
  | {
      readonly kind: "page";
      /** Oldest first. */
      readonly entries: readonly HistoryEntry[];
      /** The cursor for the next read. Entries that the query filtered out are before it too. */
      readonly next: string;
      /** There is no entry after `next` yet. */
      readonly isEnd: boolean;
    }
  /** The store dropped entries after the cursor, or the cursor is invalid. Load the loops again, continue from `end()`. */
  | { readonly kind: "too-old" };

export type LoopReceipt =
  | { readonly kind: "goal"; readonly loopId: LoopId; readonly receipt: Receipt }
  | { readonly kind: "backlog"; readonly loopId: LoopId; readonly receipt: StoryReceipt };

/** The time of a goal's receipt is the start of its turn. The time of a story's receipt is the end of its attempt. */
export type ReceiptQuery = Pick<HistoryQuery, "loopId" | "since" | "until">;

export interface LoopHistory {
  read(query?: HistoryQuery): Promise<HistoryPage>;
  /** The cursor after the newest commit, for a reader that wants only later entries. */
  end(): Promise<string>;
  /** The last state of every loop in the kept history, ended loops included. Oldest first. */
  everyLoop(): Promise<readonly Loop[]>;
  /** The receipts of goals and backlogs, ended ones included, ordered by time. */
  receipts(query?: ReceiptQuery): Promise<readonly LoopReceipt[]>;
}
