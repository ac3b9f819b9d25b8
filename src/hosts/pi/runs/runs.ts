/**
 * Follows the runs of pi's agent: from the first start to the moment when nothing follows by itself. In between pi
 * may try a request again, or make the conversation shorter and go on.
 *
 * Newer versions say when that is (`agent_settled`). Older ones do not, and sending inside of `agent_end` fails there
 * without a word: so after an end it is looked at until pi is idle and no further attempt can come.
 */

import type { Retries } from "./retries.ts";
import { waitForRetry } from "./retries.ts";
import { joinRunEnds, parseRunEnd, type RunEnd } from "./run-end.ts";

export interface RunsParts {
  readonly isIdle: () => boolean;
  readonly retries: () => Retries;
  readonly now: () => number;
  /** null: a run in which the agent said nothing at all. */
  readonly onSettled: (end: RunEnd | null) => void;
}

const LOOK_MS = 50;

export class Runs {
  readonly #parts: RunsParts;
  #phase: "none" | "running" | "ending" = "none";
  #end: RunEnd | null = null;
  #errors = 0;
  #holdUntil = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: RunsParts) {
    this.#parts = parts;
  }

  get isUnderWay(): boolean {
    return this.#phase !== "none";
  }

  start(): void {
    this.#clear();
    this.#phase = "running";
  }

  end(messages: readonly unknown[]): void {
    const { retries, now } = this.#parts;
    const end = parseRunEnd(messages);
    if (end !== null) this.#end = joinRunEnds(this.#end, end);
    this.#errors = end?.kind === "error" ? this.#errors + 1 : 0;
    this.#holdUntil = now() + waitForRetry(retries(), this.#errors);
    this.#phase = "ending";
    this.#lookIn(0);
  }

  /** Nothing follows any more. */
  settle(): void {
    if (this.#phase === "none") return;
    const end = this.#end;
    this.close();
    this.#parts.onSettled(end);
  }

  /** The person does not want another attempt. false: none was to come. */
  cut(): boolean {
    if (this.#phase !== "ending" || this.#end?.kind !== "error") return false;
    this.#end = { ...this.#end, kind: "aborted" };
    this.settle();
    return true;
  }

  close(): void {
    this.#clear();
    this.#phase = "none";
    this.#end = null;
    this.#errors = 0;
  }

  #look(): void {
    const { isIdle, now } = this.#parts;
    if (this.#phase !== "ending") return;
    if (now() >= this.#holdUntil && isIdle()) this.settle();
    else this.#lookIn(LOOK_MS);
  }

  #lookIn(ms: number): void {
    this.#clear();
    this.#timer = setTimeout(() => this.#look(), ms);
  }

  #clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
