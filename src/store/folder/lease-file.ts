/**
 * `.loop/loop.lock`: shows the holder of the lease and its heartbeat to people and other programs.
 *
 * The lease itself is a line in the journal. Only the holder writes this file. The file decides one question: when was
 * the last heartbeat of a holder on another machine?
 */
import { rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { iso } from "../../core/views/moment.ts";
import { type HolderState, type Lease, type LeaseBid, SILENT_AFTER_MS } from "../../ports/lease.ts";
import { orNull, readIfThere, writeAtomic } from "../../system/files.ts";
import { isAlive, isStopped } from "../../system/process.ts";
import { answers } from "../../system/process-table.ts";
import { isSigned, renderSigned } from "../signed/signed-json.ts";
import type { Signer } from "../signed/signer.ts";

export interface LeaseFile extends Omit<Lease, "acquiredAt"> {
  readonly acquired_at: string;
  readonly heartbeat_at: string;
  /** The signature of all other fields. */
  readonly sum: string;
}

export function writeLeaseFile(dir: string, lease: Lease, now: number, signer: Signer | null): void {
  if (signer === null) return;
  const { owner, pid, procStart, host, token, acquiredAt } = lease;
  const times = { acquired_at: iso(acquiredAt), heartbeat_at: iso(now) };
  const file: Omit<LeaseFile, "sum"> = { owner, pid, procStart, host, token, ...times };
  // no fsync: a power cut ends the holder too
  writeAtomic(leasePath(dir), renderSigned(signer, "loop.lock", file), false);
}

export function removeLeaseFile(dir: string, token: number): void {
  if ((readLeaseFile(dir)?.token ?? token) === token) rmSync(leasePath(dir), { force: true });
}

/** null: there is no file, or it does not parse. The journal knows the holder anyway. */
export function readLeaseFile(dir: string): LeaseFile | null {
  return orNull(() => JSON.parse(readIfThere(leasePath(dir)) ?? "null") as LeaseFile | null);
}

/** The last heartbeat of the holder. A file without the signature says nothing; lists, which run nothing, take any. */
export function heartbeatOf(dir: string, lease: Lease, signer: Signer | null | "any" = "any"): number {
  const file = readLeaseFile(dir);
  const isOurs = file !== null && (signer === "any" || isSigned(signer, "loop.lock", file));
  const isValid = isOurs && file.token === lease.token;
  const beat = isValid ? Date.parse(file.heartbeat_at) : Number.NaN;
  return Number.isNaN(beat) ? lease.acquiredAt : Math.max(beat, lease.acquiredAt);
}

/** A dead process on this host is detected at once. In other cases the heartbeat decides. */
export function holderState(
  dir: string,
  lease: Lease,
  now: number,
  signer: Signer | null | "any" = "any",
): HolderState {
  if (lease.host === HOST && !isAlive({ pid: lease.pid, start: lease.procStart })) return "gone";
  if (now - heartbeatOf(dir, lease, signer) < SILENT_AFTER_MS) return "alive";
  return lease.host === HOST && isStopped(lease.pid) ? "frozen" : "silent";
}

/** Cheap: one system call and no file. Works only for processes on this host. */
export function isHolderGone(lease: Lease): boolean {
  return lease.host === HOST && !answers(lease.pid);
}

/** `.loop/lease.asked`: another process wants the lease. The last request replaces earlier ones. */
export function writeAsk(dir: string, by: LeaseBid): void {
  writeAtomic(join(dir, "lease.asked"), `${JSON.stringify(by)}\n`, false);
}

export function readAsk(dir: string): LeaseBid | null {
  const path = join(dir, "lease.asked");
  // the file is read often and rarely exists, and a caught error costs more than this stat
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
  const ask = orNull(() => JSON.parse(readIfThere(path) ?? "null") as LeaseBid | null);
  return typeof ask?.owner === "string" && typeof ask.pid === "number" ? ask : null;
}

/** Read once: the name does not change while the process runs. */
const HOST = hostname();

function leasePath(dir: string): string {
  return join(dir, "loop.lock");
}
