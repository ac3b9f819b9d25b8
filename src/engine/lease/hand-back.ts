/** The last steps of an owner: write everything, end the loops of its session, release the lease. */
import type { LoopEvent } from "../../core/event.ts";
import type { LoopId } from "../../core/loop.ts";
import type { Lease } from "../../ports/store.ts";
import type { EngineParts } from "../parts.ts";
import { SESSION_ENDED, tasksOfSession } from "../recover.ts";

interface LastActs {
  undoForgeries(): Promise<void>;
  apply(id: LoopId, event: LoopEvent): Promise<unknown>;
  /** Resolves when all records of decisions are written. */
  settled(): Promise<void>;
}

/** `isLeft`: another process continues the loops of this session. */
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
  // the lease may be lost by now
  const lease = leaseNow();
  if (lease !== null) await store.release(lease.token, clock.now());
  await store.published?.publish();
}
