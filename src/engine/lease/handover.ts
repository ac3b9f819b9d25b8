/**
 * Hands the lease from one live process to another. A runner or an idle conversation keeps the lease while it lives.
 * Another conversation with work that only it may do asks for the lease, and gets it between two turns.
 *
 * Must not take the lease: only the holder gives it up.
 */
import type { Loop } from "../../core/loop.ts";
import type { EngineParts } from "../parts.ts";
import { isForUs, lookTimeOf } from "../time/schedule.ts";
import { isAskedFor, type Leadership } from "./leadership.ts";

/** How long to ask a holder, and how often to look for its answer. */
const GIVEN_WITHIN_MS = 3_000;
const ASK_AGAIN_MS = 50;
/** A request stays valid for a while. Asking more often would only wake all watching processes. */
const ASKED_AGAIN_AFTER_MS = 1_000;

export class Handover {
  readonly #parts: EngineParts;
  readonly #lead: Leadership;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: EngineParts, lead: Leadership) {
    this.#parts = parts;
    this.#lead = lead;
  }

  /** Releases the lease between two turns when another process asks for it. */
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

  /** Answers when this process has the lease, or after a timeout. */
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

/** An active goal keeps the lease. */
function mayGiveUp({ store, self }: EngineParts, underway: number): boolean {
  const isAtWork = (loop: Loop) =>
    loop.kind === "goal" &&
    loop.status === "active" &&
    (loop.session === null || loop.session === self.owner);
  return underway === 0 && ![...store.loops()].some(isAtWork);
}

/** The next due time of a loop that only this process may run; null: there is none. */
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
