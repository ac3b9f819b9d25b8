/** What agents really do with the protocol. The agent is a real process on the protocol's own SDK. */
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import type { AcpAgentOptions } from "../../../src/agents/acp/acp-agent.ts";
import { type AcpProfile, profileOf } from "../../../src/agents/acp/profiles.ts";
import { listenMcp, type McpHttp } from "../../../src/hosts/mcp/http.ts";
import type { PermissionRequest, Turn, TurnControl, TurnEnd } from "../../../src/ports/agent.ts";
import { failedAs, makeControl, makeWatcher } from "../../fixtures/agents/project.ts";
import { type AcpWorld, makeAcpWorld, workTurn } from "../../support/acp/acp-world.ts";
import { until } from "../../support/until.ts";

const SDK_SCRIPT = fileURLToPath(new URL("../../support/acp/acp-sdk-script.mjs", import.meta.url));

let world: AcpWorld;
beforeEach(async () => {
  world = await makeAcpWorld();
});
afterEach(() => world.close());

interface Parts {
  readonly nature?: object;
  readonly profile?: Partial<AcpProfile>;
  readonly env?: NodeJS.ProcessEnv;
  readonly options?: Partial<AcpAgentOptions>;
}

function scripted({ nature = {}, profile = {}, env = {}, options = {} }: Parts = {}) {
  const program = { command: `exec '${process.execPath}' '${SDK_SCRIPT}'` };
  const all = { PATH: process.env.PATH, ACP_AGENT: JSON.stringify(nature), ...env };
  return world.agent({ program, env: all, ...options }, nature, profile);
}

/** The requests of one method that the agent got, in order. */
const heard = (method: string): readonly Record<string, unknown>[] =>
  world
    .read("heard.jsonl")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((request) => request.method === method)
    .map(({ params }) => params);
const answers = () =>
  world
    .read("answers.jsonl")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const said = (end: TurnEnd): string => (end.kind === "cancelled" ? "" : end.answer);
const conversationOf = (end: TurnEnd) => (end.kind === "cancelled" ? null : end.conversation);
const JUDGE = { LOOP_KIND: "judge", LOOP_ROLE: "judge", LOOP_NONCE: "n0nce" };
const judgeTurn = (steps: Parameters<typeof workTurn>[0], turn: Partial<Turn> = {}) =>
  workTurn(steps, { env: JUDGE, ...turn });

