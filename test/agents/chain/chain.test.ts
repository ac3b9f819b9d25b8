import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ChainOptions, createAbsentAgent, createChain } from "../../../src/agents/chain/chain.ts";
import { withPrices } from "../../../src/agents/prices.ts";
import { createCommandAgent } from "../../../src/agents/process/command.ts";
import type { Prices } from "../../../src/core/cost/prices.ts";
import type { Failure, FailureClass } from "../../../src/core/goal/goal.ts";
import type { Agent, Turn, TurnControl, TurnEnd } from "../../../src/ports/agent.ts";
import type { ChainOrder } from "../../fixtures/agents/chain-runner.ts";
import {
  failedAs,
  fixture,
  makeControl,
  makeProject,
  makeTurn,
  makeWatcher,
  type Project,
  plainEnd,
} from "../../fixtures/agents/project.ts";
import { until } from "../../support/until.ts";

const NOON = Date.UTC(2026, 10, 15, 12, 0);
const MINUTE = 60_000;

/** An agent that ends each turn as it is told to, and keeps what it was given. */
interface Played extends Agent {
  readonly turns: Turn[];
  next: (turn: Turn) => TurnEnd;
}

function played(name: string, next: (turn: Turn) => TurnEnd = () => plainEnd(`by ${name}`)): Played {
  const turns: Turn[] = [];
  const agent: Played = {
    name,
    turns,
    next,
    run: async (turn, control) => {
      turns.push(turn);
      control.onStarted({ pid: turns.length, start: name });
      return agent.next(turn);
    },
    reconcile: async () => ({ kind: "never" }),
  };
  return agent;
}

function failure(type: FailureClass, resetsAt: number | null = null): Failure {
  return { class: type, reason: `no ${type}`, resetsAt };
}

function failedEnd(type: FailureClass, more: object = {}, resetsAt: number | null = null): TurnEnd {
  return { ...plainEnd(""), kind: "failed", failure: failure(type, resetsAt), ...more } as TurnEnd;
}

function chainAt(agents: readonly Agent[], options: ChainOptions = {}) {
  const clock = { now: NOON };
  return { clock, chain: createChain(agents, { now: () => clock.now, ...options }) };
}

