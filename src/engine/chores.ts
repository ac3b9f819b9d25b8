/** What an owner does beside its events: signs of life, and the published files. */
import type { Clock, Lease, Store, Timer } from "../ports.ts";

/** Also how soon after a suspend an owner shows that it is there. */
export const HEARTBEAT_MS = 10_000;
const PUBLISH_AFTER_MS = 100;

export class Chores {
  readonly #store: Store;
  readonly #clock: Clock;
  #heartbeat: Timer | null = null;
  #publishing: Timer | null = null;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  beat(lease: Lease): void {
    this.#heartbeat = this.#clock.wake(this.#clock.now() + HEARTBEAT_MS, () => {
      if (this.#store.lease()?.token !== lease.token) return;
      void this.#store.heartbeat(lease, this.#clock.now());
      this.beat(lease);
    });
  }

  stopBeating(): void {
    this.#heartbeat?.cancel();
  }

  /** Soon, so that many commits in a row are published once. */
  publishSoon(): void {
    this.#publishing ??= this.#clock.wake(this.#clock.now() + PUBLISH_AFTER_MS, () => {
      this.#publishing = null;
      void this.#store.publish();
    });
  }

  stop(): void {
    this.#heartbeat?.cancel();
    this.#publishing?.cancel();
  }
}
