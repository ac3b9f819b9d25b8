/**
 * Loops as earlier versions wrote them, with what they lacked. A field that is new in `core/loop.ts` gets a line
 * here and a journal from before it under test/journals; no line here is ever removed.
 */
import type { Loop } from "../../core/loop.ts";

export function upgradeLoop(loop: Loop): Loop {
  // before notices were kept until they were handed over
  const noticed = loop.notice === undefined ? { ...loop, notice: null } : loop;
  // before there were conversations to run in
  const isOldTask = noticed.kind !== "goal" && noticed.kind !== "backlog" && noticed.where === undefined;
  return isOldTask ? { ...noticed, where: "either" } : noticed;
}
