/** What every kind of loop uses. See `loop.ts` for units in names. */

export type LoopId = string & { readonly brand: "LoopId" };

/** Input that cannot be used, and why in one sentence. */
export interface Invalid {
  readonly kind: "invalid";
  readonly message: string;
}

export function invalid(message: string): Invalid {
  return { kind: "invalid", message };
}

/**
 * How the processes of a turn are found. `sealed`: by a mark that no process can remove. `marked`: by marks in the
 * environment. `group`: by the process group.
 */
export type FoundBy = "seal" | "marks" | "group";

export interface ProcessRef {
  readonly pid: number;
  /** Start time from the system. It tells two processes with the same pid apart. */
  readonly start: string | null;
  /** How everything that it starts is found; left out: unknown. */
  readonly foundBy?: FoundBy;
}

export function foundByOf(started: ProcessRef | null): { readonly foundBy?: FoundBy } {
  return started?.foundBy === undefined ? {} : { foundBy: started.foundBy };
}

/** Programs decide by the kind of a notice. Title and body are only for people. */
export type NoticeKind =
  /** The new state of a goal or a backlog. */
  | "asks"
  | "paused"
  | "done"
  | "ended"
  /** A quota or an outage stops the loop for some time. */
  | "waits"
  | "near-limit"
  /** A one-shot task did not run when it was due. */
  | "missed"
  /** Slots of a task failed or did not run `--alert-after` times in a row. */
  | "failing"
  /** A story needs a person; the backlog continues with the others. */
  | "blocked"
  /** A runner ends. */
  | "stopped";

/** Whether the notice repeats the state that a surface already shows. */
export function tellsStand(kind: NoticeKind): boolean {
  return kind === "asks" || kind === "paused" || kind === "done" || kind === "ended";
}

export interface Notice {
  readonly kind: NoticeKind;
  readonly title: string;
  readonly body: string;
}

/** The cost of a turn, if the agent reports it. */
export interface Usage {
  readonly costUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Left out: the agent reported the cost. `prices`: a part comes from a price table. */
  readonly costFrom?: "prices";
  /** The date of the price table. */
  readonly pricesDate?: string;
  /** As the agent names the model; left out: unknown. */
  readonly model?: string;
  /** The parts of `inputTokens` that have a separate cache price. */
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
}
