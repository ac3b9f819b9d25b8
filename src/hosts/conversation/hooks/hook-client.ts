/** What is different about a client whose hooks carry the turns of a conversation. Its adapter gives it. */
import type { SessionRecord, Span } from "../../../ports/sessions.ts";
import type { Waking } from "./wake-up.ts";

export interface HookClient {
  /** What a person types to reach us, such as `/loop`. */
  readonly commandName: string;
  /** After so many answers to stops in a row without a call of a tool, the client ends the turn by itself; 0: never. */
  readonly cap: number;
  readonly waking: Waking;
  readonly record: ClientRecord;
}

/** What the client's own record of the conversation tells, beside its hooks. */
export interface ClientRecord {
  /** Has the person typed something that the agent has not seen yet? */
  isSomeoneWaiting(record: SessionRecord): boolean;
  /** Did the person stop the prompt that runs, or ran last? */
  wasEscaped(record: SessionRecord): boolean;
  /** Where the part of a new prompt begins in it. */
  offsetOf(record: SessionRecord, transcript: string | null): number;
  /** What the conversation has cost so far; null: the client does not say. */
  costUsd(): number | null;
  /** The same turns with what they used since this was last asked; that is in the ledger then. */
  countUsage(transcript: string, turns: readonly Span[], now: number): readonly Span[];
}

/** Of a client whose record is not read: only its hooks tell. */
export const NO_RECORD: ClientRecord = {
  isSomeoneWaiting: ({ isSomeoneWaiting }) => isSomeoneWaiting,
  wasEscaped: () => false,
  offsetOf: () => 0,
  costUsd: () => null,
  countUsage: (_transcript, turns) => turns,
};
