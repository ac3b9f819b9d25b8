/** A clock that only a test moves. Its timers use a monotonic time; `jump` moves only the wall clock. */
import type { Clock, Timer } from "../../ports/clock.ts";

interface FakeTimer {
  readonly dueAt: number;
  readonly callback: () => void;
}

export class FakeClock implements Clock {
  readonly #timers = new Set<FakeTimer>();
  #monotonic = 0;
  #offset: number;

  constructor(startAt: number) {
    this.#offset = startAt;
  }

  now(): number {
    return this.#offset + this.#monotonic;
  }

  wake(at: number, callback: () => void): Timer {
    const timer: FakeTimer = { dueAt: this.#monotonic + Math.max(0, at - this.now()), callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Moves the wall clock but not the timers, as a suspend or a person who sets the time does. */
  jump(ms: number): void {
    this.#offset += ms;
  }

  /** Lets time pass: timers fire in order, and pending promises run after each timer. */
  async advance(ms: number): Promise<void> {
    const until = this.#monotonic + ms;
    await new Promise((resolve) => setImmediate(resolve));
    for (;;) {
      const timer = this.#next();
      if (timer === null || timer.dueAt > until) break;
      this.#monotonic = Math.max(this.#monotonic, timer.dueAt);
      this.#timers.delete(timer);
      timer.callback();
      await settled();
    }
    this.#monotonic = until;
  }

  async advanceTo(at: number): Promise<void> {
    await this.advance(Math.max(0, at - this.now()));
  }

  /** The time until the last timer fires. */
  longestTimerMs(): number {
    return Math.max(0, ...[...this.#timers].map(({ dueAt }) => dueAt - this.#monotonic));
  }

  get timerCount(): number {
    return this.#timers.size;
  }

  /** Of timers that are due at the same time, the first one that was set: a set keeps their order. */
  #next(): FakeTimer | null {
    let next: FakeTimer | null = null;
    for (const timer of this.#timers) if (next === null || timer.dueAt < next.dueAt) next = timer;
    return next;
  }
}

/** Resolves after all pending promises: Node drains them before the next tick. */
export function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
