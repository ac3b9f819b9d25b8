/** Who runs the loops of a project at this moment. */
import type { Lease, Store } from "../../ports/store.ts";

/** Who holds the lease and is there. */
export function liveOwner(store: Store, now: number): Lease | null {
  const lease = store.lease();
  return lease !== null && store.holderState(lease, now) === "alive" ? lease : null;
}
