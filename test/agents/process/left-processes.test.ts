import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createCommandAgent } from "../../../src/agents/process/command.ts";
import type { Turn } from "../../../src/ports/agent.ts";
import { isAlive } from "../../../src/system/process.ts";
import { fixture, makeControl, makeProject, makeTurn, type Project } from "../../fixtures/agents/project.ts";
import type { RunnerOrder } from "../../fixtures/agents/runner.ts";
import { until } from "../../support/until.ts";

let project: Project;
beforeEach(async () => {
  project = await makeProject();
});
afterEach(() => project.remove());

const HIDES = `sh '${fixture("hides.sh")}' hidden`;
const agent = (command: string) => createCommandAgent({ command, projectDir: project.dir, killGraceMs: 200 });
const inProject = (name: string) => join(project.dir, name);
const pidIn = (name: string) =>
  until(
    () => Number(existsSync(inProject(name)) && readFileSync(inProject(name), "utf8")) || null,
    `${name} has a pid`,
  );
const isGone = (pid: number) => !isAlive({ pid, start: null });

describe.skipIf(process.platform !== "linux")("J3 nothing that a turn started outlives it", () => {
  test("a process with no environment, session, group or parent of the turn", async () => {
    const control = makeControl();
    expect(await agent(`${HIDES}; echo done`).run(makeTurn(), control)).toMatchObject({ answer: "done\n" });
    expect(isGone(await pidIn("hidden"))).toBe(true);
    expect(control.started).toMatchObject([{ foundBy: "seal" }]);
  });

  test("also when the turn is stopped", async () => {
    const control = makeControl();
    const end = agent(`${HIDES}; sleep 1000`).run(makeTurn(), control);
    const hidden = await pidIn("hidden");
    control.abort();
    expect(await end).toEqual({ kind: "cancelled" });
    expect(isGone(hidden)).toBe(true);
  });

  test("also when the agent killed the process that watches it", async () => {
    await agent(`${HIDES}; kill -9 $PPID; sleep 1000`).run(makeTurn(), makeControl());
    expect(isGone(await pidIn("hidden"))).toBe(true);
  });

  test("also one that lowered its limits to lose its mark", async () => {
    writeFileSync(
      inProject("lowers.sh"),
      `ulimit -x 7\nulimit -m 9\n${readFileSync(fixture("hides.sh"), "utf8")}`,
    );
    await agent("bash lowers.sh hidden").run(makeTurn(), makeControl());
    expect(isGone(await pidIn("hidden"))).toBe(true);
  });

  test("also one in a process namespace of its own", async () => {
    const hides = `unshare --user --map-current-user --pid --fork --mount-proc ${HIDES}`;
    // some systems let nobody but root have one
    await agent(`${hides} || ${HIDES}`).run(makeTurn(), makeControl());
    await pidIn("hidden");
    expect(project.processes()).toEqual([]);
  });

  test("the processes of another turn stay", async () => {
    const other = makeControl();
    const running = agent(`${HIDES.replace("hidden", "other")}; sleep 1000`).run(
      makeTurn({ id: "aabbccdd-2" }),
      other,
    );
    const pid = await pidIn("other");
    await agent(HIDES).run(makeTurn(), makeControl());
    expect(isGone(await pidIn("hidden"))).toBe(true);
    expect(isGone(pid)).toBe(false);
    other.abort();
    await running;
    expect(isGone(pid)).toBe(true);
  });
});

describe.skipIf(process.platform !== "linux")("J3 the runner is killed", () => {
  let bundle: string;
  const children = new Set<ChildProcess>();

  beforeAll(async () => {
    bundle = join(mkdtempSync(join(tmpdir(), "loopwright-")), "runner.mjs");
    const entryPoints = [fixture("runner.ts")];
    await build({ entryPoints, outfile: bundle, bundle: true, platform: "node", format: "esm" });
  });
  afterAll(() => rmSync(join(bundle, ".."), { recursive: true }));
  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
    children.clear();
  });

  async function killedRunner(turn: Turn, command: string): Promise<void> {
    const order: RunnerOrder = { mode: "run", command, projectDir: project.dir, turn };
    const runner = spawn(process.execPath, [bundle, JSON.stringify(order)], { stdio: "ignore" });
    children.add(runner);
    await pidIn("hidden");
    const exit = once(runner, "exit");
    runner.kill("SIGKILL");
    await exit;
  }

  test("the turn goes on, and at its end nothing of it is left, with no runner there", async () => {
    await killedRunner(makeTurn(), `${HIDES}; until [ -e go ]; do sleep 0.02; done`);
    const hidden = await pidIn("hidden");
    expect(isGone(hidden)).toBe(false);
    writeFileSync(inProject("go"), "");
    await until(() => isGone(hidden), "the hidden process is gone");
    await until(() => project.processes().length === 0, "nothing is left");
  });

  test("a later runner that stops the turn finds all of it", async () => {
    await killedRunner(makeTurn(), `${HIDES}; sleep 1000`);
    const control = makeControl();
    const fate = await agent("true").reconcile(makeTurn(), control);
    if (fate.kind !== "running") throw new Error(fate.kind);
    control.abort();
    expect(await fate.end).toEqual({ kind: "cancelled" });
    expect(isGone(await pidIn("hidden"))).toBe(true);
  });
});
