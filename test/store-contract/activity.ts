/** What a turn does, read by another process while it runs. */
import { expect, test } from "vitest";
import { idOf } from "../store/fixtures/tasks.ts";
import type { UseWorld } from "./world.ts";

const TURN = { loopId: idOf(0xa), turnId: "0000000a-1" };
const LINES = ["I look at the tests.", "One fails.", "I mend it."];

function said(from: number, to: number) {
  return LINES.slice(from, to).map((text) => ({ type: "text", text }));
}

export function activityContract(use: UseWorld): void {
  test("another process reads what a turn did, and goes on from its cursor", async () => {
    const world = await use();
    const [runner, reader] = [await world.open(), await world.open()];
    const { activity } = reader.store;
    expect(await activity?.read(TURN)).toBeNull();
    await world.speak(runner, TURN, LINES.slice(0, 2));
    const first = await activity?.read(TURN);
    expect(first).toMatchObject({ events: said(0, 2), hasGap: false });
    await world.speak(runner, TURN, LINES.slice(2));
    const after = first?.next ?? "";
    expect(await activity?.read(TURN, { after })).toMatchObject({ events: said(2, 3) });
    const one = await activity?.read(TURN, { limit: 1 });
    expect(one?.events).toEqual(said(0, 1));
    const rest = await activity?.read(TURN, { after: one?.next ?? "" });
    expect(rest?.events).toEqual(said(1, 3));
    expect(await activity?.read({ ...TURN, turnId: "0000000a-2" })).toBeNull();
  });
}
