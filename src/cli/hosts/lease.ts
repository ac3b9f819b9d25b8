/** `loop heartbeat | release-lock`: a person works on the lease by hand (D6, D12). */
import { hostname } from "node:os";
import { cleanLine } from "../../core/text/clean.ts";
import { iso } from "../../core/views/moment.ts";
import { surroundingsError, usageError } from "../../errors.ts";
import type { Lease } from "../../ports/lease.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToChange, type Project, type ProjectFlags } from "../project.ts";
import { renderWhen } from "../render/times.ts";
import { refuseTurns } from "../run/person.ts";
import { hostSession } from "./host-session.ts";

interface LeaseFlags extends ProjectFlags {
  readonly owner?: string;
}

/** Without --owner: for this conversation, or, in a terminal, for any owner. */
export async function heartbeatCommand(flags: LeaseFlags, io: Io): Promise<number> {
  const owner = ownerFlag(flags) ?? hostSession(process.env);
  const project = openProjectToChange(flags, io);
  const { store } = project;
  const lease = leaseOf(project, owner);
  const now = Date.now();
  // a heartbeat must not make an ended process look alive
  if (store.holderState(lease, now) === "gone")
    throw surroundingsError(
      `${renderHolder(project, lease, now)}, but its process has ended.`,
      `The next runner takes the lease over. To release it now: loop release-lock --owner '${lease.owner}'`,
    );
  await store.heartbeat(lease, now);
  if (store.heartbeatAt(lease) < now)
    throw surroundingsError(`The heartbeat for ${lease.owner} could not be written.`);
  const text = `Wrote a heartbeat for ${lease.owner}, which holds the lease ${since(lease, now)}.`;
  return answer(flags, io, viewLease(project, lease), cleanLine(text));
}

/** --owner is required, so that nobody releases a lease that another owner has taken since. */
export async function releaseLockCommand(
  flags: LeaseFlags & { readonly force?: boolean },
  io: Io,
): Promise<number> {
  const owner = ownerFlag(flags);
  if (owner === null) throw usageError("--owner is missing.", "See who holds the lease: loop list --json");
  const project = openProjectToChange(flags, io);
  const { store } = project;
  refuseTurns(store, "release the lease");
  const lease = leaseOf(project, owner);
  const now = Date.now();
  if (!flags.force && !isGone(project, lease, now))
    throw surroundingsError(
      `${renderHolder(project, lease, now)}, and its process is running.`,
      "Stop that process, or add --force to release the lease anyway.",
    );
  const released = viewLease(project, lease);
  const isReleased = await store.release(lease.token, now);
  // a waiting runner may take the lease before our write reaches the disk
  const after = store.lease();
  if (after !== null && !isReleased)
    throw surroundingsError(`${renderHolder(project, after, now)}: it took the lease first.`);
  await store.published?.publish();
  const text = `Released the lease that ${lease.owner} held ${since(lease, now)}.`;
  answer(flags, io, { released: true, ...released, holder: after?.owner ?? null }, cleanLine(text));
  if (after !== null) io.say(cleanLine(`${after.owner} has taken the lease since.`));
  return EXIT.ok;
}

function ownerFlag({ owner }: LeaseFlags): string | null {
  if (owner?.trim() === "")
    throw usageError("--owner is empty. Write the owner as loop list --json shows it, such as session:<id>.");
  return owner ?? null;
}

/** The lease if this owner holds it; null: any owner. */
function leaseOf(project: Project, owner: string | null): Lease {
  const lease = project.store.lease();
  if (lease === null) throw surroundingsError("Nobody holds the lease of this project.");
  if (owner === null || lease.owner === owner) return lease;
  throw surroundingsError(`${renderHolder(project, lease, Date.now())}, not ${owner}.`);
}

/** A process on another machine counts as gone when it sends no heartbeat. */
function isGone({ store }: Project, lease: Lease, now: number): boolean {
  const state = store.holderState(lease, now);
  return state === "gone" || (state === "silent" && lease.host !== hostname());
}

function renderHolder({ store }: Project, lease: Lease, now: number): string {
  const beat = renderWhen(store.heartbeatAt(lease), now);
  const { owner, pid, host } = lease;
  return `${owner} (pid ${pid} on ${host}) holds the lease ${since(lease, now)}, last heartbeat ${beat}`;
}

function since({ acquiredAt }: Lease, now: number): string {
  return `since ${renderWhen(acquiredAt, now)}`;
}

function viewLease({ store }: Project, lease: Lease): object {
  const { owner, pid, procStart, host, token, acquiredAt } = lease;
  const heartbeatAt = iso(store.heartbeatAt(lease));
  return { owner, pid, procStart, host, token, acquiredAt: iso(acquiredAt), heartbeatAt };
}