describe("E3 an agent that asks for a login", () => {
  const keyMethod = { id: "api-key", name: "API key", _meta: { "api-key": { provider: "x" } } };
  const browser = { id: "web", name: "Log in with a browser" };
  const nature = { needsLogin: true, logins: [browser, keyMethod] };

  test("gets one by the method that needs no browser, once for all turns of its process", async () => {
    const agent = scripted({ nature });
    expect(said(await agent.run(workTurn([{ say: "in" }]), makeControl()))).toBe("in");
    expect(said(await agent.run(workTurn([{ say: "still in" }]), makeControl()))).toBe("still in");
    expect(heard("authenticate")).toEqual([{ methodId: "api-key" }]);
    expect(heard("session/new")).toHaveLength(3);
  });

  test("may continue a conversation after the login", async () => {
    const conversation = { id: "old", costUsd: null };
    const end = await scripted({ nature: { ...nature, load: true } }).run(
      workTurn([{ say: "again" }], { conversation }),
      makeControl(),
    );
    expect(end).toMatchObject({ kind: "ok", answer: "again", conversation: { id: "old" } });
  });

  test.each<[name: string, parts: Parts]>([
    ["needs a browser", { nature: { ...nature, logins: [browser] } }],
    [
      "needs a terminal",
      { nature: { ...nature, logins: [{ ...browser, type: "terminal", args: ["login"] }] } },
    ],
    [
      "needs a key that is not there",
      { nature, profile: { keyMethods: profileOf("codex").keyMethods ?? {} } },
    ],
    ["is unknown to the profile", { nature, profile: { keyMethods: { other: ["PATH"] } } }],
  ])("a method that %s is not tried, and the person is told the methods", async (_, parts) => {
    const end = await scripted(parts).run(workTurn([{ say: "x" }]), makeControl());
    const reason = expect.stringMatching(
      /^scripted: Authentication required; start the agent once by itself and log in \(methods: Log in with a browser \(web\)/,
    );
    expect(end).toMatchObject(failedAs("auth", reason));
    expect(heard("authenticate")).toEqual([]);
  });

  test("logs in with the key of its profile, or with the variables that the method names", async () => {
    const codex = { keyMethods: profileOf("codex").keyMethods ?? {} };
    await scripted({ nature, profile: codex, env: { OPENAI_API_KEY: "k" } }).run(
      workTurn([{ say: "x" }]),
      makeControl(),
    );
    const named = { id: "env", name: "Variables", type: "env_var", vars: [{ name: "SOME_KEY" }] };
    const byName = { nature: { needsLogin: true, logins: [named] }, env: { SOME_KEY: "k" } };
    await scripted(byName).run(workTurn([{ say: "x" }]), makeControl());
    expect(heard("authenticate")).toEqual([{ methodId: "api-key" }, { methodId: "env" }]);
  });

  test("a login that fails is not tried again", async () => {
    const parts = { nature: { ...nature, refusesLogin: "the key is revoked" } };
    const end = await scripted(parts).run(workTurn([{ say: "x" }]), makeControl());
    const reason = expect.stringMatching(/API key \(api-key\) failed: .*the key is revoked; start the agent/);
    expect(end).toMatchObject(failedAs("auth", reason));
    expect(heard("authenticate")).toHaveLength(1);
  });

  test("a login that ends during a prompt names the methods too", async () => {
    const steps = [{ error: { code: -32000, message: "Authentication required" } }];
    const end = await scripted({ nature: { logins: [browser] } }).run(workTurn(steps), makeControl());
    expect(end).toMatchObject(
      failedAs("auth", expect.stringContaining("(methods: Log in with a browser (web))")),
    );
  });
});

describe("E3 the mode of a turn", () => {
  const modes = {
    currentModeId: "ask",
    availableModes: ["ask", "write", "look"].map((id) => ({ id, name: id })),
  };
  const option = (currentValue: string) => ({
    id: "m",
    category: "mode",
    name: "Mode",
    type: "select",
    currentValue,
    options: ["ask", "write", "look"].map((value) => ({ value, name: value })),
  });
  const profile = { modes: { work: "write", look: "look" } };
  const changed = { update: { sessionUpdate: "current_mode_update", currentModeId: "write" } };

  test("is set again when the agent changed it in the turn before", async () => {
    const agent = scripted({ nature: { session: { modes } }, profile });
    const first = await agent.run(
      judgeTurn([{ say: "x" }, { after: [{ waitFor: "ended" }, changed] }]),
      makeControl(),
    );
    writeFileSync(world.path("ended"), "");
    await until(() => existsSync(world.path("late")), "the agent has changed its mode");
    await agent.run(judgeTurn([{ say: "x" }], { conversation: conversationOf(first) }), makeControl());
    expect(heard("session/set_mode").map(({ modeId }) => modeId)).toEqual(["look", "look"]);
  });

  test("a judge that leaves its read-only mode is put back at once", async () => {
    const agent = scripted({ nature: { session: { modes } }, profile });
    const end = agent.run(judgeTurn([changed, { waitFor: "go" }, { say: "x" }]), makeControl());
    await until(() => heard("session/set_mode").length === 2, "the mode is set again");
    writeFileSync(world.path("go"), "");
    expect(await end).toMatchObject({ kind: "ok", answer: "x" });
    expect(heard("session/set_mode").map(({ modeId }) => modeId)).toEqual(["look", "look"]);
  });

  test("the same for an agent whose mode is an option", async () => {
    const agent = scripted({ nature: { session: { configOptions: [option("ask")] } }, profile });
    const update = { sessionUpdate: "config_option_update", configOptions: [option("write")] };
    const end = agent.run(judgeTurn([{ update }, { waitFor: "go" }, { say: "x" }]), makeControl());
    await until(() => heard("session/set_config_option").length === 2, "the mode is set again");
    writeFileSync(world.path("go"), "");
    expect(await end).toMatchObject({ kind: "ok" });
    expect(heard("session/set_config_option").map(({ value }) => value)).toEqual(["look", "look"]);
  });

  test("a judge that cannot be put back has no verdict: the turn fails and its agent ends", async () => {
    const session = { modes: { ...modes, currentModeId: "look" } };
    const agent = scripted({ nature: { session, staysIn: "write" }, profile });
    const end = await agent.run(judgeTurn([changed, { waitFor: "never" }]), makeControl());
    expect(end).toMatchObject(failedAs("fault", expect.stringContaining("I stay in write")));
    expect(world.project.processes()).toEqual([]);
  });

  test("a judge whose agent only pretends to change its mode does not start", async () => {
    const nature = { session: { configOptions: [option("write")] }, staysIn: "write" };
    const end = await scripted({ nature, profile }).run(judgeTurn([{ say: "x" }]), makeControl());
    const reason = 'scripted: the agent stays in its mode "write" instead of "look"';
    expect(end).toMatchObject(failedAs("fault", reason));
    expect(heard("session/prompt")).toEqual([]);
  });
});

describe("E3 the model of a turn", () => {
  const option = (currentValue: string) => ({
    id: "model",
    category: "model",
    name: "Model",
    type: "select",
    currentValue,
    options: ["big", "small"].map((value) => ({ value, name: value })),
  });
  const update = { sessionUpdate: "config_option_update", configOptions: [option("big")] };

  test("the price is that of the model that the agent changed to, and the next turn sets it again", async () => {
    const agent = scripted({ nature: { session: { configOptions: [option("big")] } } });
    const first = await agent.run(workTurn([{ update }, { say: "x" }], { model: "small" }), makeControl());
    expect(first).toMatchObject({ kind: "ok", usage: { model: "big" } });
    const conversation = conversationOf(first);
    const next = await agent.run(workTurn([{ say: "x" }], { model: "small", conversation }), makeControl());
    expect(next).toMatchObject({ kind: "ok", usage: { model: "small" } });
    expect(heard("session/set_config_option").map(({ value }) => value)).toEqual(["small", "small"]);
  });

  test("the price is that of the model that the agent took instead of the requested one", async () => {
    const nature = { session: { configOptions: [option("big")] }, staysIn: "big" };
    const end = await scripted({ nature }).run(workTurn([{ say: "x" }], { model: "small" }), makeControl());
    expect(end).toMatchObject({ kind: "ok", usage: { model: "big" } });
  });
});

test.each([
  [2, "the agent speaks version 2 of the Agent Client Protocol"],
  [0, "the agent speaks version 0 of the Agent Client Protocol"],
])("E3 an agent with version %i of the protocol gets no prompt", async (version, words) => {
  const end = await scripted({ nature: { version } }).run(workTurn([{ say: "x" }]), makeControl());
  const reason = `scripted: ${words}; install a version of the agent that speaks version 1`;
  expect(end).toMatchObject(failedAs("fault", reason));
  expect(heard("session/new")).toEqual([]);
});

describe("E3 an agent that offers only a permanent permission", () => {
  const ask = (more: object) => ({
    toolCallId: "t",
    kind: "execute",
    title: "npm test",
    rawInput: { command: "npm test" },
    options: [{ optionId: "forever", name: "Always", kind: "allow_always" }],
    ...more,
  });
  const FOREVER = { outcome: "selected", optionId: "forever" };

  test("gets it where the rules allow the call, and the turn has it on record", async () => {
    const control = makeWatcher();
    const turn = workTurn([{ ask: ask({}) }, { say: "x" }], { commands: ["npm test"] });
    const end = await scripted().run(turn, control);
    expect(answers()).toEqual([FOREVER]);
    expect(end).toMatchObject({ kind: "ok", activity: { permanent: ["execute (npm test …)"], denials: [] } });
    expect(control.events.filter(({ type }) => type === "permission")).toEqual([
      { type: "permission", tool: "execute", answer: "allowed for the whole conversation" },
    ]);
  });

  test("does not get it where they do not", async () => {
    const end = await scripted().run(workTurn([{ ask: ask({}) }, { say: "x" }]), makeControl());
    expect(answers()).toEqual([{ outcome: "cancelled" }]);
    expect(end).toMatchObject({ activity: { denials: ["execute (npm test …)"] } });
    expect(end).not.toHaveProperty("activity.permanent");
  });

  test("the person who is asked is told that it is permanent", async () => {
    const requests: PermissionRequest[] = [];
    const askPerson: TurnControl["askPerson"] = async (request) => {
      requests.push(request);
      return "allow";
    };
    await scripted().run(workTurn([{ ask: ask({}) }, { say: "x" }]), { ...makeControl(), askPerson });
    expect(requests[0]?.title).toBe("npm test (for the whole conversation: the agent offers nothing less)");
    expect(answers()).toEqual([FOREVER]);
  });

  test("an agent that offers less gets less", async () => {
    const options = [
      { optionId: "forever", name: "Always", kind: "allow_always" },
      { optionId: "once", name: "Once", kind: "allow_once" },
    ];
    const turn = workTurn([{ ask: ask({ options }) }, { say: "x" }], { commands: ["npm test"] });
    expect(await scripted().run(turn, makeControl())).not.toHaveProperty("activity.permanent");
    expect(answers()).toEqual([{ outcome: "selected", optionId: "once" }]);
  });
});

describe("E3 $/cancel_request", () => {
  test("withdraws a question to a person, and the turn goes on", async () => {
    let isWithdrawn = false;
    const askPerson: TurnControl["askPerson"] = (_, signal) => {
      writeFileSync(world.path("asked"), "");
      return new Promise((done) =>
        signal.addEventListener("abort", () => {
          isWithdrawn = true;
          done("allow");
        }),
      );
    };
    const ask = {
      toolCallId: "t",
      kind: "execute",
      title: "deploy",
      rawInput: { command: "deploy" },
      options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
    };
    const turn = workTurn([{ ask, withdrawAt: "asked" }, { say: "on" }]);
    const end = await scripted().run(turn, { ...makeControl(), askPerson });
    expect(isWithdrawn).toBe(true);
    expect(answers()).toEqual([{ code: -32800 }]);
    expect(end).toMatchObject({ kind: "ok", answer: "on", activity: { denials: [] } });
  });

  test("tells an agent that nobody waits any more for an answer that is late", async () => {
    const agent = scripted({ nature: { hangAt: "session/new" }, options: { startMs: 1_500 } });
    const end = await agent.run(workTurn([{ say: "x" }]), makeControl());
    expect(end).toMatchObject(failedAs("outage", expect.stringContaining("did not answer session/new")));
    expect(heard("withdrawn")).toEqual([{ method: "session/new" }]);
  });
});

describe("E3 the engine's tools for an agent without MCP over HTTP", () => {
  let http: McpHttp;
  const calls: string[] = [];
  beforeEach(async () => {
    calls.length = 0;
    http = await listenMcp();
  });
  afterEach(() => http.close());
  const toolServer = {
    open: async () => {
      let turn: Turn | null = null;
      const tool = {
        name: "loop_status",
        description: "the turn",
        schema: z.object({}),
        async run() {
          calls.push(turn?.id ?? "none");
          return { text: `turn ${turn?.id}` };
        },
      };
      const offer = { name: "loopwright", version: "1", tools: [tool] };
      const { headers, close, bind } = http.admit(() => offer);
      const serve = (next: Turn | null) => {
        turn = next;
      };
      return { url: http.url, headers, serve, bind, close };
    },
  };
  const call = { call: { name: "loop_status", arguments: {} } };

  test("come over stdio, for each turn of the conversation; the token is in no argument", async () => {
    const agent = scripted({ options: { toolServer } });
    const turn = workTurn([call]);
    const first = await agent.run(turn, makeControl());
    expect(said(first)).toContain(`turn ${turn.id}`);
    const next = workTurn([call], { conversation: conversationOf(first) });
    expect(said(await agent.run(next, makeControl()))).toContain(`turn ${next.id}`);
    expect(calls).toEqual([turn.id, next.id]);
    const opened = JSON.stringify(heard("session/new")[0]?.mcpServers);
    const [, token = "-"] = /Bearer ([\w-]{20,})/.exec(opened) ?? [];
    expect(opened.split(token)).toHaveLength(2);
    expect(opened.indexOf(token)).toBeGreaterThan(opened.indexOf('"env"'));
    await agent.close();
    expect(world.project.processes()).toEqual([]);
  });

  test("an agent with both gets them over HTTP", async () => {
    await scripted({ nature: { http: true }, options: { toolServer } }).run(
      workTurn([{ say: "x" }]),
      makeControl(),
    );
    expect(heard("session/new")[0]?.mcpServers).toMatchObject([{ type: "http", url: http.url }]);
  });
});

describe("E3 what an agent tells besides its answer", () => {
  const notice = (severity: string) => ({
    update: { sessionUpdate: "notice", severity, title: "The model is busy", description: "Trying\nagain" },
  });

  test("an error or a warning is shown to the person; information is not", async () => {
    const control = makeWatcher();
    const steps = [notice("error"), notice("warning"), notice("info"), { say: "x" }];
    expect(await scripted().run(workTurn(steps), control)).toMatchObject({ kind: "ok", answer: "x" });
    const text = "The model is busy: Trying again";
    expect(control.events.filter(({ type }) => type === "notice")).toEqual([
      { type: "notice", severity: "error", text },
      { type: "notice", severity: "warning", text },
    ]);
  });

  test("a turn without an answer fails with the error that the agent showed", async () => {
    const end = await scripted().run(workTurn([notice("error")]), makeControl());
    const reason = "scripted: the agent ended the turn without an answer: The model is busy: Trying again";
    expect(end).toMatchObject(failedAs("fault", reason));
  });

  test("a message of links and resources is an answer", async () => {
    const link = {
      type: "resource_link",
      uri: "file:///p/report.md",
      name: "report.md",
      title: "The report",
    };
    const resource = {
      type: "resource",
      resource: { uri: "file:///p/b.txt", text: "b", mimeType: "text/plain" },
    };
    const end = await scripted().run(workTurn([{ content: link }, { content: resource }]), makeControl());
    expect(end).toMatchObject({ kind: "ok" });
    expect(said(end).trim().split(/\n+/)).toEqual([
      "[The report](file:///p/report.md)",
      "[file:///p/b.txt](file:///p/b.txt)",
    ]);
  });

  test("a picture alone is no answer", async () => {
    const content = { type: "image", data: "AA==", mimeType: "image/png" };
    const end = await scripted().run(workTurn([{ content }]), makeControl());
    expect(end).toMatchObject(failedAs("fault", "scripted: the agent ended the turn without an answer"));
  });
});
