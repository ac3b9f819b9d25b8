/** The lease of the folder: a line of the journal says who holds it, `loop.lock` shows it and carries the heartbeat. */
import type { HolderState, Lease, LeaseBid, LeaseStore } from "../../ports/lease.ts";
import type { Verdict } from "../journal/admission.ts";
import type { Journal } from "../journal/journal.ts";
import {
  heartbeatOf,
  holderState,
  isHolderGone,
  readAsk,
  removeLeaseFile,
  writeAsk,
  writeLeaseFile,
} from "./lease-file.ts";
import { cannotWrite } from "./loop-dir.ts";

export interface LeaseParts {
  readonly dir: string;
  readonly journal: Journal;
  append(entry: Parameters<Journal["append"]>[0]): Verdict;
  say(message: string): void;
}

export class FolderLease implements LeaseStore {
  readonly #parts: LeaseParts;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
  }

  lease(): Lease | null {
    return this.#parts.journal.state.lease;
  }

  lastToken(): number {
    return this.#parts.journal.state.lastToken;
  }

  async acquire(bid: LeaseBid, expectedToken: number): Promise<Lease | null> {
    const { dir, journal, append } = this.#parts;
    const lease: Lease = { ...bid, token: expectedToken + 1 };
    if (append({ type: "lease", at: bid.acquiredAt, lease }).kind !== "committed") return null;
    journal.guard.arm(lease.token, journal.state.loops.values());
    this.#tryFile(() => writeLeaseFile(dir, lease, bid.acquiredAt));
    return lease;
  }

  async release(token: number, at: number): Promise<boolean> {
    const { dir, journal, append } = this.#parts;
    journal.guard.disarm();
    if (append({ type: "release", at, token }).kind !== "committed") return false;
    this.#tryFile(() => removeLeaseFile(dir, token));
    return true;
  }

  async heartbeat(lease: Lease, at: number): Promise<void> {
    // A holder that lost the lease must not write over the sign of life of the new one.
    if (this.lease()?.token !== lease.token) return;
    this.#tryFile(() => writeLeaseFile(this.#parts.dir, lease, at));
  }

  heartbeatAt(lease: Lease): number {
    return heartbeatOf(this.#parts.dir, lease);
  }

  holderState(lease: Lease, now: number): HolderState {
    return holderState(this.#parts.dir, lease, now);
  }

  isHolderGone(lease: Lease): boolean {
    return isHolderGone(lease);
  }

  askForLease(by: LeaseBid): void {
    this.#tryFile(() => writeAsk(this.#parts.dir, by));
  }

  leaseAsked(): LeaseBid | null {
    return readAsk(this.#parts.dir);
  }

  /** The lease is the line in the journal: it counts whatever becomes of the file. */
  #tryFile(act: () => void): void {
    const { dir, say } = this.#parts;
    try {
      act();
    } catch (error) {
      say(cannotWrite(`${dir}/loop.lock`, error).message);
    }
  }
}
