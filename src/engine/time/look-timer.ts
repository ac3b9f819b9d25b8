/**
 * The one timer of an engine. It is never longer than 30 s, so that the engine notices a suspend or a changed clock. In a
 * passive process it is short, because that process often checks whether the owner is alive.
 */
import type { Clock, Timer } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";

export const MAX_TIMER_MS = 30_000;
/** How often a passive process checks whether the owner's process exists. */
const PROBE_MS = 400;
/** How often it checks that this process is not frozen, and not another one with the same pid. */
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

  /** Looks when the owner is gone or at `dueAt`. The watch of the store reports the owner's writes. */
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
