/** What every kind of loop is made of. See `loop.ts` for the units in names. */

export type LoopId = string & { readonly brand: "LoopId" };

export interface ProcessRef {
  readonly pid: number;
  /** Start time as the system reports it; tells a process from a later one that got the same pid. */
  readonly start: string | null;
}

export interface Notice {
  readonly title: string;
  readonly body: string;
}

/** What a turn cost, where the agent tells. */
export interface Usage {
  readonly costUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}