describe("a chain of agents: who takes the turn", () => {
  test("E3 the first, as if it were alone", async () => {
    const [a, b] = [played("a"), played("b")];
    const control = makeWatcher();
    const turn = makeTurn({ model: "big", env: { LOOP_MODEL: "big" } });
    expect(await createChain([a, b]).run(turn, control)).toEqual(plainEnd("by a"));
    expect(a.turns).toEqual([turn]);
    expect([b.turns, control.events]).toEqual([[], []]);
  });

  test.each(["quota", "outage", "auth"] as const)(
    "E3 B13 the next, at once, after %s of the first",
    async (type) => {
      const [a, b] = [played("a", () => failedEnd(type)), played("b")];
      const control = makeWatcher();
      const end = await createChain([a, b]).run(makeTurn(), control);
      expect(end).toMatchObject({ kind: "ok", answer: "by b", takenBy: "b" });
      expect(end).toMatchObject({ takenWhy: expect.stringMatching(/^a: .*no /) });
      expect(control.events).toEqual([
        { type: "taken", by: "b", instead: "a", reason: expect.stringContaining(`no ${type}`) },
      ]);
      expect(control.started).toHaveLength(1);
    },
  );

  test.each(["fault", "timeout", "denied", "overflow"] as const)(
    "E3 B13 nobody else after %s: that is the turn's own end",
    async (type) => {
      const [a, b] = [played("a", () => failedEnd(type)), played("b")];
      expect(await createChain([a, b]).run(makeTurn(), makeControl())).toEqual(failedEnd(type));
      expect(b.turns).toEqual([]);
    },
  );

  test("E3 a quota is remembered until the time that the agent named, an outage for some minutes", async () => {
    const a = played("a", () => failedEnd("quota", {}, NOON + 90 * MINUTE));
    const b = played("b", () => failedEnd("outage"));
    const c = played("c");
    const { chain, clock } = chainAt([a, b, c], { passOverMs: 5 * MINUTE });
    const take = async (at: number) => {
      clock.now = NOON + at * MINUTE;
      const control = makeWatcher();
      const end = await chain.run(makeTurn(), control);
      return [a, b, c].map(({ turns }) => turns.length).join() + (end.kind === "ok" ? ` ${end.answer}` : "");
    };
    expect(await take(0)).toBe("1,1,1 by c");
    b.next = () => plainEnd("by b");
    expect(await take(4)).toBe("1,1,2 by c");
    expect(await take(6)).toBe("1,2,2 by b");
    expect(await take(89)).toBe("1,3,2 by b");
    a.next = () => plainEnd("by a");
    expect(await take(91)).toBe("2,3,2 by a");
    expect(await take(92)).toBe("3,3,2 by a");
  });

  test("E3 a skipped agent is reported each time, with its reset time", async () => {
    const [a, b] = [played("a", () => failedEnd("quota", {}, NOON + 125 * MINUTE)), played("b")];
    const { chain } = chainAt([a, b]);
    await chain.run(makeTurn(), makeControl());
    const control = makeWatcher();
    const end = await chain.run(makeTurn({ id: "aabbccdd-2" }), control);
    const reason = "quota until 2026-11-15 14:05 UTC (no quota)";
    expect(control.events).toEqual([{ type: "taken", by: "b", instead: "a", reason }]);
    expect(end).toMatchObject({ takenBy: "b", takenWhy: `a: ${reason}` });
    expect(a.turns).toHaveLength(1);
  });

  test("E3 a caller without onEvent still learns which agent took the turn", async () => {
    const b = played("b");
    const controls: TurnControl[] = [];
    const watched: Agent = {
      ...b,
      run: (turn, control) => {
        controls.push(control);
        return b.run(turn, control);
      },
    };
    const taken: unknown[] = [];
    const control = { ...makeControl(), onTaken: (event: unknown) => taken.push(event) };
    await createChain([played("a", () => failedEnd("outage")), watched]).run(makeTurn(), control);
    expect(taken).toEqual([{ type: "taken", by: "b", instead: "a", reason: "out of service (no outage)" }]);
    expect(controls[0]?.onEvent).toBeUndefined();
  });

  test("E3 a person's stop between two agents starts nobody", async () => {
    const control = makeControl();
    const b = played("b");
    const a = played("a", () => {
      control.abort();
      return failedEnd("outage");
    });
    expect(await createChain([a, b]).run(makeTurn(), control)).toEqual({ kind: "cancelled" });
    expect(b.turns).toEqual([]);
  });

  test("E3 a model's name is for the first agent only", async () => {
    const [a, b] = [played("a", () => failedEnd("outage")), played("b")];
    await createChain([a, b]).run(
      makeTurn({ model: "opus", env: { LOOP_MODEL: "opus", LOOP_KIND: "work" } }),
      makeControl(),
    );
    expect(b.turns[0]?.model).toBeUndefined();
    expect(b.turns[0]?.env).toEqual({ LOOP_KIND: "work" });
  });

  test("E3 each has a run folder of its own, and the turn keeps its id", async () => {
    const agents = [
      played("a", () => failedEnd("outage")),
      played("b", () => failedEnd("outage")),
      played("c"),
    ];
    await createChain(agents).run(makeTurn(), makeControl());
    expect(agents.map(({ turns }) => [turns[0]?.id, turns[0]?.run])).toEqual([
      ["aabbccdd-1", undefined],
      ["aabbccdd-1", "aabbccdd-1.2"],
      ["aabbccdd-1", "aabbccdd-1.3"],
    ]);
  });

  test("E3 one that is not installed keeps its place, and that is said once", async () => {
    const absent = createAbsentAgent("codex", "not installed", played("finder"));
    const control = makeWatcher();
    const chain = createChain([absent, played("b")]);
    for (let n = 0; n < 2; n++)
      expect(await chain.run(makeTurn(), control)).toMatchObject({
        takenBy: "b",
        takenWhy: "codex: not installed",
      });
    expect(control.events).toEqual([{ type: "taken", by: "b", instead: "codex", reason: "not installed" }]);
  });
});

