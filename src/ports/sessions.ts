/**
 * What is known of live conversations: for the processes that belong to one (its server, its monitor, its hooks), and
 * for everybody who wants to know whether it is over. Only the processes of a conversation write its record, and they
 * write it whole.
 *
 * Loops and leases name a conversation as `session:<id>` (`core/session.ts`); that name is called its owner here.
 */
import type { ProcessRef, Usage } from "../core/base.ts";
import type { Failure } from "../core/goal/goal.ts";

/** Of clients that tell it at once. */
interface Used {
  readonly usage?: Usage;
  readonly edits?: Readonly<Record<string, number>>;
}

/** How a turn in a conversation ended. */
export type SeatEnd =
  | ({ readonly kind: "ok"; readonly answer: string; readonly toolCalls: number } & Used)
  | ({ readonly kind: "failed"; readonly answer: string; readonly failure: Failure } & Used)
  /** The person stopped it, or the conversation is over. */
  | { readonly kind: "interrupted"; readonly reason: string };

/** The turn of ours that the conversation has. */
export interface SeatTurn {
  /** The fire or the job, and its loop. */
  readonly id: string;
  readonly loopId: string;
  readonly token: number;
  readonly deliveredAt: number;
  /** The client's name for the prompt that it runs under. */
  readonly promptId: string;
  readonly toolCalls: number;
  readonly end: SeatEnd | null;
}

/** The time of a turn of ours, until what it used is known: the client writes that down some moments later. */
export interface Span {
  readonly id: string;
  readonly loopId: string;
  readonly fromAt: number;
  /** null: it is under way. */
  readonly toAt: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly answers: number;
  /** What the client said that the conversation had cost before it; null: it does not say. */
  readonly costUsd: number | null;
}

export interface SessionRecord {
  readonly version: 1;
  readonly session: string;
  readonly client: ProcessRef;
  readonly transcript: string | null;
  readonly state: "busy" | "idle" | "over";
  /** The prompt that runs, or ran last. */
  readonly promptId: string | null;
  /** The person typed something that the agent has not seen yet. */
  readonly isSomeoneWaiting: boolean;
  /** Of what was queued since `offset`, how much has had its turn, whether or not the client has written that down. */
  readonly taken: number;
  /** Times in a row that a stop was answered with more work, without a call of a tool in between. */
  readonly blocks: number;
  readonly turn: SeatTurn | null;
  readonly spans: readonly Span[];
  /** Stands before the next turn of a goal: a test failed on the way (D10). */
  readonly directive: string | null;
  /** How long the transcript was when the prompt came. */
  readonly offset: number;
  /** What the person was told last, so that it is said once. */
  readonly said: string | null;
}

/** Reads are synchronous: hooks ask in the middle of an answer. A store on another machine answers as of `catchUp`. */
export interface Sessions {
  /** null: nothing is known of it, or its record cannot be read. */
  read(session: string): SessionRecord | null;
  /** All that can be read. */
  list(): readonly SessionRecord[];
  /** Changes with every write, whoever wrote; null: there is no record. Cheap enough to ask before every read. */
  stamp(session: string): string | null;
  /** This process reads it back at once; others see it at the latest after `flush`. */
  write(record: SessionRecord): void;
  /** Resolves when everything that was written is where other processes see it. */
  flush(): Promise<void>;
  /** Is the conversation over that a loop is bound to? One of which nothing is known is over. */
  isOver(owner: string): boolean;
  /** The owner of the conversation that has, or had last, this fire or job; null: none. */
  deliveredTo(turnId: string): string | null;
  /** Removes the records of conversations that were over long ago. */
  prune(now: number): void;
}
