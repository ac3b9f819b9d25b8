/**
 * This process's part in the lease: whether it acts for the project, watches somebody else do so, or neither.
 * Must not act itself: what follows from a change is the engine's.
 */
import type { Lease } from "../../ports/store.ts";
import type { EngineParts, Role } from "../parts.ts";
import { MAX_TIMER_MS } from "../time/look-timer.ts";

/** A gap between two looks that is longer than this was no normal wait: nobody was there. */
export const ASLEEP_AFTER_MS = MAX_TIMER_MS + 15_000;

/** Who asked and then said nothing for so long does not want it any more. */
const ASKED_FOR_MS = 10_000;

export class Leadership {
  readonly #parts: EngineParts;
  #lease: Lease | null = null;
  #role: Role | null = null;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** Ours; null while somebody else leads. */
  get lease(): Lease | null {
    return this.#lease;
  }

  get role(): Role | null {
    return this.#role;
  }

  /** Somebody else has taken over. */
  get isLost(): boolean {
    return this.#lease !== null && this.#parts.store.lease()?.token !== this.#lease.token;
  }

  /** `after-silence`: the owner before us was there and did nothing, so nobody fired meanwhile. */
  async tryLead(
    now: number,
    awakeSince: number,
    /** Also from another process of the same conversation, which is the one that nobody asks just now. */
    fromSibling = false,
  ): Promise<"no" | "yes" | "after-silence"> {
    const { store, self, firing } = this.#parts;
    const holder = store.lease();
    if (!firing) return this.#enter("off", holder);
    if (isAskedFor(this.#parts)) return this.#enter("passive", holder);
    // Our own, when acquiring it failed after it was written: taken anew, under a token that nothing was done with.
    const isOurs = holder !== null && holder.owner === self.owner && (fromSibling || holder.pid === self.pid);
    const state = holder === null || isOurs ? "gone" : store.holderState(holder, now);
    // After a suspend everybody wakes at once, and the owner's next look, with its sign of life, is still to come.
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

/** Is somebody else to have it now? */
export function isAskedFor({ store, self, clock }: EngineParts): boolean {
  const asked = store.leaseAsked();
  if (asked === null || asked.owner === self.owner) return false;
  return (
    Math.abs(clock.now() - asked.acquiredAt) < ASKED_FOR_MS && !store.isHolderGone({ ...asked, token: 0 })
  );
}
