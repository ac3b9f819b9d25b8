/** What a turn does, read by another process while it runs. For stores that keep it themselves. */
import { expect, test } from "vitest";
import type { AgentEvent } from "../../src/ports/agent.ts";
import { idOf } from "../store/fixtures/tasks.ts";
import type { UseWorld } from "./world.ts";

const TURN = { loopId: idOf(0xa), turnId: "0000000a-1" };
const EVENTS: readonly AgentEvent[] = [
  { type: "text", text: "I look at the tests." },
  { type: "tool", name: "Read", detail: "test/a.test.ts" },
  { type: "file", path: "src/a.ts" },
];

export function activityContract(use: UseWorld): void {
  test("another process reads what a turn did, and goes on from its cursor", async ({ skip }) => {
    const world = await use();
    const [runner, reader] = [await world.open(), await world.open()];
    const { activity } = runner.store;
    if (activity === undefined || reader.store.activity === undefined) return skip("it keeps none");
    expect(await reader.store.activity.read(TURN)).toBeNull();
    activity.append(TURN, EVENTS.slice(0, 2));
    const first = await reader.store.activity.read(TURN);
    expect(first).toMatchObject({ events: EVENTS.slice(0, 2), hasGap: false });
    activity.append(TURN, EVENTS.slice(2));
    const after = first?.next ?? "";
    expect(await reader.store.activity.read(TURN, { after })).toMatchObject({ events: EVENTS.slice(2) });
    const one = await reader.store.activity.read(TURN, { limit: 1 });
    expect(one?.events).toEqual(EVENTS.slice(0, 1));
    const rest = await reader.store.activity.read(TURN, { after: one?.next ?? "" });
    expect(rest?.events).toEqual(EVENTS.slice(1));
    expect(await reader.store.activity.read({ ...TURN, turnId: "0000000a-2" })).toBeNull();
  });
}
