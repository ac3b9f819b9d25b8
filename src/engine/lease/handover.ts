/**
 * The lease from one live process to another. A runner or an idle conversation holds it as long as it lives; another
 * conversation that has something to do which nobody else may do asks for it, and gets it between two turns.
 *
 * Must not take anything: who holds the lease gives it up, or does not.
 */
import type { Loop } from "../../core/loop.ts";
import type { EngineParts } from "../parts.ts";
import { isForUs, lookTimeOf } from "../time/schedule.ts";
import { isAskedFor, type Leadership } from "./leadership.ts";

/** For how long a holder is asked, and how often it is looked for. */
const GIVEN_WITHIN_MS = 3_000;
const ASK_AGAIN_MS = 50;
/** What is asked stands for some time: asking more often would only wake everybody who watches. */
const ASKED_AGAIN_AFTER_MS = 1_000;

export class Handover {
  readonly #parts: EngineParts;
  readonly #lead: Leadership;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: EngineParts, lead: Leadership) {
    this.#parts = parts;
    this.#lead = lead;
  }

  /** Between two turns, to who has something to do that only it may do. */
  async giveUpWhenAsked(underway: number): Promise<void> {
    const { store, clock } = this.#parts;
    const { lease } = this.#lead;
    if (lease === null || !isAskedFor(this.#parts) || !mayGiveUp(this.#parts, underway)) return;
    this.#lead.drop();
    await store.release(lease.token, clock.now());
  }

  askWhenDue(): void {
    const { clock, host } = this.#parts;
    const dueAt = ownDueAt(this.#parts);
    if (dueAt !== null && dueAt <= clock.now() && host?.isFree() === true) this.#askNow();
  }

  /** Answers when the holder has given it up, or has not for too long. */
  ask(answer: (isOwner: boolean) => void, lookAgain: () => void): void {
    const { clock } = this.#parts;
    const until = clock.now() + GIVEN_WITHIN_MS;
    const look = () => {
      const isOwner = this.#lead.lease !== null;
      if (isOwner || clock.now() >= until) return answer(isOwner);
      lookAgain();
      clock.wake(clock.now() + ASK_AGAIN_MS, look);
    };
    this.#askNow();
    clock.wake(clock.now() + ASK_AGAIN_MS, look);
  }

  #askNow(): void {
    const { store, self, clock } = this.#parts;
    const now = clock.now();
    if (Math.abs(now - this.#askedAt) < ASKED_AGAIN_AFTER_MS) return;
    this.#askedAt = now;
    store.askForLease({ ...self, acquiredAt: now });
  }
}

/** A goal at work is not interrupted by anybody. */
function mayGiveUp({ store, self }: EngineParts, underway: number): boolean {
  const isAtWork = (loop: Loop) =>
    loop.kind === "goal" &&
    loop.status === "active" &&
    (loop.session === null || loop.session === self.owner);
  return underway === 0 && ![...store.loops()].some(isAtWork);
}

/** When something is due that only this process may do; null: nothing is. */
export function ownDueAt(parts: EngineParts): number | null {
  const { store, self, host, clock } = parts;
  if (host === undefined) return null;
  let next: number | null = null;
  for (const loop of store.loops()) {
    const isOnlyOurs = loop.session === self.owner || (loop.kind === "task" && loop.where === "session");
    const at = isOnlyOurs && isForUs(parts, loop) ? lookTimeOf(loop, clock.now()) : null;
    if (at !== null && (next === null || at < next)) next = at;
  }
  return next;
}
