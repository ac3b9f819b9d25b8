/** The running fires and jobs of an engine, started by it or found after a takeover. */
import type { LoopEvent } from "../core/event.ts";
import type { LoopId } from "../core/loop.ts";
import { ABANDONED, type TurnEnd, type TurnFate } from "../ports/agent.ts";

/** Ids of fires and jobs never collide: both start with the id of their loop, and a loop has one kind. */
export type WorkId = string;

interface WorkNote {
  readonly loopId: LoopId;
  readonly workId: WorkId;
  readonly event: LoopEvent;
}

export interface WorkStarted extends WorkNote {
  /** Called when the start is on record. */
  readonly noted: () => void;
}

export interface WorkEnded extends WorkNote {
  /** The agent's answer, for observers. */
  readonly answer: string | null;
}

interface WorkNews {
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

  /** One turn at a time (A5). Only a backlog runs several, all of them its own. */
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

  /** Asks what happened to a turn of another process. Follows a turn that runs or has ended to its end. */
  async reconcile(
    id: WorkId,
    ask: () => Promise<TurnFate>,
    follow: (end: Promise<TurnEnd>) => void,
  ): Promise<TurnFate> {
    try {
      const fate = await ask();
      if (fate.kind === "running" || fate.kind === "ended") follow(Promise.resolve(fate.end));
      else this.settle(id);
      return fate;
    } catch (error) {
      // the fate is unknown, so it must be asked again: a turn that stays listed here would never end
      this.settle(id);
      throw error;
    }
  }

  /** `finish` turns the result into an event. `stopped` is the reason if this process stopped the work. */
  follow<T>(
    id: WorkId,
    work: Promise<T>,
    finish: (result: T, stopped: string | null) => Omit<WorkEnded, "loopId" | "workId">,
    fail: (error: unknown, stopped: string | null) => LoopEvent,
  ): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    // abandoned work belongs to another owner
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

  /** Leaves all work to another owner. */
  abandonAll(): void {
    const all = [...this.#running.values()];
    this.#running.clear();
    for (const { abort } of all) abort.abort(ABANDONED);
  }

  settle(id: WorkId): void {
    this.#running.delete(id);
  }
}
