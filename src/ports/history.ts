/**
 * What happened to loops: one entry per commit, in the order of the commits, for any process to read.
 *
 * 1. An entry never changes, and entries are only added at the end.
 * 2. A cursor names a place between two entries. It is an opaque string. It stays valid across restarts of any
 *    process and across the store's own housekeeping, until the entries behind it are dropped. From then on the
 *    answer is `too-old`, and never a silent gap.
 * 3. The history of a loop stays readable after the loop has ended, as long as its entries are kept.
 */
import type { StoryReceipt } from "../core/backlog/backlog.ts";
import type { LoopEvent, Outcome } from "../core/event.ts";
import type { Receipt } from "../core/goal/goal.ts";
import type { Loop, LoopId } from "../core/loop.ts";

export interface HistoryEntry {
  /** The place behind this entry: reading on from here starts with the next one. */
  readonly cursor: string;
  readonly at: number;
  readonly loopId: LoopId;
  readonly version: number;
  /** The token of the owner that committed it; null: a person asked for it. */
  readonly token: number | null;
  readonly event: LoopEvent;
  readonly outcomes: readonly Outcome[];
  /** The loop as this commit left it. */
  readonly loop: Loop;
}

export interface HistoryQuery {
  /** Left out: of all loops. */
  readonly loopId?: LoopId;
  /** Entries that were committed at this time or later. */
  readonly since?: number;
  /** Entries that were committed before this time. */
  readonly until?: number;
  /** Entries behind this place. Left out: from the oldest that is kept. */
  readonly after?: string;
  /** At most so many. Left out: all. */
  readonly limit?: number;
}

export type HistoryPage =
  | {
      readonly kind: "page";
      /** Oldest first. */
      readonly entries: readonly HistoryEntry[];
      /** Where to read on. Entries that the query left out lie before it too. */
      readonly next: string;
      /** Nothing lies behind `next` yet. */
      readonly isEnd: boolean;
    }
  /**
   * Entries behind the cursor were dropped, or the cursor is not of this store. The reader takes in the loops anew and
   * goes on from `end()`.
   */
  | { readonly kind: "too-old" };

export type LoopReceipt =
  | { readonly kind: "goal"; readonly loopId: LoopId; readonly receipt: Receipt }
  | { readonly kind: "backlog"; readonly loopId: LoopId; readonly receipt: StoryReceipt };

/** A receipt of a goal has the time at which its turn started, one of a story the time at which its attempt ended. */
export type ReceiptQuery = Pick<HistoryQuery, "loopId" | "since" | "until">;

export interface LoopHistory {
  read(query?: HistoryQuery): Promise<HistoryPage>;
  /** The place behind everything that was committed so far: for a reader that wants only what comes. */
  end(): Promise<string>;
  /** Every loop that the kept history knows, as it was last; those that ended too. Oldest first. */
  everyLoop(): Promise<readonly Loop[]>;
  /** What turns of goals and backlogs cost and moved, also of those that ended. In the order of their times. */
  receipts(query?: ReceiptQuery): Promise<readonly LoopReceipt[]>;
}