describe("a chain in which no agent can take the turn", () => {
  test.each<[string, TurnEnd[], object]>([
    [
      "of two quotas the one that is over first",
      [failedEnd("quota", {}, NOON + 60 * MINUTE), failedEnd("quota", {}, NOON + 20 * MINUTE)],
      { class: "quota", resetsAt: NOON + 20 * MINUTE },
    ],
    [
      "an outage before a long quota",
      [failedEnd("quota", {}, NOON + 60 * MINUTE), failedEnd("outage")],
      { class: "outage" },
    ],
    [
      "a short quota before an outage",
      [failedEnd("outage"), failedEnd("quota", {}, NOON + MINUTE)],
      { class: "quota", resetsAt: NOON + MINUTE },
    ],
    [
      "anything before a missing login",
      [failedEnd("auth"), failedEnd("quota", {}, NOON + 60 * MINUTE)],
      { class: "quota" },
    ],
    ["a missing login of all", [failedEnd("auth"), failedEnd("auth")], { class: "auth" }],
  ])("E3 B13 fails as: %s", async (_, ends, expected) => {
    const agents = ends.map((end, index) => played(`agent${index}`, () => end));
    const end = await chainAt(agents).chain.run(makeTurn(), makeControl());
    expect(end).toMatchObject({ kind: "failed", failure: expected });
    expect(end).toMatchObject({ failure: { reason: expect.stringMatching(/^agent0: .*; agent1: /) } });
    expect(end).not.toHaveProperty("takenBy");
  });

  test("E3 the next turn tries agents without a known reset time first, or else all agents", async () => {
    const a = played("a", () => failedEnd("quota", {}, NOON + 60 * MINUTE));
    const b = played("b", () => failedEnd("outage"));
    const { chain } = chainAt([a, b]);
    await chain.run(makeTurn(), makeControl());
    await chain.run(makeTurn({ id: "aabbccdd-2" }), makeControl());
    expect([a.turns.length, b.turns.length]).toEqual([1, 2]);
    b.next = () => failedEnd("quota", {}, NOON + 60 * MINUTE);
    await chain.run(makeTurn({ id: "aabbccdd-3" }), makeControl());
    await chain.run(makeTurn({ id: "aabbccdd-4" }), makeControl());
    expect([a.turns.length, b.turns.length]).toEqual([2, 4]);
  });

  test("E3 a chain of one fails as that one does", async () => {
    const end = failedEnd("quota", {}, NOON + MINUTE);
    expect(await chainAt([played("a", () => end)]).chain.run(makeTurn(), makeControl())).toEqual(end);
  });
});

describe("conversations of a chain", () => {
  const talk = (id: string, costUsd: number | null = null) => ({ conversation: { id, costUsd } });

  test("E3 continue with their own agent, under that agent's id", async () => {
    const a = played("a", () => ({ ...plainEnd("x"), ...talk("s:1", 0.5) }));
    const chain = createChain([a, played("b")]);
    const first = await chain.run(makeTurn(), makeControl());
    expect(first).toMatchObject(talk("a:s:1", 0.5));
    const turn = makeTurn({ ...talk("a:s:1", 0.5), text: "go on", textIfFresh: "everything" });
    await chain.run(turn, makeControl());
    expect(a.turns[1]).toMatchObject({ ...talk("s:1", 0.5), text: "go on", textIfFresh: "everything" });
  });

  test("E3 never go to another agent: it gets the full text in a fresh conversation", async () => {
    const a = played("a", () => failedEnd("quota", talk("s1", 2)));
    const b = played("b", () => ({ ...plainEnd("x"), ...talk("s9", 7) }));
    const turn = makeTurn({ ...talk("a:s1", 1), text: "go on", textIfFresh: "everything" });
    const end = await createChain([a, b]).run(turn, makeControl());
    expect(b.turns[0]).toMatchObject({ conversation: null, text: "everything" });
    expect(end).toMatchObject(talk("b:s9", 7));
  });

  test("E3 the first one is told everything too when it is back", async () => {
    const [a, b] = [played("a"), played("b")];
    await createChain([a, b]).run(
      makeTurn({ ...talk("b:s9"), text: "go on", textIfFresh: "everything" }),
      makeControl(),
    );
    expect(a.turns[0]).toMatchObject({ conversation: null, text: "everything" });
    await createChain([a, b]).run(makeTurn({ ...talk("other:s9"), text: "whole" }), makeControl());
    expect(a.turns[1]).toMatchObject({ conversation: null, text: "whole" });
  });

  test("E3 two agents with one name are kept apart", async () => {
    const first = played("command", () => failedEnd("outage"));
    const second = played("command", () => ({ ...plainEnd("x"), ...talk("s") }));
    const end = await createChain([first, second]).run(makeTurn(), makeControl());
    expect(end).toMatchObject({ ...talk("command-2:s"), takenBy: "command-2" });
  });

  test("E3 can go on after a turn that nobody took, with what it cost so far", async () => {
    const a = played("a", () => failedEnd("quota", talk("s1", 2)));
    const b = played("b", () => failedEnd("outage", talk("s9", 7)));
    const end = await createChain([a, b]).run(makeTurn(talk("a:s1", 1)), makeControl());
    expect(end).toMatchObject(talk("a:s1", 2));
  });

  test("E3 of a turn that was stopped keep the name of their agent", async () => {
    const a = played("a", () => ({ kind: "cancelled", ...talk("s1") }));
    expect(await createChain([a]).run(makeTurn(), makeControl())).toEqual({
      kind: "cancelled",
      ...talk("a:s1"),
    });
  });
});

