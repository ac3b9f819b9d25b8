/** What every kind of loop is made of. See `loop.ts` for the units in names. */

export type LoopId = string & { readonly brand: "LoopId" };

export interface ProcessRef {
  readonly pid: number;
  /** Start time as the system reports it; tells a process from a later one that got the same pid. */
  readonly start: string | null;
}

/** What a notice is about. Surfaces decide by it; title and body are only for people. */
export type NoticeKind =
  /** How a goal or a backlog stands now. */
  | "asks"
  | "paused"
  | "done"
  | "ended"
  /** A quota or an outage holds it up. */
  | "waits"
  | "near-limit"
  /** A one-shot task was not run when it was due. */
  | "missed"
  /** Slots of a task failed or did not run, as often as `--alert-after` says. */
  | "failing"
  /** A story needs a person; the backlog goes on with the others. */
  | "blocked"
  /** A runner ends for a reason of its own. */
  | "stopped";

/** For surfaces that show anyway how a goal or a backlog stands. */
export function tellsStand(kind: NoticeKind): boolean {
  return kind === "asks" || kind === "paused" || kind === "done" || kind === "ended";
}

export interface Notice {
  readonly kind: NoticeKind;
  readonly title: string;
  readonly body: string;
}

/** What a turn cost, where the agent tells. */
export interface Usage {
  readonly costUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Left out: the cost is the agent's own figure. `prices`: some of it is tokens times a price table. */
  readonly costFrom?: "prices";
  /** The day of that table. */
  readonly pricesDate?: string;
  /** As the agent names it; left out: it does not tell. */
  readonly model?: string;
  /** What of `inputTokens` was read from a cache or written to one, which has a price of its own. */
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
}
