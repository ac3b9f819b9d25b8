import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createCommandAgent } from "../../../src/agents/process/command.ts";
import type { Turn } from "../../../src/ports/agent.ts";
import { isAlive } from "../../../src/system/process.ts";
import type { AcpRunnerOrder } from "../../fixtures/agents/acp-runner.ts";
import { failedAs, fixture, makeControl } from "../../fixtures/agents/project.ts";
import { type AcpWorld, makeAcpWorld, SCRIPTED_AGENT, workTurn } from "../../support/acp/acp-world.ts";
import { until } from "../../support/until.ts";

let world: AcpWorld;
let bundle: string;
const runners = new Set<ChildProcess>();

beforeAll(async () => {
  bundle = join(mkdtempSync(join(tmpdir(), "loopwright-")), "runner.mjs");
  const entryPoints = [fixture("acp-runner.ts")];
  await build({ entryPoints, outfile: bundle, bundle: true, platform: "node", format: "esm" });
});
afterAll(() => rmSync(join(bundle, ".."), { recursive: true }));
beforeEach(async () => {
  world = await makeAcpWorld();
});
afterEach(async () => {
  for (const runner of runners) runner.kill("SIGKILL");
  runners.clear();
  await world.close();
});

function startRunner(turns: readonly Turn[], nature: object = {}, ownTmpDir = false) {
  const command = `exec '${process.execPath}' '${SCRIPTED_AGENT}'`;
  const order: AcpRunnerOrder = { command, projectDir: world.dir, turns, ownTmpDir };
  const runner = spawn(process.execPath, [bundle, JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ACP_AGENT: JSON.stringify(nature) },
  });
  runners.add(runner);
  const lines = createInterface({ input: runner.stdout })[Symbol.asyncIterator]();
  return {
    exited: once(runner, "exit"),
    next: async () => JSON.parse((await lines.next()).value ?? "null") as Record<string, unknown>,
    async kill() {
      const exit = once(runner, "exit");
      runner.kill("SIGKILL");
      await exit;
    },
  };
}

const isGone = (pid: number) => !isAlive({ pid, start: null });

describe("E3 H1 the runner of a warm agent", () => {
  test("is killed: its agent ends too, even if it ignores signals and has children", async () => {
    const steps = [
      { child: { file: "child", detached: false } },
      { waitFor: "child" },
      { ready: "ready" },
      { hang: true },
    ];
    const runner = startRunner([workTurn(steps)], { ignoreTerm: true, ignoreCancel: true });
    const pids = [await world.pidIn("ready"), await world.pidIn("child")];
    await runner.kill();
    await until(() => pids.every(isGone), "the agent and its child are gone");
    await until(() => world.project.processes().length === 0, "nothing is left");
  });

  test("is killed: the turn is lost and not repeated, and processes outside the group end", async () => {
    const turn = workTurn([
      { child: { file: "escaped", detached: true } },
      { waitFor: "escaped" },
      { ready: "ready" },
      { hang: true },
    ]);
    const runner = startRunner([turn]);
    await world.pidIn("ready");
    const escaped = await world.pidIn("escaped");
    await runner.kill();
    expect(await world.agent().reconcile(turn, makeControl())).toEqual({
      kind: "lost",
      reason: "the connection to the agent ended together with its runner",
    });
    expect(isGone(escaped)).toBe(true);
    const again = await world.agent().run(turn, makeControl());
    expect(again).toMatchObject(failedAs("fault", "the turn was already started with the same token"));
    expect(world.prompts()).toHaveLength(1);
  });

  test.skipIf(process.platform !== "linux").each(["killed", "exits"])(
    "J3 %s: a process that the agent hid from everybody ends too",
    async (how) => {
      const hang = how === "killed" ? [{ hang: true }] : [{ say: "x" }];
      const runner = startRunner([workTurn([{ hide: "hidden" }, { ready: "ready" }, ...hang])]);
      const hidden = await world.pidIn("hidden");
      await world.pidIn("ready");
      if (how === "killed") await runner.kill();
      else await runner.exited;
      await until(() => isGone(hidden), "the hidden process is gone", 5_000);
      await until(() => world.project.processes().length === 0, "nothing is left");
    },
  );

  test.each(["killed", "exits"])("%s: nothing of an agent's own TMPDIR is left", async (how) => {
    const turns = [
      workTurn([{ env: true }, { say: "x" }]),
      ...(how === "exits" ? [] : [workTurn([{ ready: "ready" }, { hang: true }])]),
    ];
    const runner = startRunner(turns, {}, true);
    if (how === "killed") await world.pidIn("ready");
    else await runner.exited;
    const { TMPDIR } = JSON.parse(world.read("env.json"));
    expect(TMPDIR).toMatch(/loop-agent-/);
    if (how === "killed") {
      expect(existsSync(TMPDIR)).toBe(true);
      await runner.kill();
    }
    await until(() => !existsSync(TMPDIR) && world.project.processes().length === 0, "all is gone");
  });

  test("exits by itself although an agent is warm, and the agent goes with it", async () => {
    const runner = startRunner([workTurn("one"), workTurn("two")]);
    await runner.exited;
    expect(world.prompts()).toHaveLength(2);
    expect(new Set(world.prompts().map(([pid]) => pid)).size).toBe(1);
    await until(() => world.project.processes().length === 0, "nothing is left");
  });

  test("is killed after the end of the turn: the end is the one that it saw", async () => {
    const turn = workTurn("one");
    const runner = startRunner([turn, workTurn([{ ready: "ready" }, { hang: true }])]);
    await runner.next();
    const { end } = await runner.next();
    await world.pidIn("ready");
    await runner.kill();
    expect(await world.agent().reconcile(turn, makeControl())).toEqual({ kind: "ended", end });
    expect(end).toMatchObject({ kind: "ok", answer: "you said: one" });
  });

  test("is killed before the prompt went out: the turn never ran, and never will", async () => {
    const turn = workTurn("one");
    const runner = startRunner([turn], { hangAt: "session/new" });
    await until(() => world.project.processes().length > 1, "the agent was started");
    await runner.kill();
    expect(await world.agent().reconcile(turn, makeControl())).toEqual({ kind: "never" });
    const late = await world.agent().run(turn, makeControl());
    expect(late).toMatchObject(failedAs("fault", "the turn was cancelled before it started"));
    expect(existsSync(world.path("prompts.txt"))).toBe(false);
  });

  test("under another token the turn runs again", async () => {
    const turn = workTurn("one");
    expect(await world.agent().reconcile(turn, makeControl())).toEqual({ kind: "never" });
    expect(await world.agent().run({ ...turn, token: 8 }, makeControl())).toMatchObject({ kind: "ok" });
  });

  test("a recovery that knows no ACP reads the answer, or that the turn was lost", async () => {
    const reconciler = createCommandAgent({ command: "true", projectDir: world.dir });
    const turn = workTurn("one");
    await world.agent().run(turn, makeControl());
    expect(await reconciler.reconcile(turn, makeControl())).toMatchObject({
      kind: "ended",
      end: { kind: "ok", answer: "you said: one" },
    });
    const other = workTurn([{ ready: "ready" }, { hang: true }]);
    const runner = startRunner([other]);
    const pid = await world.pidIn("ready");
    await runner.kill();
    await until(() => isGone(pid), "the agent is gone");
    expect(await reconciler.reconcile(other, makeControl())).toMatchObject({ kind: "lost" });
  });
});
