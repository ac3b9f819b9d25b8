/**
 * Records of live conversations. The processes of a conversation (its server, its monitor, its hooks) share its record,
 * and any process can see whether the conversation is over. Only the processes of the conversation write the record,
 * always as a whole.
 *
 * Loops and leases name a conversation as `session:<id>` (`core/session.ts`). Here that name is called the owner.
 */
import type { ProcessRef, Usage } from "../core/base.ts";
import type { Failure } from "../core/goal/goal.ts";

/** For clients that report it at once. */
interface Used {
  readonly usage?: Usage;
  readonly edits?: Readonly<Record<string, number>>;
}

/** How a turn in a conversation ended. */
export type SeatEnd =
  | ({ readonly kind: "ok"; readonly answer: string; readonly toolCalls: number } & Used)
  | ({ readonly kind: "failed"; readonly answer: string; readonly failure: Failure } & Used)
  /** The person stopped the turn, or the conversation is over. */
  | { readonly kind: "interrupted"; readonly reason: string };

/** The loop's turn that runs in the conversation. */
export interface SeatTurn {
  /** The id of the fire or the job. */
  readonly id: string;
  readonly loopId: string;
  readonly token: number;
  readonly deliveredAt: number;
  /** The client's id of the prompt. */
  readonly promptId: string;
  readonly toolCalls: number;
  readonly end: SeatEnd | null;
}

/** The time span of a turn. It is kept until its usage is known: the client writes the usage a little later. */
export interface Span {
  readonly id: string;
  readonly loopId: string;
  readonly fromAt: number;
  /** null: the turn still runs. */
  readonly toAt: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly answers: number;
  /** The cost of the conversation before the turn, as the client reports it; null: not reported. */
  readonly costUsd: number | null;
}

export interface SessionRecord {
  readonly version: 1;
  readonly session: string;
  readonly client: ProcessRef;
  readonly transcript: string | null;
  readonly state: "busy" | "idle" | "over";
  /** The current or the last prompt. */
  readonly promptId: string | null;
  /** The person typed something that the agent has not seen yet. */
  readonly isSomeoneWaiting: boolean;
  /** How many queued prompts since `offset` have had their turn, recorded by the client or not. */
  readonly taken: number;
  /** How many times in a row a stop was answered with more work, without a tool call in between. */
  readonly blocks: number;
  readonly turn: SeatTurn | null;
  readonly spans: readonly Span[];
  /** A text before the next turn of a goal, after a test failed (D10). */
  readonly directive: string | null;
  /** The length of the transcript when the prompt arrived. */
  readonly offset: number;
  /** The last message to the person, so that it is not repeated. */
  readonly said: string | null;
}

/** Reads are synchronous, because hooks need them in the middle of an answer. A remote store answers as of `catchUp`. */
export interface Sessions {
  /** null: the record is missing or unreadable. */
  read(session: string): SessionRecord | null;
  /** All readable records. */
  list(): readonly SessionRecord[];
  /** Changes with every write of any process; null: there is no record. Cheap enough to call before every read. */
  stamp(session: string): string | null;
  /** This process sees the record at once; other processes see it after `flush` at the latest. */
  write(record: SessionRecord): void;
  /** Resolves when other processes can see every written record. */
  flush(): Promise<void>;
  /** Is the conversation of this owner over? A conversation without a record is over. */
  isOver(owner: string): boolean;
  /** The owner of the conversation that has, or last had, this fire or job; null: none. */
  deliveredTo(turnId: string): string | null;
  /** Removes the records of conversations that ended long ago. */
  prune(now: number): void;
}
