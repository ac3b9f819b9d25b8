/**
 * Refuses commands that only a person may use, when a turn uses them (J2). A process of a turn is known by its seal,
 * which it cannot remove (`system/seal.ts`), elsewhere by its environment and by the processes that started it.
 */
import { allGoals } from "../../engine/goals/goals.ts";
import { usageError } from "../../errors.ts";
import type { Store } from "../../ports/store.ts";
import { isDescendantOf } from "../../system/lineage.ts";
import { foundByHere, isSealed } from "../../system/seal.ts";
import type { Io } from "../io.ts";

/** For commands that change loops. */
export function refuseTurns(store: Store, what: string): void {
  const turn = turnAround(store);
  if (turn !== null) throw usageError(`Only a person can ${what}: this was called from inside ${turn}.`);
}

/** For answers that only a person may give. They need a terminal where the system cannot tell who asks. */
export function needPerson(store: Store, what: string, { interactive }: Pick<Io, "interactive">): void {
  refuseTurns(store, what);
  if (interactive || isTyped(store) || foundByHere() === "seal") return;
  // no turn can have left a process that asks now
  if ([...store.loops()].length === 0) return;
  throw usageError(
    `Only a person can ${what}: this system cannot tell who asks without a terminal.`,
    "Run the same command in a terminal.",
  );
}

/** The turn that started this process; null: none is known. */
function turnAround(store: Store): string | null {
  const turn = process.env.LOOP_FIRE_ID ?? "";
  const isMarked = turn !== "" || isSealed();
  if (!isMarked && isTyped(store)) return null;
  const goal = allGoals(store).find(
    ({ id, job }) => turn.startsWith(`${id}-`) || (job?.process && isDescendantOf(job.process.pid)),
  );
  if (goal !== undefined) return `a turn of goal ${goal.id}`;
  return isMarked || otherPids(store).some((pid) => isDescendantOf(pid)) ? "a turn of a loop" : null;
}

/** The processes of the turns of tasks and stories. */
function otherPids(store: Store): readonly number[] {
  return [...store.loops()].flatMap((loop) => {
    if (loop.kind === "task") return loop.fire?.process?.pid ?? [];
    return loop.kind === "backlog" ? loop.attempts.flatMap(({ job }) => job?.process?.pid ?? []) : [];
  });
}

/** Did the person type the command in a conversation? Then its client started this process. */
function isTyped({ sessions }: Store): boolean {
  const { LOOP_TYPED, LOOP_SESSION = "" } = process.env;
  if (LOOP_TYPED !== "1" || LOOP_SESSION === "") return false;
  // Windows does not tell which process started which
  if (process.platform === "win32") return true;
  const client = sessions.read(LOOP_SESSION)?.client.pid;
  return client !== undefined && isDescendantOf(client);
}
