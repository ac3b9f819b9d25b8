/** What an engine has under way: fires and jobs, started by it or found running after a takeover. */
import type { LoopEvent } from "../core/event.ts";
import type { LoopId } from "../core/loop.ts";
import { ABANDONED } from "../ports/agent.ts";

/** Ids of fires and jobs never meet: both begin with the id of their loop, and a loop is of one kind. */
export type WorkId = string;

interface WorkNote {
  readonly loopId: LoopId;
  readonly workId: WorkId;
  readonly event: LoopEvent;
}

export interface WorkStarted extends WorkNote {
  /** Called once it is on record. */
  readonly noted: () => void;
}

export interface WorkEnded extends WorkNote {
  /** What the agent said, for those who watch. */
  readonly answer: string | null;
}

export interface WorkNews {
  started(started: WorkStarted): void;
  ended(ended: WorkEnded): void;
}

interface Running {
  readonly loopId: LoopId;
  readonly abort: AbortController;
  stopped: string | null;
}

export class Underway {
  readonly #running = new Map<WorkId, Running>();
  readonly #news: WorkNews;

  constructor(news: WorkNews) {
    this.#news = news;
  }

  get size(): number {
    return this.#running.size;
  }

  /** One thing at a time (A5); only a backlog does several, all of them its own. */
  isRoomFor(loopId: LoopId | null): boolean {
    if (this.#running.size === 0) return true;
    return [...this.#running.values()].every((running) => running.loopId === loopId);
  }

  has(id: WorkId): boolean {
    return this.#running.has(id);
  }

  loops(): Iterable<[WorkId, LoopId]> {
    return [...this.#running].map(([id, { loopId }]) => [id, loopId]);
  }

  open(loopId: LoopId, id: WorkId): AbortSignal {
    const abort = new AbortController();
    this.#running.set(id, { loopId, abort, stopped: null });
    return abort.signal;
  }

  started(id: WorkId, event: LoopEvent, noted: () => void = () => {}): void {
    const running = this.#running.get(id);
    if (running !== undefined) this.#news.started({ loopId: running.loopId, workId: id, event, noted });
  }

  /** `finish` turns the result into an event; it is told why the work was stopped, when we stopped it. */
  follow<T>(
    id: WorkId,
    work: Promise<T>,
    finish: (result: T, stopped: string | null) => Omit<WorkEnded, "loopId" | "workId">,
    fail: (error: unknown, stopped: string | null) => LoopEvent,
  ): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    // Abandoned since: its result belongs to another owner now.
    const isOurs = () => this.#running.get(id) === running;
    void work
      .then((result) => finish(result, running.stopped))
      .catch((error: unknown) => ({ event: fail(error, running.stopped), answer: null }))
      .then((ended) => {
        if (isOurs()) this.#news.ended({ loopId: running.loopId, workId: id, ...ended });
      });
  }

  stop(id: WorkId, reason: string): void {
    const running = this.#running.get(id);
    if (running === undefined || running.stopped !== null) return;
    running.stopped = reason;
    running.abort.abort();
  }

  /** Their results belong to another owner now. */
  abandonAll(): void {
    const all = [...this.#running.values()];
    this.#running.clear();
    for (const { abort } of all) abort.abort(ABANDONED);
  }

  settle(id: WorkId): void {
    this.#running.delete(id);
  }
}
