/** The tools of an agent whose turn is known: each role says what is its own to say, for its own work, and no more. */
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { LoopId } from "../../src/core/loop.ts";
import { describeTool } from "../../src/hosts/mcp/tool.ts";
import type { Turn } from "../../src/ports/agent.ts";
import { turnTools } from "../../src/tools/turn-tools.ts";
import { EVALUATORS_NONCE, makeTurnWorld, NOW, type Role, TOKEN } from "../support/turn-world.ts";

const ALL = ["CronCreate", "CronDelete", "CronList", "Wakeup", "loop_report", "loop_status", "loop_verdict"];
const CALL = { signal: new AbortController().signal, isFromModel: true };

async function open(ownToken: number | null = TOKEN) {
  const world = await makeTurnWorld();
  const context = {
    store: world.store,
    now: () => NOW,
    newId: () => "dddd0001",
    tz: "UTC",
    maxTasks: 50,
    expiresMs: null,
    turnTimeoutMs: 3_600_000,
    jitter: false,
    ownToken: () => ownToken,
  };
  const toolsFor = (turn: Turn | null) => turnTools(context, turn);
  return {
    ...world,
    toolsFor,
    async call(turn: Turn | null, name: string, input: object = {}) {
      const tool = toolsFor(turn).find((one) => one.name === name);
      if (tool === undefined) throw new Error(`there is no tool ${name}`);
      const { text, isError = false } = await tool.run(input, CALL);
      return isError ? text : (JSON.parse(text) as Record<string, unknown>);
    },
    goal(turn: Turn) {
      const loop = world.store.load(turn.loopId);
      if (loop?.kind !== "goal") throw new Error("no goal");
      return loop;
    },
    verdicts(turn: Turn) {
      const loop = world.store.load(turn.loopId);
      return loop?.kind === "backlog" ? loop.attempts[0]?.job?.verdicts : "no backlog";
    },
  };
}

describe("E3 what each role is given", () => {
  test.each<[Role, readonly string[]]>([
    ["paced", ["CronCreate", "CronDelete", "CronList", "Wakeup", "loop_status"]],
    ["once", ["CronCreate", "CronDelete", "CronList", "loop_status"]],
    ["work", ["CronCreate", "CronDelete", "CronList", "loop_report", "loop_status"]],
    ["plan", ["CronList", "loop_report", "loop_status"]],
    ["precheck", ["CronList", "loop_status"]],
    ["judge", ["CronList", "loop_status"]],
    ["generator", ["CronCreate", "CronDelete", "CronList", "loop_status"]],
    ["evaluator", ["CronList", "loop_status", "loop_verdict"]],
  ])("C5 C6 A17 B10 %s: the model is told of %j, and no other takes its word", async (role, mine) => {
    const { turns, toolsFor, call, store } = await open();
    const turn = await turns[role]();
    const tools = toolsFor(turn);
    expect(tools.map(({ name }) => name)).toEqual(ALL);
    expect(tools.filter(({ isListed }) => isListed).map(({ name }) => name)).toEqual(mine);
    const before = JSON.stringify([...store.loops()]);
    for (const name of ALL.filter((one) => !mine.includes(one)))
      expect(await call(turn, name, INPUTS[name]), name).toMatch(/is only for|is read-only/);
    expect(JSON.stringify([...store.loops()])).toBe(before);
    for (const name of mine.filter((one) => INPUTS[one] !== undefined && one !== "CronDelete"))
      expect(await call(turn, name, INPUTS[name]), name).toEqual(expect.any(Object));
  });

  test("E3 all cost a model little, and the two that end a turn are always loaded", async () => {
    const { toolsFor } = await open();
    const tools = toolsFor(null);
    expect(tools.filter(({ isListed }) => isListed).map(({ name }) => name)).toEqual(ALL);
    const loaded = tools.filter(({ alwaysLoad }) => alwaysLoad).map(({ name }) => name);
    expect(loaded).toEqual(["Wakeup", "loop_report", "loop_verdict"]);
    expect(JSON.stringify(tools.map(describeTool)).length).toBeLessThan(6_000);
    const { inputSchema } = describeTool(tools[4] as (typeof tools)[0]) as {
      inputSchema: { required: string[] };
    };
    expect(inputSchema.required).toEqual(["exit_signal"]);
  });

  test("E3 between two turns every call is refused, and nothing is changed", async () => {
    const { call, store } = await open();
    for (const name of ALL) expect(await call(null, name, INPUTS[name])).toMatch(/^No turn is running/);
    expect([...store.loops()]).toEqual([]);
  });
});

