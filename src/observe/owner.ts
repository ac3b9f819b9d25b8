/** The process that holds the lease, as other programs see it. */
import { iso } from "../core/views/moment.ts";
import type { Lease } from "../ports/lease.ts";

/** A live process that holds the lease. */
export interface OwnerView extends Omit<Lease, "acquiredAt"> {
  readonly acquiredAt: string;
  readonly heartbeatAt: string;
}

export function viewOwner(lease: Lease, heartbeatAt: number): OwnerView {
  const { owner, pid, procStart, host, token, acquiredAt } = lease;
  return { owner, pid, procStart, host, token, acquiredAt: iso(acquiredAt), heartbeatAt: iso(heartbeatAt) };
}
