import { mkdirSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realPlaceOf } from "../../../src/agents/acp/ask.ts";
import type { ToolCall } from "../../../src/agents/acp/connection/messages.ts";
import { denialOf } from "../../../src/agents/acp/tool-call.ts";
import type { PermissionRequest, TurnControl } from "../../../src/ports/agent.ts";
import { failedAs, makeControl, makeWatcher } from "../../fixtures/agents/project.ts";
import { type AcpWorld, makeAcpWorld, workTurn } from "../../support/acp/acp-world.ts";
import { until } from "../../support/until.ts";

let world: AcpWorld;
beforeEach(async () => {
  world = await makeAcpWorld();
});
afterEach(() => world.close());

const edit = (path: string) => ({
  toolCallId: "t",
  kind: "edit",
  title: "Write it",
  content: [{ type: "diff", path, oldText: null, newText: "x" }],
});
const command = (line: string) => ({
  toolCallId: "t",
  kind: "execute",
  title: line,
  rawInput: { command: line },
});
const chosen = () =>
  world
    .read("answers.jsonl")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).outcome);
const YES = { outcome: "selected", optionId: "yes" };
const NO = { outcome: "selected", optionId: "no" };

describe("E3 the permission that an agent asks for", () => {
  test("is granted once, by the kind of the option and not by its order", async () => {
    const turn = workTurn([
      { ask: edit(world.path("a.txt")) },
      { ask: { ...edit("/etc/passwd"), toolCallId: "u" } },
      { say: "x" },
    ]);
    const control = makeWatcher();
    const end = await world.agent().run(turn, control);
    expect(chosen()).toEqual([YES, NO]);
    expect(end).toMatchObject({ kind: "ok", activity: { denials: ["edit"], toolCalls: 2, edits: {} } });
    expect(control.events.filter(({ type }) => type === "permission")).toEqual([
      { type: "permission", tool: "edit", answer: "denied" },
    ]);
  });

  test("is granted for a command of the checks, and for no other command", async () => {
    const turn = workTurn(
      [
        { ask: command("npm test") },
        { ask: command("npm test && rm -rf /") },
        { ask: { ...command("x"), rawInput: { command: ["/bin/bash", "-lc", "npm test"] } } },
        { say: "x" },
      ],
      { commands: ["npm test"] },
    );
    await world.agent().run(turn, makeControl());
    expect(chosen()).toEqual([YES, NO, YES]);
  });

  test("is asked of a person who is present, who may allow or deny it", async () => {
    const requests: PermissionRequest[] = [];
    const askPerson: TurnControl["askPerson"] = async (request) => {
      requests.push(request);
      return request.command === "deploy" ? "allow" : "deny";
    };
    const control = { ...makeWatcher(), askPerson };
    const steps = [{ ask: command("deploy"), thenWrite: "allowed" }, { ask: command("drop") }, { say: "x" }];
    const end = await world.agent().run(workTurn(steps), control);
    expect(chosen()).toEqual([YES, NO]);
    expect(requests[0]).toEqual({ tool: "execute", title: "deploy", paths: [], command: "deploy" });
    expect(end).toMatchObject({ kind: "ok", activity: { denials: ["execute (drop …)"] } });
    expect(
      control.events
        .filter(({ type }) => type === "permission")
        .map((event) => event.type === "permission" && event.answer),
    ).toEqual(["asked", "asked", "denied"]);
  });

  test("is no longer asked of the person when the turn is cancelled", async () => {
    let withdrawn = false;
    const control = makeControl();
    let asked = false;
    const askPerson: TurnControl["askPerson"] = (_, signal) => {
      asked = true;
      return new Promise((done) =>
        signal.addEventListener("abort", () => {
          withdrawn = true;
          done("deny");
        }),
      );
    };
    const end = world
      .agent()
      .run(workTurn([{ ask: command("deploy") }, { hang: true }]), { ...control, askPerson });
    await until(() => asked, "the person is asked");
    control.abort();
    expect(await end).toMatchObject({ kind: "cancelled" });
    expect(withdrawn).toBe(true);
    expect(world.project.processes()).toEqual([]);
  });

  test("a person may take longer than an agent may be silent", async () => {
    const control = makeControl();
    const askPerson: TurnControl["askPerson"] = async () => {
      const begun = performance.now();
      await until(() => performance.now() - begun > 900, "the person has thought about it");
      return "allow";
    };
    const agent = world.agent({ silenceMs: 300 });
    const end = await agent.run(workTurn([{ ask: command("deploy") }, { say: "x" }]), {
      ...control,
      askPerson,
    });
    expect(end).toMatchObject({ kind: "ok" });
  });

  test("a judge may only read, unless the rules allow more", async () => {
    const env = { LOOP_ROLE: "judge", LOOP_NONCE: "n" };
    const steps = [
      { ask: { toolCallId: "r", kind: "read", title: "Read", locations: [{ path: world.path("a.txt") }] } },
      { ask: edit(world.path("a.txt")) },
      { ask: command("npm test") },
      { say: "x" },
    ];
    await world.agent().run(workTurn(steps, { env, commands: ["npm test"] }), makeControl());
    await world
      .agent({ permissions: { execute: { "npm *": "allow" } } })
      .run(workTurn(steps, { env }), makeControl());
    expect(chosen()).toEqual([YES, NO, NO, YES, NO, YES]);
  });

  test("a call that says it reads but runs or writes counts as a command or an edit", async () => {
    const steps = [
      { ask: { ...command("rm -rf x"), kind: "read" } },
      { ask: { ...edit("/etc/passwd"), kind: "read" } },
      { ask: { toolCallId: "w", kind: "edit", title: "of I do not say what" } },
      { say: "x" },
    ];
    await world.agent().run(workTurn(steps), makeControl());
    expect(chosen()).toEqual([NO, NO, NO]);
  });

  test("the engine's own tools need no permission when the session has them", async () => {
    const served: (string | null)[] = [];
    const bound: number[] = [];
    const control = makeControl();
    const toolServer = {
      open: async () => ({
        url: "http://127.0.0.1:1/mcp",
        headers: { authorization: "Bearer token" },
        serve: (turn: { id: string } | null) => void served.push(turn?.id ?? null),
        bind: ({ pid }: { pid: number }) => void bound.push(pid),
        close: () => void served.push("closed"),
      }),
    };
    const own = (title: string) => ({ toolCallId: title, kind: "other", title });
    const titles = [
      "mcp__loopwright__loop_report",
      "mcp.loopwright.loop_report",
      "loop_report (loopwright MCP Server)",
      "loopwright_loop_report",
    ];
    const steps = [...titles, "run loopwright_x now"].map((title) => ({ ask: own(title) }));
    const turn = workTurn([...steps, { say: "x" }]);
    const agent = world.agent({ toolServer });
    const end = await agent.run(turn, control);
    expect(chosen()).toEqual([YES, YES, YES, YES, NO]);
    // a report is no work (B7); what only sounds like one is
    expect(end).toMatchObject({ kind: "ok", activity: { toolCalls: 1 } });
    const open = world.sent().find(({ method }) => method === "session/new");
    expect(open?.params?.mcpServers).toEqual([
      {
        type: "http",
        name: "loopwright",
        url: "http://127.0.0.1:1/mcp",
        headers: [{ name: "authorization", value: "Bearer token" }],
      },
    ]);
    expect(served).toEqual([turn.id, null]);
    expect(bound).toEqual([control.started[0]?.pid]);
    await agent.close();
    expect(served).toEqual([turn.id, null, "closed"]);
    await world.agent().run(workTurn([{ ask: own(titles[0] ?? "") }, { say: "x" }]), makeControl());
    expect(chosen().at(-1)).toEqual(NO);
  });

  test("B7 a report without a message ends the turn and counts as no work", async () => {
    const own = (more: object) => ({ toolCallId: "r", title: "loopwright_loop_report", ...more });
    const ends = await Promise.all(
      [own({ kind: "other" }), own({ kind: "execute", rawInput: { command: "loopwright_loop_report" } })].map(
        (call) => world.agent().run(workTurn([{ ask: call }]), makeControl()),
      ),
    );
    expect(ends).toMatchObject([
      { kind: "ok", activity: { toolCalls: 0 } },
      { kind: "ok", activity: { toolCalls: 1 } },
    ]);
  });

  test("a turn that ends with a denial fails as denied", async () => {
    const steps = [{ say: "I try" }, { ask: command("deploy") }];
    const ends = await world.agent({}, {}, { afterDenial: "ends" }).run(workTurn(steps), makeControl());
    expect(ends).toMatchObject(failedAs("denied", "scripted: no permission to use execute (deploy …)"));
    const cancels = [...steps, { result: { stopReason: "cancelled" } }];
    expect(await world.agent().run(workTurn(cancels), makeControl())).toMatchObject(
      failedAs("denied", expect.any(String)),
    );
  });
});

