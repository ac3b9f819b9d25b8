/** Ends processes that a turn left behind while the agent itself stays. */
import type { ProcessRef } from "../../../core/loop.ts";
import { isAlive, procStart } from "../../../system/process.ts";
import { signalProcess } from "../../../system/process-table.ts";
import { type Tree, treeMembers } from "../../../system/process-tree.ts";

/** The processes of the agent now. The start time tells a process from a later one with the same pid. */
export function membersOf(tree: Tree): readonly ProcessRef[] {
  return treeMembers(tree).map((pid) => ({ pid, start: procStart(pid) }));
}

/** Ends the processes that are not in `before`, except one that cannot be killed. */
export async function endStrays(tree: Tree, before: readonly ProcessRef[], graceMs: number): Promise<void> {
  const known = new Set(before.map(({ pid, start }) => `${pid} ${start}`));
  for (const [signal, waitMs] of [["SIGTERM", graceMs], ...KILLS] as const) {
    // each time anew: a process may start another one before it ends
    const strays = membersOf(tree).filter(({ pid, start }) => !known.has(`${pid} ${start}`));
    if (strays.length === 0) return;
    for (const { pid } of strays) signalProcess(pid, signal);
    await goneWithin(strays, waitMs);
  }
}

const KILLS = Array.from({ length: 8 }, () => ["SIGKILL", 250] as const);

async function goneWithin(refs: readonly ProcessRef[], ms: number): Promise<void> {
  const until = performance.now() + ms;
  for (let pause = 5; refs.some(isAlive) && performance.now() < until; pause = Math.min(pause * 2, 50))
    await new Promise((resolve) => setTimeout(resolve, pause));
}
