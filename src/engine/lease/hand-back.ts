/** What an owner does last: everything is on disk, loops that live with it end, the lease is free. */
import type { LoopEvent } from "../../core/event.ts";
import type { LoopId } from "../../core/loop.ts";
import type { Lease } from "../../ports/store.ts";
import type { EngineParts } from "../parts.ts";
import { SESSION_ENDED, tasksOfSession } from "../recover.ts";

export interface LastActs {
  undoForgeries(): Promise<void>;
  apply(id: LoopId, event: LoopEvent): Promise<unknown>;
  /** What decisions left to be written down. */
  settled(): Promise<void>;
}

/** `isLeft`: another process goes on with what lives here. */
export async function handBack(
  { store, clock, self, goals }: EngineParts,
  leaseNow: () => Lease | null,
  isLeft: boolean,
  { undoForgeries, apply, settled }: LastActs,
): Promise<void> {
  if (leaseNow() === null) return;
  await store.catchUp();
  await undoForgeries();
  for (const id of isLeft ? [] : tasksOfSession(store, self.owner)) await apply(id, SESSION_ENDED);
  await goals?.checkpoints.settle();
  await settled();
  // it may have been lost on the way
  const lease = leaseNow();
  if (lease !== null) await store.release(lease.token, clock.now());
  await store.published?.publish();
}
