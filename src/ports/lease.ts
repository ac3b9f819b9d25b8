/**
 * The lease decides which process may act for the project. At most one process holds it, and its token fences
 * everything that this process writes. Reads are synchronous and answer from memory, as in `loops.ts`.
 */

/** Every new holder gets a higher token. */
export interface Lease {
  readonly token: number;
  readonly owner: string;
  readonly pid: number;
  readonly procStart: string | null;
  readonly host: string;
  readonly acquiredAt: number;
}

/** A process that wants the lease. */
export type LeaseBid = Omit<Lease, "token">;

/**
 * The state of the process that holds a lease. `gone`: the process has certainly ended. `silent`: its last heartbeat
 * is too old; the machine may sleep or be off. `frozen`: silent, and the process is stopped (SIGSTOP).
 */
export type HolderState = "alive" | "silent" | "frozen" | "gone";

/** A holder without a heartbeat for this long counts as silent, on every host. */
export const SILENT_AFTER_MS = 5 * 60_000;

export interface LeaseStore {
  lease(): Lease | null;
  /** The highest token so far. */
  lastToken(): number;
  /** Compare-and-set on the token. null: another process was first. */
  acquire(bid: LeaseBid, expectedToken: number): Promise<Lease | null>;
  /** false: this token no longer holds the lease. */
  release(token: number, at: number): Promise<boolean>;
  /** Must not reject: the next heartbeat replaces a failed one. Does nothing without the current token. */
  heartbeat(lease: Lease, at: number): Promise<void>;
  /** The last heartbeat of the holder; the acquisition is the first one. */
  heartbeatAt(lease: Lease): number;
  holderState(lease: Lease, now: number): HolderState;
  /** Cheap enough to call all the time. true is certain; after false, ask `holderState`. */
  isHolderGone(lease: Lease): boolean;
  /** Tells the holder that another process needs the lease for work that only that process can do. Must not reject. */
  askForLease(by: LeaseBid): void;
  /** The last process that asked, and when (`acquiredAt`); null: no process asks. */
  leaseAsked(): LeaseBid | null;
}
