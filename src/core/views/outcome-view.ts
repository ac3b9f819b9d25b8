/** The outcome of a slot as other programs see it: in `loop history --json` and in the changes of a loop. */
import type { Outcome } from "../event.ts";
import { iso, momentOf } from "./moment.ts";

export interface OutcomeView
  extends Omit<Outcome, "slot" | "dueAt" | "startedAt" | "finishedAt" | "untilSlot"> {
  readonly slot: string;
  readonly dueAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** With `count`: the last slot of the run. */
  readonly untilSlot?: string;
}

export function viewOutcome(line: Outcome): OutcomeView {
  return {
    fireId: line.fireId,
    taskId: line.taskId,
    slot: iso(line.slot),
    dueAt: iso(line.dueAt),
    outcome: line.outcome,
    kind: line.kind,
    reason: line.reason,
    startedAt: momentOf(line.startedAt),
    finishedAt: momentOf(line.finishedAt),
    ...(line.usage === undefined ? {} : { usage: line.usage }),
    ...(line.takenBy === undefined ? {} : { takenBy: line.takenBy }),
    ...(line.foundBy === undefined ? {} : { foundBy: line.foundBy }),
    ...(line.count === undefined ? {} : { count: line.count, untilSlot: iso(line.untilSlot ?? line.slot) }),
  };
}
