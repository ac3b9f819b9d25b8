/** The engine's only source of time. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  now(): number;
  /** Calls back once at or after `at`, never synchronously. A time in the past means soon. */
  wake(at: number, callback: () => void): Timer;
}
