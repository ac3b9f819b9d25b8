/** The differences between clients whose hooks carry turns. Each client's adapter implements this. */
import type { SessionRecord, Span } from "../../../ports/sessions.ts";
import type { Waking } from "./wake-up.ts";

export interface HookClient {
  /** The command that a person types, such as `/loop`. */
  readonly commandName: string;
  /** The client ends a turn after this many stop answers in a row without a tool call; 0: never. */
  readonly cap: number;
  readonly waking: Waking;
  readonly record: ClientRecord;
}

/** What the client's own transcript says in addition to its hooks. */
export interface ClientRecord {
  /** Has the person typed something that the agent has not seen yet? */
  isSomeoneWaiting(record: SessionRecord): boolean;
  /** Did the person stop the current or last prompt? */
  wasEscaped(record: SessionRecord): boolean;
  /** The transcript position where a new prompt begins. */
  offsetOf(record: SessionRecord, transcript: string | null): number;
  /** The cost of the conversation so far; null: the client does not report it. */
  costUsd(): number | null;
  /** Adds the usage since the last call to the turns, and writes it to the ledger. */
  countUsage(transcript: string, turns: readonly Span[], now: number): readonly Span[];
}

/** For a client whose transcript is not read. */
export const NO_RECORD: ClientRecord = {
  isSomeoneWaiting: ({ isSomeoneWaiting }) => isSomeoneWaiting,
  wasEscaped: () => false,
  offsetOf: () => 0,
  costUsd: () => null,
  countUsage: (_transcript, turns) => turns,
};