const INPUTS: Readonly<Record<string, object>> = {
  CronCreate: { cron: "*/5 * * * *", prompt: "look" },
  CronDelete: { id: "aaaa0001" },
  CronList: {},
  Wakeup: { stop: true },
  loop_report: { exit_signal: true },
  loop_verdict: { verdict: "PASS" },
};

describe("loop_report", () => {
  test("B10 it needs no nonce, is for the goal of the turn, and is a claim like any other", async () => {
    const { turns, call, goal } = await open();
    const [one, other] = [await turns.work(), await turns.plan()];
    const input = { exit_signal: true, steps: ["a", " b "], next: "none" };
    expect(await call(one, "loop_report", input)).toEqual({ taken: "as a claim" });
    expect(goal(one).job?.reported).toMatchObject({ exitSignal: true, steps: ["a", "b"], next: "none" });
    expect(goal(other).job?.reported).toBeNull();
    expect(goal(one)).toMatchObject({ status: "active", exitSignal: goal(other).exitSignal });
  });

  test("B10 the nonce of the turn is taken, another one is refused, also that of another goal's turn", async () => {
    const { turns, call, goal } = await open();
    const [one, other] = [await turns.work(), await turns.plan()];
    for (const nonce of ["wrong", "", goal(other).job?.nonce])
      expect(await call(one, "loop_report", { exit_signal: true, nonce })).toMatch(/belongs to another turn/);
    expect([goal(one), goal(other)].map(({ job }) => job?.reported)).toEqual([null, null]);
    expect(await call(one, "loop_report", { exit_signal: false, nonce: goal(one).job?.nonce })).toEqual({
      taken: "as a claim",
    });
  });

  test.each([
    ["of another id", (turn: Turn) => ({ ...turn, id: `${turn.id}1` })],
    ["of an owner before", (turn: Turn) => ({ ...turn, token: 0 })],
    ["of a loop that is gone", (turn: Turn) => ({ ...turn, loopId: "eeee0001" as LoopId })],
  ])("B10 a turn %s reports on nothing", async (_, change) => {
    const { turns, call, goal } = await open();
    const turn = await turns.work();
    expect(await call(change(turn), "loop_report", { exit_signal: true })).toMatch(
      /This turn is a different one/,
    );
    expect(goal(turn).job?.reported).toBeNull();
  });
});

