/**
 * Who may act for the project. At most one process holds the lease; its token fences everything that it writes.
 *
 * Reads are synchronous and answer from memory, as those of `loops.ts` do.
 */

/** The token rises with every new holder. */
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
 * What is known of the process that holds a lease. `gone`: it has ended, for certain. `silent`: it gave no sign of
 * life for too long; it may have slept with the machine, or its host is gone. `frozen`: silent, and stopped.
 */
export type HolderState = "alive" | "silent" | "frozen" | "gone";

/** No sign of life for this long: a holder counts as silent, wherever it is. */
export const SILENT_AFTER_MS = 5 * 60_000;

export interface LeaseStore {
  lease(): Lease | null;
  /** Highest token that was ever given out. */
  lastToken(): number;
  /** Compare-and-set on the token. `null`: someone else was first. */
  acquire(bid: LeaseBid, expectedToken: number): Promise<Lease | null>;
  /** false: this token did not hold the lease any more. */
  release(token: number, at: number): Promise<boolean>;
  /** Must not reject: a sign of life that fails is a sign that comes later. Without the current token it does nothing. */
  heartbeat(lease: Lease, at: number): Promise<void>;
  /** The last sign of life of this lease's holder; its acquisition is the first. */
  heartbeatAt(lease: Lease): number;
  holderState(lease: Lease, now: number): HolderState;
  /** Cheap enough to ask all the time: true is certain, false means that `holderState` has to tell. */
  isHolderGone(lease: Lease): boolean;
  /** Tells the holder that another process has something to do that only it may do. Must not reject. */
  askForLease(by: LeaseBid): void;
  /** Who asked last, and when (`acquiredAt`); null: nobody does. */
  leaseAsked(): LeaseBid | null;
}
