/**
 * The activity of a turn: its text, its tool calls, the files that it writes. Any process can read the activity while
 * the turn runs and for some time after. The engine decides nothing from it.
 *
 * The folder store reads it from the run folders, where agents write their output. Other stores keep it as rows.
 */
import type { LoopId } from "../core/loop.ts";
import type { AgentEvent } from "./agent.ts";

/** A turn is a fire or a job of a loop. */
export interface TurnName {
  readonly loopId: LoopId;
  readonly turnId: string;
}

export interface ActivityPage {
  /** Oldest first. */
  readonly events: readonly AgentEvent[];
  /** The cursor for the next read: an opaque string, valid in every process while the store keeps the turn. */
  readonly next: string;
  /** The store dropped events between the cursor and the first event of this page, because there were too many. */
  readonly hasGap: boolean;
}

export interface TurnActivity {
  /**
   * The runner of the turn calls this for each event. Must not reject or throw. A store that reads the agent's own
   * output does nothing here.
   */
  append(turn: TurnName, events: readonly AgentEvent[]): void;
  /** `after` is the `next` of an earlier page; without it the page starts at the beginning. null: unknown turn. */
  read(
    turn: TurnName,
    options?: { readonly after?: string; readonly limit?: number },
  ): Promise<ActivityPage | null>;
}
