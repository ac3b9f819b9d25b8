/** What an owner does beside its events: signs of life, and the published files. */
import type { Clock, Timer } from "../ports/clock.ts";
import type { Lease, Store } from "../ports/store.ts";

/** Looks come at least every 30 s, so that each of them is a sign of life when little happens. */
const HEARTBEAT_MS = 20_000;
const PUBLISH_AFTER_MS = 100;

export class Chores {
  readonly #store: Store;
  readonly #clock: Clock;
  #beatAt = 0;
  #publishing: Timer | null = null;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  beatWhenDue(lease: Lease): void {
    const now = this.#clock.now();
    if (now >= this.#beatAt && now - this.#beatAt < HEARTBEAT_MS) return;
    this.#beatAt = now;
    void this.#store.heartbeat(lease, now);
  }

  /** Soon, so that many commits in a row are published once. */
  publishSoon(): void {
    this.#publishing ??= this.#clock.wake(this.#clock.now() + PUBLISH_AFTER_MS, () => {
      this.#publishing = null;
      void this.#store.published?.publish();
    });
  }

  stop(): void {
    this.#publishing?.cancel();
  }
}