describe("H4 where a path leads to", () => {
  test("links and dots are followed, also above a file that does not exist yet", () => {
    const { dir } = world;
    mkdirSync(world.path("src"));
    symlinkSync("/etc", world.path("out"));
    symlinkSync("src", world.path("in"));
    symlinkSync("/nowhere/at/all", world.path("dangling"));
    const inProject = (path: string) => realPlaceOf(path, dir).inProject;
    expect(inProject(`${dir}/src/new/a.txt`)).toBe("src/new/a.txt");
    expect(inProject(`${dir}/in/a.txt`)).toBe("src/a.txt");
    expect(inProject(`${dir}/src/../../x`)).toBe(null);
    expect(inProject(`${dir}/out/passwd`)).toBe(null);
    expect(inProject(`${dir}/out/new/folder`)).toBe(null);
    expect(inProject(`${dir}/dangling`)).toBe(null);
    expect(inProject(`${dir}-beside/x`)).toBe(null);
    expect(inProject("/")).toBe(null);
    expect(realPlaceOf(`${dir}/out/passwd`, dir).absolute).toBe("/etc/passwd");
  });

  test("a write through such a link is denied", async () => {
    symlinkSync("/etc", world.path("out"));
    await world
      .agent()
      .run(
        workTurn([
          { ask: edit(world.path("out/passwd")) },
          { ask: edit(world.path(".loop/state.json")) },
          { say: "x" },
        ]),
        makeControl(),
      );
    expect(chosen()).toEqual([NO, NO]);
  });
});

test.each([
  ["npm publish --otp 123456", "execute (npm publish …)"],
  ["curl -H 'Authorization: Bearer s3cret' https://x", "execute (curl …)"],
  ["TOKEN=s3cret ./deploy", "execute"],
  ["$(cat key)", "execute"],
  ["mysql -ps3cret", "execute (mysql …)"],
])("E3 H3 of a denied `%s` the record has %s", (command, denial) => {
  expect(denialOf({ toolCallId: "1", kind: "execute", rawInput: { command } } as ToolCall)).toBe(denial);
});
