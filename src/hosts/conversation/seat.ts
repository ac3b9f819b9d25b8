/**
 * The seat of one conversation: it receives turns and keeps the conversation's record.
 *
 * Owns: the record, and the hook that waits for an answer. Must not decide about a loop or start anything.
 *
 * 1. A turn is sent only as the answer to a hook: to a stop (the conversation continues with it), or to a prompt (the
 *    person's `/loop …`, or a wake-up).
 * 2. The conversation has at most one loop turn. It ends at the stop of its prompt. If another prompt comes first, the
 *    person stopped the turn.
 * 3. The record survives this process. Other processes of the conversation (single hooks, the monitor) write it too,
 *    and their changes count.
 */
import { maskAll } from "../../core/secrets/mask.ts";
import type { Turn } from "../../ports/agent.ts";
import type { SeatEnd, SeatTurn, SessionRecord, Sessions, Span } from "../../ports/sessions.ts";
import { currentMask } from "../../system/secrets.ts";

/** A hook that waits for an answer: the text of a turn; null: no turn comes now. */
interface Waiting {
  readonly promptId: string;
  readonly answer: (text: string | null) => void;
}

interface SeatParts {
  readonly sessions: Sessions;
  readonly session: string;
  readonly client: SessionRecord["client"];
  readonly now: () => number;
  /** The cost of the conversation so far, as the client reports it. */
  readonly costUsd: () => number | null;
  /** Called when an engine or agent may have something to do. */
  readonly onChange: () => void;
}

export class Seat {
  readonly #parts: SeatParts;
  #record: SessionRecord;
  #told: SessionRecord | null = null;
  /** The version of the record at the last read. */
  #stamp: string | null = null;
  #waiting: Waiting | null = null;
  readonly #watchers = new Set<() => void>();

  constructor(parts: SeatParts) {
    this.#parts = parts;
    const { sessions, session, client } = parts;
    const known = sessions.read(session);
    // The conversation moved to another client process: the turn of the old process has ended.
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

  /** The loop's turn that runs in the conversation; null: none. */
  get running(): SeatTurn | null {
    const { turn } = this.record;
    return turn?.end === null ? turn : null;
  }

  /** Does a hook wait for a turn? */
  get isWaiting(): boolean {
    return this.#waiting !== null;
  }

  update(change: Partial<SessionRecord>): void {
    this.#record = { ...this.record, ...change };
    this.#parts.sessions.write(this.#record);
    this.#tell();
  }

  /** Called regularly by resident processes: reports changes that another process wrote. */
  lookAgain(): void {
    if (this.record !== this.#told) this.#tell();
  }

  #tell(): void {
    this.#told = this.#record;
    for (const watcher of [...this.#watchers]) watcher();
    this.#parts.onChange();
  }

  /** Resolves with the text of the next turn; null: no turn comes now. */
  offer(promptId: string, signal: AbortSignal): Promise<string | null> {
    this.withdrawOffer();
    return new Promise((resolve) => {
      const answer = (text: string | null) => {
        if (this.#waiting === waiting) this.#waiting = null;
        signal.removeEventListener("abort", drop);
        resolve(text);
      };
      const waiting: Waiting = { promptId, answer };
      const drop = () => answer(null);
      this.#waiting = waiting;
      if (signal.aborted) return drop();
      signal.addEventListener("abort", drop, { once: true });
      this.#tell();
    });
  }

  withdrawOffer(): void {
    this.#waiting?.answer(null);
  }

  /** Puts the turn into the conversation; false: no hook waits for one. */
  deliver({ id, loopId, token }: Turn, text: string): boolean {
    const waiting = this.#waiting;
    if (waiting === null) return false;
    const now = this.#parts.now();
    const { promptId } = waiting;
    const span = {
      id,
      loopId,
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
      promptId,
      turn: { id, loopId, token, deliveredAt: now, promptId, toolCalls: 0, end: null },
    });
    waiting.answer(text);
    return true;
  }

  /** Ends the loop's turn. */
  end(end: SeatEnd): void {
    const turn = this.running;
    if (turn === null) return;
    const toAt = this.#parts.now();
    const close = (span: Span) => (span.id === turn.id && span.toAt === null ? { ...span, toAt } : span);
    this.update({ turn: { ...turn, end: maskAll(currentMask(), end) }, spans: this.record.spans.map(close) });
  }

  /** Drops a turn whose loop was stopped. */
  forget(turnId: string): void {
    if (this.record.turn?.id === turnId) this.update({ turn: null });
  }

  /** Reads what another process of this conversation wrote. */
  #reload(): void {
    const { sessions, session, client } = this.#parts;
    const stamp = sessions.stamp(session);
    if (stamp === this.#stamp) return;
    const there = sessions.read(session);
    this.#stamp = stamp;
    if (there !== null && isSameProcess(there.client, client)) this.#record = there;
  }

  /** Resolves when `look` returns a value. Calls it at every change. */
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

/** The limit of turns that wait for a price. */
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
