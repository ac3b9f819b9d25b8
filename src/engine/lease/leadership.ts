/**
 * This process's part in the lease: owner, passive observer of another owner, or off. Must not act itself: the engine
 * reacts to a change.
 */
import type { Lease } from "../../ports/store.ts";
import type { EngineParts, Role } from "../parts.ts";
import { MAX_TIMER_MS } from "../time/look-timer.ts";

/** A longer gap between two looks means that the machine slept or the process was stopped. */
export const ASLEEP_AFTER_MS = MAX_TIMER_MS + 15_000;

/** A request for the lease expires after this time. */
const ASKED_FOR_MS = 10_000;

export class Leadership {
  readonly #parts: EngineParts;
  #lease: Lease | null = null;
  #role: Role | null = null;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** The own lease; null: another process leads, or none. */
  get lease(): Lease | null {
    return this.#lease;
  }

  get role(): Role | null {
    return this.#role;
  }

  /** Another process has taken over. */
  get isLost(): boolean {
    return this.#lease !== null && this.#parts.store.lease()?.token !== this.#lease.token;
  }

  /** `after-silence`: the owner before existed but did nothing, so no process fired meanwhile. */
  async tryLead(
    now: number,
    awakeSince: number,
    /** Take the lease from another process of the same conversation too. */
    fromSibling = false,
  ): Promise<"no" | "yes" | "after-silence"> {
    const { store, self, firing } = this.#parts;
    const holder = store.lease();
    if (!firing) return this.#enter("off", holder);
    if (isAskedFor(this.#parts)) return this.#enter("passive", holder);
    // An own lease exists if acquiring it failed after the write. It is acquired again, under a new token.
    const isOurs = holder !== null && holder.owner === self.owner && (fromSibling || holder.pid === self.pid);
    const state = holder === null || isOurs ? "gone" : store.holderState(holder, now);
    // after a suspend all processes wake at once, and the owner has not sent its heartbeat yet
    const isWaiting = state === "silent" && now - awakeSince < ASLEEP_AFTER_MS;
    if (state === "alive" || isWaiting) return this.#enter("passive", holder);
    const lease = await store.acquire({ ...self, acquiredAt: now }, store.lastToken());
    if (lease === null) return this.#enter("passive", store.lease());
    this.#lease = lease;
    this.#enter("owner", lease);
    return state === "silent" || state === "frozen" ? "after-silence" : "yes";
  }

  drop(): void {
    this.#lease = null;
  }

  leave(): void {
    this.#role = "off";
  }

  #enter(role: Role, lease: Lease | null): "no" {
    if (role !== this.#role) {
      this.#role = role;
      this.#parts.observe({ type: "role", role, lease });
    }
    return "no";
  }
}

/** Does another live process ask for the lease? */
export function isAskedFor({ store, self, clock }: EngineParts): boolean {
  const asked = store.leaseAsked();
  if (asked === null || asked.owner === self.owner) return false;
  return (
    Math.abs(clock.now() - asked.acquiredAt) < ASKED_FOR_MS && !store.isHolderGone({ ...asked, token: 0 })
  );
}
