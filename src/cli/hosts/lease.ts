/** `loop heartbeat | release-lock`: the lease by hand (D6, D12). Who holds it is a line in the journal, never a file. */
import { hostname } from "node:os";
import { cleanLine } from "../../core/text/clean.ts";
import { LoopError, usageError } from "../../errors.ts";
import type { Lease } from "../../ports/lease.ts";
import { EXIT } from "../exit-codes.ts";
import { openForChange } from "../goals/goal.ts";
import type { Io } from "../io.ts";
import type { Project, ProjectFlags } from "../project.ts";
import { renderWhen } from "../render/times.ts";
import { refuseTurns } from "../run/person.ts";
import { hostSession } from "./host-session.ts";

export interface LeaseFlags extends ProjectFlags {
  readonly json?: boolean;
  readonly owner?: string;
}

/** For whoever holds the lease; without a name for this conversation, or else for the holder, whoever it is. */
export async function heartbeatCommand(flags: LeaseFlags, io: Io): Promise<number> {
  const owner = ownerFlag(flags) ?? hostSession(process.env);
  const project = openForChange(flags, io);
  const { store } = project;
  const lease = leaseOf(project, owner);
  const now = Date.now();
  // nothing keeps a process alive that has ended, and the file must not say so
  if (store.holderState(lease, now) === "gone")
    throw refusal(`${renderHolder(project, lease, now)}, but its process is gone.`, takeOver(lease));
  await store.heartbeat(lease, now);
  if (store.heartbeatAt(lease) < now)
    throw refusal(`The sign of life for ${lease.owner} could not be written.`, null);
  if (flags.json) io.json(viewLease(project, lease));
  else io.out(cleanLine(`${lease.owner} has given a sign of life; it holds the lease ${since(lease, now)}.`));
  return EXIT.ok;
}

export interface ReleaseFlags extends LeaseFlags {
  readonly force?: boolean;
}

/** The owner is named, so that nobody releases a lease that changed hands meanwhile. */
export async function releaseLockCommand(flags: ReleaseFlags, io: Io): Promise<number> {
  const owner = ownerFlag(flags);
  if (owner === null) throw usageError("--owner is missing.", "Who holds the lease: loop list --json");
  const project = openForChange(flags, io);
  const { store } = project;
  refuseTurns(store, "release the lease");
  const lease = leaseOf(project, owner);
  const now = Date.now();
  if (!flags.force && !isGone(project, lease, now))
    throw refusal(
      `${renderHolder(project, lease, now)}, and its process is still there.`,
      "Stop that process, or take the lease from it all the same: --force",
    );
  const released = viewLease(project, lease);
  const isReleased = await store.release(lease.token, now);
  // a runner that waits takes it while our line is still on its way to the disk
  const after = store.lease();
  if (after !== null && !isReleased)
    throw refusal(`${renderHolder(project, after, now)}: it was faster.`, null);
  await store.published?.publish();
  if (flags.json) io.json({ released: true, ...released, holder: after?.owner ?? null });
  else io.out(cleanLine(`Released the lease that ${lease.owner} held ${since(lease, now)}.`));
  if (after !== null) io.say(cleanLine(`${after.owner} has taken it since.`));
  return EXIT.ok;
}

function ownerFlag({ owner }: LeaseFlags): string | null {
  if (owner?.trim() === "")
    throw usageError("--owner is empty; write it as it is shown, such as session:<id>.");
  return owner ?? null;
}

/** The lease, when this owner holds it; null: whoever does. */
function leaseOf(project: Project, owner: string | null): Lease {
  const lease = project.store.lease();
  if (lease === null) throw refusal("Nobody holds the lease here.", null);
  if (owner === null || lease.owner === owner) return lease;
  throw refusal(`${renderHolder(project, lease, Date.now())}, and not ${owner}.`, null);
}

/** A process of another machine cannot be asked: there, silence is all that tells. */
function isGone({ store }: Project, lease: Lease, now: number): boolean {
  const state = store.holderState(lease, now);
  return state === "gone" || (state === "silent" && lease.host !== hostname());
}

function refusal(message: string, hint: string | null): LoopError {
  return new LoopError("surroundings", message, hint);
}

function takeOver({ owner }: Lease): string {
  return `The next runner takes over by itself; to release it now: loop release-lock --owner '${owner}'`;
}

function renderHolder({ store }: Project, lease: Lease, now: number): string {
  const beat = renderWhen(store.heartbeatAt(lease), now);
  const { owner, pid, host } = lease;
  return `${owner} (pid ${pid} on ${host}) holds the lease ${since(lease, now)}, last sign of life ${beat}`;
}

function since({ acquiredAt }: Lease, now: number): string {
  return `since ${renderWhen(acquiredAt, now)}`;
}

function viewLease({ store }: Project, lease: Lease): object {
  const { owner, pid, procStart, host, token, acquiredAt } = lease;
  const heartbeatAt = new Date(store.heartbeatAt(lease)).toISOString();
  return { owner, pid, procStart, host, token, acquiredAt: new Date(acquiredAt).toISOString(), heartbeatAt };
}
