/**
 * `.loop/loop.lock`: who holds the lease, for people and other programs to read, with its heartbeat.
 *
 * The lease itself is a line in the journal; this file is written by the holder only and decides nothing but
 * one question: when did a holder on another machine last give a sign of life?
 */

import { rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { type HolderState, type Lease, type LeaseBid, SILENT_AFTER_MS } from "../../ports/lease.ts";
import { readIfThere, writeAtomic } from "../../system/files.ts";
import { isAlive, isStopped } from "../../system/process.ts";
import { answers } from "../../system/process-table.ts";

export interface LeaseFile {
  readonly owner: string;
  readonly pid: number;
  readonly procStart: string | null;
  readonly host: string;
  readonly token: number;
  readonly acquired_at: string;
  readonly heartbeat_at: string;
}

export function writeLeaseFile(dir: string, lease: Lease, now: number): void {
  const file: LeaseFile = {
    owner: lease.owner,
    pid: lease.pid,
    procStart: lease.procStart,
    host: lease.host,
    token: lease.token,
    acquired_at: new Date(lease.acquiredAt).toISOString(),
    heartbeat_at: new Date(now).toISOString(),
  };
  // A heartbeat that a power cut takes away is no loss: the holder is gone with it.
  writeAtomic(leasePath(dir), `${JSON.stringify(file, null, 2)}\n`, false);
}

export function removeLeaseFile(dir: string, token: number): void {
  if ((readLeaseFile(dir)?.token ?? token) === token) rmSync(leasePath(dir), { force: true });
}

/** null when there is none or it does not parse: the journal knows the holder anyway. */
export function readLeaseFile(dir: string): LeaseFile | null {
  try {
    const text = readIfThere(leasePath(dir));
    return text === null ? null : (JSON.parse(text) as LeaseFile);
  } catch {
    return null;
  }
}

/** Last sign of life of this lease's holder. */
export function heartbeatOf(dir: string, lease: Lease): number {
  const file = readLeaseFile(dir);
  const beat = file !== null && file.token === lease.token ? Date.parse(file.heartbeat_at) : Number.NaN;
  return Number.isNaN(beat) ? lease.acquiredAt : Math.max(beat, lease.acquiredAt);
}

/** A dead process on this host is known at once; otherwise, and for a frozen one, the heartbeat tells. */
export function holderState(dir: string, lease: Lease, now: number): HolderState {
  if (lease.host === HOST && !isAlive({ pid: lease.pid, start: lease.procStart })) return "gone";
  if (now - heartbeatOf(dir, lease) < SILENT_AFTER_MS) return "alive";
  return lease.host === HOST && isStopped(lease.pid) ? "frozen" : "silent";
}

/** One question to the system and no file: a process of this host that does not answer is gone. */
export function isHolderGone(lease: Lease): boolean {
  return lease.host === HOST && !answers(lease.pid);
}

/** `.loop/lease.asked`: another process wants the lease. One small file: who asks last is heard. */
export function writeAsk(dir: string, by: LeaseBid): void {
  writeAtomic(join(dir, "lease.asked"), `${JSON.stringify(by)}\n`, false);
}

export function readAsk(dir: string): LeaseBid | null {
  const path = join(dir, "lease.asked");
  // asked at every look, and nearly never there: an error that is caught costs more than the question
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
  try {
    const ask = JSON.parse(readIfThere(path) ?? "null") as LeaseBid | null;
    return typeof ask?.owner === "string" && typeof ask.pid === "number" ? ask : null;
  } catch {
    return null;
  }
}

/** It does not change while we run, and asking costs a system call. */
const HOST = hostname();

function leasePath(dir: string): string {
  return join(dir, "loop.lock");
}
