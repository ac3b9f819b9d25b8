import type { Lease, Store } from "../../ports/store.ts";

/** The lease of the process that runs the project's loops now; null: no live process does. */
export function liveOwner(store: Store, now: number): Lease | null {
  const lease = store.lease();
  return lease !== null && store.holderState(lease, now) === "alive" ? lease : null;
}
