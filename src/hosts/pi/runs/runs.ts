/**
 * Follows a run of pi's agent from its start until nothing follows by itself. In between pi may retry a request, or
 * compact the conversation and continue.
 *
 * Newer versions report the end (`agent_settled`). Older versions do not, and a message sent during `agent_end` is lost
 * there. So after `agent_end` we poll until pi is idle and no retry can follow.
 */
import { type Retries, waitForRetry } from "./retries.ts";
import { parseRunEnd, type RunEnd } from "./run-end.ts";

interface RunsParts {
  readonly isIdle: () => boolean;
  readonly retries: () => Retries;
  readonly now: () => number;
  /** null: the agent said nothing in this run. */
  readonly onSettled: (end: RunEnd | null) => void;
}

const LOOK_MS = 50;

export class Runs {
  readonly #parts: RunsParts;
  #phase: "none" | "running" | "ending" = "none";
  /** Of the run and its retries. */
  #messages: unknown[] = [];
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
    this.#messages = this.#messages.concat(messages);
    this.#end = parseRunEnd(this.#messages);
    this.#errors = parseRunEnd(messages)?.kind === "error" ? this.#errors + 1 : 0;
    this.#holdUntil = now() + waitForRetry(retries(), this.#errors);
    this.#phase = "ending";
    this.#lookIn(0);
  }

  /** Nothing follows. */
  settle(): void {
    if (this.#phase === "none") return;
    const end = this.#end;
    this.close();
    this.#parts.onSettled(end);
  }

  /** The person stopped the retry. false: no retry was waiting. */
  cut(): boolean {
    if (this.#phase !== "ending" || this.#end?.kind !== "error") return false;
    this.#end = { ...this.#end, kind: "aborted" };
    this.settle();
    return true;
  }

  close(): void {
    this.#clear();
    this.#phase = "none";
    this.#messages = [];
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
