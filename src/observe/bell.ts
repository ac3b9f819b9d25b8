/**
 * Rings when a store has news. Listens from its making on, so that nothing slips through between a read and the wait
 * for the next; a wait ends at once when the bell rang since the last one.
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

  /** `watch`: calls back on news and returns how to end that. The signal rings too. */
  constructor(watch: (callback: () => void) => () => void, clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    this.#unwatch = watch(this.#ring);
    signal.addEventListener("abort", this.#ring);
  }

  /** Until it rings, at most this long. */
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
