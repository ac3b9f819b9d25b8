/** No slot without a line: what every single change of a task must keep (A10, invariant 1). */
import { expect } from "vitest";
import type { LoopChange, LoopEvent, Outcome } from "../../src/core/event.ts";
import type { Task } from "../../src/core/loop.ts";
import { slotRun } from "../../src/core/task/slots.ts";

/**
 * When the cursor moves from c to d in one era, every slot of the cadence in (c, d] that lies before the expiry is
 * the one that is delivered or is in exactly one outcome line of the same change. A new cadence begins at the moment
 * of the edit: slots of the old one up to it have their line there. The cursor goes back only to reopen a withdrawn
 * slot, or together with a new era.
 */
export function checkAccounts(
  before: Task,
  event: LoopEvent,
  { loop, outcomes }: Pick<LoopChange<Task>, "loop" | "outcomes">,
  now: number,
): void {
  const isNewCadence = event.type === "task.edited" && event.edit.cadence !== undefined;
  if (!isNewCadence && loop.era === before.era && loop.cursorAt < before.cursorAt) {
    expect(event.type).toBe("fire.withdrawn");
    expect(loop.cursorAt).toBe((before.fire?.slot ?? 0) - 1);
    return;
  }
  if (loop.cursorAt < before.cursorAt) expect(loop.era).toBe(before.era + 1);
  const until = isNewCadence ? now : loop.cursorAt;
  const expires = before.expiresAt !== null && before.cadence.kind !== "once";
  const run = slotRun(
    before.cadence,
    before.cursorAt,
    expires ? Math.min(until, before.expiresAt ?? 0) : until,
  );
  if (loop.era !== before.era && !isNewCadence) return;
  for (const slot of run?.listed ?? []) {
    const isFired = before.fire === null && loop.fire?.slot === slot && loop.fire.kind !== "manual";
    const covering = outcomes.filter((line) => line.kind === "scheduled" && covers(line, slot));
    expect(covering.length + Number(isFired), `slot ${slot} of ${JSON.stringify(before.cadence)}`).toBe(1);
  }
  const counted = outcomes.reduce(
    (sum, line) => sum + (line.kind === "scheduled" ? (line.count ?? 1) : 0),
    0,
  );
  const settled = event.type.startsWith("fire.") ? counted : 0;
  const fired = before.fire === null && run !== null && loop.fire?.slot === run.last ? 1 : 0;
  if (run !== null && run.count > run.listed.length) expect(counted - settled + fired).toBe(run.count);
}

function covers(line: Outcome, slot: number): boolean {
  return line.untilSlot === undefined ? line.slot === slot : line.slot <= slot && slot <= line.untilSlot;
}

/** At most one line per fire, over a whole history. */
export function checkLines(outcomes: readonly Outcome[]): void {
  const ids = outcomes.map(({ fireId }) => fireId);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
}