describe("loop_verdict", () => {
  const reject = { verdict: "REJECT", reason: "a.ts:3\nthrows" };

  test("C6 it is on record for the evaluator's job, with its reason in one line", async () => {
    const { turns, call, verdicts } = await open();
    const turn = await turns.evaluator();
    expect(await call(turn, "loop_verdict", reject)).toEqual({ taken: "REJECT" });
    expect(await call(turn, "loop_verdict", { ...reject, nonce: EVALUATORS_NONCE })).toEqual({
      taken: "REJECT",
    });
    expect(verdicts(turn)).toEqual([{ nonce: EVALUATORS_NONCE, verdict: "REJECT", reason: "a.ts:3 throws" }]);
  });

  test("C6 who says both is told that it is no verdict, and both stay on record", async () => {
    const { turns, call, verdicts } = await open();
    const turn = await turns.evaluator();
    await call(turn, "loop_verdict", reject);
    expect(await call(turn, "loop_verdict", { verdict: "PASS" })).toEqual({
      taken: "PASS",
      warning: expect.stringContaining("both PASS and REJECT"),
    });
    for (let n = 0; n < 20; n++) await call(turn, "loop_verdict", { verdict: "REJECT", reason: `no ${n}` });
    expect(verdicts(turn)).toMatchObject([
      { verdict: "PASS", reason: null },
      { verdict: "REJECT", reason: "no 19" },
    ]);
  });

  test.each([
    [{ verdict: "REJECT" }, /^reason: say what is wrong/],
    [{ verdict: "REJECT", reason: " " }, /^reason: say what is wrong/],
    [{ verdict: "pass" }, /^verdict: /],
    [{ verdict: "PASS", story: "US-1" }, /story/],
    [{ verdict: "PASS", nonce: "another" }, /not the nonce of this turn/],
    [{ verdict: "PASS", nonce: "" }, /not the nonce of this turn/],
  ])("C6 H5 %j is refused in a sentence and counts for nothing", async (input, sentence) => {
    const { turns, call, verdicts } = await open();
    const turn = await turns.evaluator();
    expect(await call(turn, "loop_verdict", input)).toMatch(sentence);
    expect(verdicts(turn)).toBeUndefined();
  });

  test.each([
    ["no lease", null],
    ["an old one", 0],
  ])("C5 with %s nobody gives a verdict: an agent could write such a line by itself", async (_, token) => {
    const { turns, call, verdicts } = await open(token);
    const turn = await turns.evaluator();
    expect(await call(turn, "loop_verdict", { verdict: "PASS" })).toMatch(
      /does not run the backlog any more/,
    );
    expect(verdicts(turn)).toBeUndefined();
  });
});

describe("tasks", () => {
  test("A17 Wakeup is for the fire of the turn", async () => {
    const { turns, call, store } = await open();
    const turn = await turns.paced();
    expect(await call(turn, "Wakeup", { delaySeconds: 300, reason: "the build runs" })).toEqual({
      wakeup: "sleep",
    });
    expect(store.load(turn.loopId)).toMatchObject({ fire: { wakeup: { kind: "sleep", delayMs: 300_000 } } });
  });

  test("A15 a fire that deletes its own task is not stopped by that; another's is", async () => {
    const { turns, call, store } = await open();
    const [own, other] = [await turns.paced(), await turns.once()];
    expect(await call(own, "CronDelete", { id: own.loopId })).toEqual({ id: own.loopId });
    expect(await call(own, "CronDelete", { id: other.loopId })).toEqual({ id: other.loopId });
    const lines = [own, other].map(({ loopId }) => store.load(loopId)?.status);
    expect(lines).toEqual(["active", "ended"]);
  });

  test("A15 what an agent schedules is durable, for it has no conversation that stays", async () => {
    const { turns, call } = await open();
    const turn = await turns.work();
    const input = { cron: "*/5 * * * *", prompt: "look" };
    expect(await call(turn, "CronCreate", { ...input, durable: false })).toMatch(/no conversation/);
    expect(await call(turn, "CronCreate", input)).toMatchObject({ id: "dddd0001", durable: true });
  });
});

test("J7 a secret in a report, in a verdict or in a new task is masked before it is kept", async () => {
  vi.stubEnv("DEPLOY_TOKEN", "q8Zr41xW-secret");
  onTestFinished(() => void vi.unstubAllEnvs());
  const world = await open();
  const { turns } = world;
  await world.call(await turns.work(), "loop_report", { exit_signal: false, next: "use q8Zr41xW-secret" });
  await world.call(await turns.evaluator(), "loop_verdict", {
    verdict: "REJECT",
    reason: "q8Zr41xW-secret is in a file",
  });
  await world.call(await turns.once(), "CronCreate", {
    cron: "0 9 * * *",
    prompt: "call with q8Zr41xW-secret",
  });
  const kept = JSON.stringify([...world.store.loops()]);
  expect(kept).not.toContain("q8Zr41xW");
  expect(kept.match(/\[masked: DEPLOY_TOKEN\]/g)?.length).toBeGreaterThanOrEqual(3);
});
