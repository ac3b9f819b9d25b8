/**
 * What a turn is doing now: its text, its tool calls, the files that it writes. Any process can read it while the turn
 * runs and for some time after it. Nothing is decided on it.
 *
 * The folder has it in the run folders, where agents write what they send. A store without files keeps it as rows.
 */
import type { LoopId } from "../core/loop.ts";
import type { AgentEvent } from "./agent.ts";

/** Fires and jobs of a loop are its turns. */
export interface TurnName {
  readonly loopId: LoopId;
  readonly turnId: string;
}

export interface ActivityPage {
  /** Oldest first. */
  readonly events: readonly AgentEvent[];
  /** Where to read on: an opaque string, valid in every process while the turn is kept. */
  readonly next: string;
  /** Events between the cursor and the first of these were dropped: there were too many. */
  readonly hasGap: boolean;
}

export interface TurnActivity {
  /**
   * Called by who runs the turn, as events come. Must not reject or throw. A store that has the events anyway, because
   * the agent writes them where the store reads, does nothing.
   */
  append(turn: TurnName, events: readonly AgentEvent[]): void;
  /** `after` is a `next` of before; left out: from the start. null: nothing is known of this turn. */
  read(
    turn: TurnName,
    options?: { readonly after?: string; readonly limit?: number },
  ): Promise<ActivityPage | null>;
}
