import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeControl } from "../../fixtures/agents/project.ts";
import { type AcpWorld, makeAcpWorld, workTurn } from "../../support/acp/acp-world.ts";
import { until } from "../../support/until.ts";

const SDK_AGENT = fileURLToPath(new URL("../../support/acp/acp-sdk-agent.mjs", import.meta.url));

let world: AcpWorld;
beforeEach(async () => {
  world = await makeAcpWorld();
});
afterEach(() => world.close());

test("E3 an agent on the protocol's own SDK understands us, and we it", async () => {
  const access = {
    url: "http://127.0.0.1:1/",
    headers: { authorization: "x" },
    serve: () => {},
    bind: () => {},
    close: () => {},
  };
  const agent = world.agent(
    {
      program: { command: `exec '${process.execPath}' '${SDK_AGENT}'` },
      toolServer: { open: async () => access },
    },
    {},
    { modes: { work: "code", look: "ask" } },
  );
  expect(await agent.run(workTurn(world.path("a.txt")), makeControl())).toEqual({
    kind: "ok",
    answer: "yes -32601",
    usage: null,
    conversation: { id: "sdk-1", costUsd: null },
    activity: { toolCalls: 1, edits: { "a.txt": 1 }, reads: [], denials: [] },
  });
  const control = makeControl();
  const end = agent.run(workTurn("hang"), control);
  await until(() => control.started.length > 0, "the prompt is out");
  control.abort();
  expect(await end).toMatchObject({ kind: "cancelled" });
});