describe("what a chain used", () => {
  test("E3 B12 counts those that did not get through, each at the price of its own model", async () => {
    const prices: Prices = {
      own: null,
      project: null,
      shipped: {
        date: "2026-11-06",
        models: { small: { input: 1, output: 1 }, big: { input: 10, output: 10 } },
      },
    };
    const tokens = (model: string) => ({
      usage: { costUsd: null, inputTokens: 1_000_000, outputTokens: 0, model },
    });
    const activity = { toolCalls: 1, edits: { "a.ts": 1 }, reads: ["r"], denials: ["Bash"] };
    const a = played("a", () => failedEnd("outage", { ...tokens("small"), activity }));
    const b = played("b", () => ({ ...plainEnd("done"), ...tokens("big"), activity }));
    const chain = createChain([a, b].map((agent) => withPrices(agent, prices)));
    expect(await chain.run(makeTurn(), makeControl())).toMatchObject({
      usage: {
        costUsd: 11,
        inputTokens: 2_000_000,
        outputTokens: 0,
        costFrom: "prices",
        pricesDate: "2026-11-06",
      },
      activity: { toolCalls: 2, edits: { "a.ts": 2 }, reads: ["r", "r"], denials: ["Bash", "Bash"] },
    });
  });
});

describe("a chain of real processes", () => {
  let project: Project;
  let bundle: string;
  const children = new Set<ChildProcess>();

  beforeAll(async () => {
    bundle = join(mkdtempSync(join(tmpdir(), "loopwright-")), "runner.mjs");
    await build({
      entryPoints: [fixture("chain-runner.ts")],
      outfile: bundle,
      bundle: true,
      platform: "node",
      format: "esm",
    });
  });
  afterAll(() => rmSync(join(bundle, ".."), { recursive: true }));
  beforeEach(async () => {
    project = await makeProject();
  });
  afterEach(async () => {
    for (const child of children) child.kill("SIGKILL");
    children.clear();
    await project.remove();
  });

  const inProject = (name: string) => join(project.dir, name);
  const runs = () =>
    existsSync(inProject("runs")) ? readFileSync(inProject("runs"), "utf8").split("\n").filter(Boolean) : [];
  /** Notes that it ran, and waits for a file of this name before it ends. */
  const noted = (name: string, how: string, waitsFor?: string) => {
    const wait = waitsFor === undefined ? "" : `while [ ! -e ${waitsFor} ]; do sleep 0.02; done; `;
    return `echo ${name} >>runs; ${wait}${how}`;
  };
  const commands = (...all: string[]) =>
    all.map((command) => createCommandAgent({ command, projectDir: project.dir, killGraceMs: 200 }));
  const OUT = "echo down >&2; exit 75";

  function start(...all: string[]) {
    const order: ChainOrder = { commands: all, projectDir: project.dir, turn: makeTurn() };
    const child = spawn(process.execPath, [bundle, JSON.stringify(order)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    children.add(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return {
      next: async () => JSON.parse((await lines.next()).value ?? "null") as Record<string, unknown>,
      goOn: () => child.stdin.write("\n"),
      kill: () =>
        new Promise<void>((gone) => {
          child.once("exit", () => gone());
          child.kill("SIGKILL");
        }),
    };
  }

  test.each([
    [75, "outage"],
    [77, "auth"],
  ])("E3 after exit code %i (%s) the next command gets the same prompt", async (code) => {
    const chain = createChain(commands(noted("A", `exit ${code}`), noted("B", "tr a-z A-Z")));
    const control = makeWatcher();
    const end = await chain.run(makeTurn({ text: "say it" }), control);
    expect(end).toMatchObject({ kind: "ok", answer: "SAY IT", takenBy: "command-2" });
    expect(runs()).toEqual(["A", "B"]);
    expect(control.started).toHaveLength(1);
    expect(readdirSync(join(project.dir, ".loop/runs/aabbccdd")).sort()).toEqual([
      "aabbccdd-1",
      "aabbccdd-1.2",
      "intent.7",
    ]);
  });

  test("E3 both know themselves by the id of the turn, and a stop ends the one that runs", async () => {
    const say = 'printf "%s " "$LOOP_FIRE_ID" "$LOOP_PROMPT_FILE" >>ids; ';
    const chain = createChain(commands(`${say}exit 75`, `${say}${noted("B", "true", "never")}`));
    const control = makeControl();
    const end = chain.run(makeTurn(), control);
    await until(() => runs().includes("B"), "the second one runs");
    control.abort();
    expect(await end).toEqual({ kind: "cancelled" });
    expect(project.processes()).toEqual([]);
    const at = join(project.dir, ".loop/runs/aabbccdd");
    expect(readFileSync(inProject("ids"), "utf8").trim().split(" ")).toEqual([
      "aabbccdd-1",
      join(at, "aabbccdd-1/prompt.txt"),
      "aabbccdd-1",
      join(at, "aabbccdd-1.2/prompt.txt"),
    ]);
  });

  test("H1 the runner is killed between the two: the turn is over, nobody starts it, and the next goes to the second", async () => {
    const [first, second] = [noted("A", OUT), noted("B", "echo fine")];
    const runner = start(first, second);
    expect(await runner.next()).toHaveProperty("started");
    expect(await runner.next()).toEqual({ handsOn: 2 });
    await runner.kill();
    const chain = createChain(commands(first, second));
    const fate = await chain.reconcile(makeTurn(), makeControl());
    const reason = "command: out of service (exit 75: down); the next turn goes to command-2";
    expect(fate).toMatchObject({ kind: "ended", end: failedAs("outage", reason) });
    expect(runs()).toEqual(["A"]);
    const next = await chain.run(makeTurn({ id: "aabbccdd-2", token: 8 }), makeControl());
    expect(next).toMatchObject({ kind: "ok", answer: "fine\n", takenBy: "command-2" });
    expect(runs()).toEqual(["A", "B"]);
  });

  test("H1 a runner that was only frozen between the two does not start the second after a recovery", async () => {
    const [first, second] = [noted("A", OUT), noted("B", "echo fine")];
    const runner = start(first, second);
    await runner.next();
    expect(await runner.next()).toEqual({ handsOn: 2 });
    expect(await createChain(commands(first, second)).reconcile(makeTurn(), makeControl())).toMatchObject({
      kind: "ended",
    });
    runner.goOn();
    expect(await runner.next()).toMatchObject({
      end: failedAs("fault", "the turn was cancelled before it started"),
    });
    expect(runs()).toEqual(["A"]);
  });

  test("H1 the runner is killed while the first runs: it is followed, and what it comes to is not handed on", async () => {
    const [first, second] = [noted("A", OUT, "go"), noted("B", "echo fine")];
    const runner = start(first, second);
    await runner.next();
    await until(() => runs().includes("A"), "the first one runs");
    await runner.kill();
    const fate = await createChain(commands(first, second)).reconcile(makeTurn(), makeControl());
    expect(fate.kind).toBe("running");
    writeFileSync(inProject("go"), "");
    expect(fate.kind === "running" && (await fate.end)).toMatchObject(
      failedAs("outage", expect.stringContaining("the next turn goes to command-2")),
    );
    expect(runs()).toEqual(["A"]);
  });

  test("H1 the runner is killed while the second runs: it is followed to its end, also by one who comes later", async () => {
    const [first, second] = [noted("A", OUT), noted("B", "echo fine", "go")];
    const runner = start(first, second);
    await runner.next();
    await runner.next();
    runner.goOn();
    await until(() => runs().includes("B"), "the second one runs");
    await runner.kill();
    const chain = () => createChain(commands(first, second));
    const fate = await chain().reconcile(makeTurn(), makeControl());
    expect(fate.kind).toBe("running");
    writeFileSync(inProject("go"), "");
    const end = { kind: "ok", answer: "fine\n", takenBy: "command-2" };
    expect(fate.kind === "running" && (await fate.end)).toMatchObject(end);
    expect(await chain().reconcile(makeTurn(), makeControl())).toMatchObject({
      kind: "ended",
      end: { ...end, takenWhy: "command: out of service (exit 75: down)" },
    });
    expect(runs()).toEqual(["A", "B"]);
  });

  test("H1 a turn that nobody had started is withdrawn for all of the chain", async () => {
    const chain = createChain(commands(noted("A", OUT), noted("B", "echo fine")));
    expect(await chain.reconcile(makeTurn(), makeControl())).toEqual({ kind: "never" });
    const end = await chain.run(makeTurn(), makeControl());
    expect(end).toMatchObject(failedAs("fault", "the turn was cancelled before it started"));
    expect(runs()).toEqual([]);
  });
});
