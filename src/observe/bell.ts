/**
 * Rings when a store has news. It listens from the constructor on, so it misses nothing between a read and the next
 * wait. A wait ends at once when the bell rang since the last wait.
 */
import type { Clock } from "../ports/clock.ts";

export class Bell {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #unwatch: () => void;
  readonly #ring = (): void => {
    this.#hasRung = true;
    this.#wake();
  };
  #hasRung = false;
  #wake: () => void = () => {};

  /** `watch` calls back on news and returns a function that ends the watch. The signal rings too. */
  constructor(watch: (callback: () => void) => () => void, clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    this.#unwatch = watch(this.#ring);
    signal.addEventListener("abort", this.#ring);
  }

  /** Waits until the bell rings, at most this long. */
  async wait(atMostMs: number): Promise<void> {
    if (!this.#hasRung && !this.#signal.aborted) {
      const rung = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const timer = this.#clock.wake(this.#clock.now() + atMostMs, this.#wake);
      await rung;
      timer.cancel();
    }
    this.#hasRung = false;
  }

  close(): void {
    this.#unwatch();
    this.#signal.removeEventListener("abort", this.#ring);
  }
}
