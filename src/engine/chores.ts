/** The periodic work of an owner: heartbeats and published files. */
import type { Clock, Timer } from "../ports/clock.ts";
import type { Lease, Store } from "../ports/store.ts";

/** The engine looks at least every 30 s, so each look of an idle engine sends a heartbeat. */
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

  /** Waits a moment, so that many commits in a row are published once. */
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
