/** The time since which this process could act without a gap. A suspend or a changed clock starts it again. */
import { ASLEEP_AFTER_MS } from "../lease/leadership.ts";

export class Awake {
  #since = 0;
  #lastLookAt = 0;

  get since(): number {
    return this.#since;
  }

  /** No process could act before this time. */
  start(now: number): void {
    this.#since = now;
    this.#lastLookAt = now;
  }

  /** true: the clock was set back since the last look. */
  look(now: number): boolean {
    const wentBack = now < this.#lastLookAt;
    if (now - this.#lastLookAt > ASLEEP_AFTER_MS) this.#since = now;
    if (wentBack) this.#since = Math.min(this.#since, now);
    this.#lastLookAt = now;
    return wentBack;
  }
}
