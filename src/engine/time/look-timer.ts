/**
 * The one timer of an engine. Never longer than 30 s, so that a suspended machine or a changed clock is noticed;
 * short for a passive process, which asks for the owner often, and for nothing else.
 */
import type { Clock, Timer } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";

export const MAX_TIMER_MS = 30_000;
/** How often a passive process asks whether the owner's process still exists. */
const PROBE_MS = 400;
/** How often it asks whether that process is the owner, and not frozen or another one with the same pid. */
const FULL_PROBE_MS = 2_000;

export class LookTimer {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #look: () => void;
  #timer: Timer | null = null;

  constructor(store: Store, clock: Clock, look: () => void) {
    this.#store = store;
    this.#clock = clock;
    this.#look = look;
  }

  lookBy(at: number): void {
    this.cancel();
    this.#timer = this.#clock.wake(Math.min(at, this.#clock.now() + MAX_TIMER_MS), this.#look);
  }

  /**
   * Looks when the owner is gone, and when something is due that only this process may do. What the owner writes
   * comes through the watch.
   */
  lookWhenOrphaned(dueAt: number | null = null): void {
    const now = this.#clock.now();
    this.#probe(now, now, dueAt);
  }

  #probe(lookedAt: number, askedAt: number, dueAt: number | null): void {
    this.cancel();
    this.#timer = this.#clock.wake(this.#clock.now() + PROBE_MS, () => {
      const now = this.#clock.now();
      const holder = this.#store.lease();
      const isDue = dueAt !== null && now >= dueAt;
      const isQuiet = now >= lookedAt && now - lookedAt < MAX_TIMER_MS - PROBE_MS && !isDue;
      if (!isQuiet || holder === null || this.#store.isHolderGone(holder)) return this.#look();
      const isFull = now - askedAt >= FULL_PROBE_MS;
      if (isFull && this.#store.holderState(holder, now) !== "alive") return this.#look();
      this.#probe(lookedAt, isFull ? now : askedAt, dueAt);
    });
  }

  cancel(): void {
    this.#timer?.cancel();
  }
}
