/** The lease of the folder store: a line of the journal names the holder; `loop.lock` shows it with its heartbeat. */
import type { HolderState, Lease, LeaseBid, LeaseStore } from "../../ports/lease.ts";
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
import type { OpenedFolder } from "./opened-folder.ts";

export class FolderLease implements LeaseStore {
  readonly #folder: OpenedFolder;

  constructor(folder: OpenedFolder) {
    this.#folder = folder;
  }

  lease(): Lease | null {
    return this.#folder.journal.state.lease;
  }

  lastToken(): number {
    return this.#folder.journal.state.lastToken;
  }

  async acquire(bid: LeaseBid, expectedToken: number): Promise<Lease | null> {
    const { dir, journal } = this.#folder;
    const lease: Lease = { ...bid, token: expectedToken + 1 };
    if (this.#folder.append({ type: "lease", at: bid.acquiredAt, lease }).kind !== "committed") return null;
    const { loops } = journal.state;
    journal.guard.arm(
      lease.token,
      [...loops.values()].filter(({ id }) => !journal.held.has(id)),
    );
    this.#tryFile(() => writeLeaseFile(dir, lease, bid.acquiredAt, journal.signer));
    return lease;
  }

  async release(token: number, at: number): Promise<boolean> {
    const { dir, journal } = this.#folder;
    journal.guard.disarm();
    if (this.#folder.append({ type: "release", at, token }).kind !== "committed") return false;
    this.#tryFile(() => removeLeaseFile(dir, token));
    return true;
  }

  async heartbeat(lease: Lease, at: number): Promise<void> {
    // a holder that lost the lease must not overwrite the heartbeat of the new holder
    if (this.lease()?.token !== lease.token) return;
    const { dir, journal } = this.#folder;
    this.#tryFile(() => writeLeaseFile(dir, lease, at, journal.signer));
  }

  heartbeatAt(lease: Lease): number {
    return heartbeatOf(this.#folder.dir, lease, this.#folder.journal.signer);
  }

  holderState(lease: Lease, now: number): HolderState {
    return holderState(this.#folder.dir, lease, now, this.#folder.journal.signer);
  }

  isHolderGone(lease: Lease): boolean {
    return isHolderGone(lease);
  }

  askForLease(by: LeaseBid): void {
    this.#tryFile(() => writeAsk(this.#folder.dir, by));
  }

  leaseAsked(): LeaseBid | null {
    return readAsk(this.#folder.dir);
  }

  /** Reports an error and continues: the lease is the line in the journal, not the file. */
  #tryFile(act: () => void): void {
    const { dir, say } = this.#folder;
    try {
      act();
    } catch (error) {
      say(cannotWrite(`${dir}/loop.lock`, error).message);
    }
  }
}
