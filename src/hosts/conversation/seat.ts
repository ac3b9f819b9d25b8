/**
 * The place of one conversation where turns can go, and what is known of it.
 *
 * Owns: the record of the conversation and the hook that waits for an answer just now.
 * Must not: decide anything about a loop, or start anything.
 *
 * 1. A turn goes out with the answer to a hook, and only with one: to a stop (the conversation goes on with it), or
 *    to a prompt (the person's `/loop …`, or the wake-up of an idle conversation).
 * 2. At most one turn of ours is in the conversation. It ends with the stop of the prompt that it runs under; when
 *    another prompt comes first, the person stopped it.
 * 3. What is in the record outlives this process: the next one of the conversation goes on from it. Others of the
 *    conversation write it too (hooks on their own, the monitor in the server's place): what they wrote counts.
 */
import type { Turn } from "../../ports/agent.ts";
import type { SeatEnd, SessionRecord, Sessions, Span } from "../../ports/sessions.ts";

/** What a hook that waits is answered with. */
export type Offered =
  | { readonly kind: "turn"; readonly text: string }
  /** Nothing comes next just now. */
  | { readonly kind: "nothing" };

interface Waiting {
  readonly promptId: string;
  readonly answer: (offered: Offered) => void;
}

export interface SeatParts {
  readonly sessions: Sessions;
  readonly session: string;
  readonly client: SessionRecord["client"];
  readonly now: () => number;
  /** The cost of the conversation so far, as the client says it. */
  readonly costUsd: () => number | null;
  /** Something changed that an engine or an agent may wait for. */
  readonly onChange: () => void;
}

export class Seat {
  readonly #parts: SeatParts;
  #record: SessionRecord;
  #told: SessionRecord | null = null;
  /** Of the record when it was read last. */
  #stamp: string | null = null;
  #waiting: Waiting | null = null;
  readonly #watchers = new Set<() => void>();

  constructor(parts: SeatParts) {
    this.#parts = parts;
    const { sessions, session, client } = parts;
    const known = sessions.read(session);
    // The same conversation in another process: a turn that was under way there is over.
    const isSame = known !== null && isSameProcess(known.client, client);
    const turn = known?.turn ?? null;
    const cut = turn === null || turn.end !== null ? turn : { ...turn, end: CLIENT_GONE };
    this.#record = isSame
      ? known
      : {
          ...blank(session, client),
          transcript: known?.transcript ?? null,
          turn: cut,
          said: known?.said ?? null,
        };
  }

  get record(): SessionRecord {
    this.#reload();
    return this.#record;
  }

  /** Does a hook wait for what comes next? */
  get isWaiting(): boolean {
    return this.#waiting !== null;
  }

  update(change: Partial<SessionRecord>): void {
    this.#record = { ...this.record, ...change };
    this.#parts.sessions.write(this.#record);
    this.#tell();
  }

  /** Asked now and then by who stays: whoever waits here is told what another process wrote meanwhile. */
  lookAgain(): void {
    if (this.record !== this.#told) this.#tell();
  }

  #tell(): void {
    this.#told = this.#record;
    for (const watcher of [...this.#watchers]) watcher();
    this.#parts.onChange();
  }

  /** Resolves with the next turn that goes to the conversation, or with the word that there is none. */
  offer(promptId: string, signal: AbortSignal): Promise<Offered> {
    this.withdrawOffer();
    return new Promise((resolve) => {
      const answer = (offered: Offered) => {
        if (this.#waiting === waiting) this.#waiting = null;
        signal.removeEventListener("abort", drop);
        resolve(offered);
      };
      const waiting: Waiting = { promptId, answer };
      const drop = () => answer({ kind: "nothing" });
      this.#waiting = waiting;
      if (signal.aborted) return drop();
      signal.addEventListener("abort", drop, { once: true });
      for (const watcher of [...this.#watchers]) watcher();
      this.#parts.onChange();
    });
  }

  withdrawOffer(): void {
    this.#waiting?.answer({ kind: "nothing" });
  }

  /** Puts the turn into the conversation; false: no hook waits for one. */
  deliver(turn: Turn, text: string): boolean {
    const waiting = this.#waiting;
    if (waiting === null) return false;
    const now = this.#parts.now();
    const span = {
      id: turn.id,
      loopId: turn.loopId,
      fromAt: now,
      toAt: null,
      costUsd: this.#parts.costUsd(),
      inputTokens: 0,
      outputTokens: 0,
      answers: 0,
    };
    this.update({
      spans: [...this.record.spans, span].slice(-MOST_SPANS),
      state: "busy",
      promptId: waiting.promptId,
      turn: {
        id: turn.id,
        loopId: turn.loopId,
        token: turn.token,
        deliveredAt: now,
        promptId: waiting.promptId,
        toolCalls: 0,
        end: null,
      },
    });
    waiting.answer({ kind: "turn", text });
    return true;
  }

  /** Ours is over. */
  end(end: SeatEnd): void {
    const { turn } = this.record;
    if (turn === null || turn.end !== null) return;
    const toAt = this.#parts.now();
    const close = (span: Span) => (span.id === turn.id && span.toAt === null ? { ...span, toAt } : span);
    this.update({ turn: { ...turn, end }, spans: this.record.spans.map(close) });
  }

  /** The turn is nobody's any more: its loop was stopped. */
  forget(turnId: string): void {
    if (this.record.turn?.id === turnId) this.update({ turn: null });
  }

  /** What another process of this client's conversation wrote since. */
  #reload(): void {
    const { sessions, session, client } = this.#parts;
    const stamp = sessions.stamp(session);
    if (stamp === this.#stamp) return;
    const there = sessions.read(session);
    this.#stamp = stamp;
    if (there !== null && isSameProcess(there.client, client)) this.#record = there;
  }

  /** Resolves when `look` has an answer; asked again at every change. */
  watch<T>(look: () => T | null, signal: AbortSignal): Promise<T | null> {
    return new Promise((resolve) => {
      const check = () => {
        const found = look();
        if (found === null && !signal.aborted) return;
        this.#watchers.delete(check);
        signal.removeEventListener("abort", check);
        resolve(found);
      };
      this.#watchers.add(check);
      signal.addEventListener("abort", check);
      check();
    });
  }
}

/** Of turns that nobody could price. */
const MOST_SPANS = 20;

const CLIENT_GONE: SeatEnd = { kind: "interrupted", reason: "its conversation was closed while it ran" };

function isSameProcess(a: SessionRecord["client"], b: SessionRecord["client"]): boolean {
  return a.pid === b.pid && a.start === b.start;
}

function blank(session: string, client: SessionRecord["client"]): SessionRecord {
  return {
    version: 1,
    session,
    client,
    transcript: null,
    state: "idle",
    promptId: null,
    isSomeoneWaiting: false,
    taken: 0,
    blocks: 0,
    turn: null,
    spans: [],
    directive: null,
    offset: 0,
    said: null,
  };
}
