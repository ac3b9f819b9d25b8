/** Time, as the engine reads it. */

export interface Timer {
  cancel(): void;
}

/** The only source of time. */
export interface Clock {
  now(): number;
  /** Calls back once at or after `at`, never synchronously. A moment that has passed means soon. */
  wake(at: number, callback: () => void): Timer;
}
