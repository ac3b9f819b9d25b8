/** The ways in which a runner's terminal, time or life ends: always with the lease given back and nothing left. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  cleanEnv,
  create,
  historyOf,
  type ListJson,
  LOOP,
  leftovers,
  listOf,
  makeProject,
  startLoop,
  type TaskJson,
} from "../../support/cli.ts";
import { hasTmux, openTerminal } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

const HANGS = "echo $$ > pid; while :; do sleep 60; done";
const lock = (cwd: string) => join(cwd, ".loop", "loop.lock");

async function agentRuns(cwd: string): Promise<void> {
  await until(() => existsSync(join(cwd, "pid")), "the agent runs");
  await until(async () => (await historyOf(cwd)).at(0)?.outcome === "running", "the history says so");
}

/** The shell that writes down how it ended stays when the terminal is closed. */
const outliving = (command: string) => `(trap '' HUP; ${command}; echo $? > ended)`;

/** Missed while nothing ran, so that a runner in a terminal asks about it. */
async function missedOne(cwd: string): Promise<TaskJson> {
  const task = await create(cwd, "in", "1s", "call the customer", "--grace", "100ms", "--no-jitter");
  await until(() => Date.now() > Date.parse(task.nextFireAt ?? "") + 300, "it has passed");
  return task;
}

describe.skipIf(!hasTmux)("a terminal that is closed", () => {
  test.each([
    ["up", 0, (_id: string) => "up"],
    ["run", 1, (id: string) => `run ${id}`],
  ])("A5 H1 ends loop %s and its agent: lease released, the fire interrupted", async (_, code, command) => {
    const cwd = makeProject();
    const { id } = await create(cwd, "1h", "hang");
    const terminal = openTerminal(cwd);
    terminal.run(outliving(`loop ${command(id)} --agent-cmd '${HANGS}'`));
    await agentRuns(cwd);
    expect(existsSync(lock(cwd))).toBe(true);
    terminal.close();
    await until(() => leftovers(cwd).length === 0, "runner and agent are gone", 10_000);
    expect(readFileSync(join(cwd, "ended"), "utf8")).toBe(`${code}\n`);
    expect(existsSync(lock(cwd))).toBe(false);
    expect((await listOf(cwd)).owner).toBeNull();
    expect(await historyOf(cwd)).toMatchObject([
      { outcome: "interrupted", reason: expect.stringContaining("SIGHUP") },
    ]);
  });

  test("A10 H1 also while a question is open", async () => {
    const cwd = makeProject();
    await missedOne(cwd);
    const terminal = openTerminal(cwd);
    terminal.run(outliving("loop up --agent-cmd cat"));
    await terminal.sees(/Run it now\?/);
    terminal.close();
    await until(() => leftovers(cwd).length === 0, "the runner is gone", 10_000);
    expect(readFileSync(join(cwd, "ended"), "utf8")).toBe("0\n");
    expect(existsSync(lock(cwd))).toBe(false);
    expect((await listOf(cwd)).tasks).toMatchObject([{ state: "missed" }]);
  });
});

test.skipIf(!hasTmux)("H5 a command whose terminal is gone when it answers has not failed", async () => {
  const cwd = makeProject();
  await create(cwd, "1h", "x", "--no-now");
  const terminal = openTerminal(cwd);
  const commands = "loop list; echo $? >> codes; loop history; echo $? >> codes; loop delete nothing";
  terminal.run(outliving(`touch here; until test -e gone; do sleep 0.1; done; ${commands}`));
  await until(() => existsSync(join(cwd, "here")), "the shell waits");
  terminal.close();
  writeFileSync(join(cwd, "gone"), "");
  const ended = await until(
    () => existsSync(join(cwd, "ended")) && leftovers(cwd).length === 0,
    "all are done",
  );
  expect(ended).toBe(true);
  expect(readFileSync(join(cwd, "codes"), "utf8")).toBe("0\n0\n");
  expect(readFileSync(join(cwd, "ended"), "utf8")).toBe("64\n");
});

describe.skipIf(!hasTmux)("a question that nobody answers", () => {
  test("A10 does not keep a runner whose time is over", async () => {
    const cwd = makeProject();
    await missedOne(cwd);
    const terminal = openTerminal(cwd);
    terminal.run("loop up --for 3s --agent-cmd cat; echo code=$?");
    await terminal.sees(/Run it now\?/);
    const screen = await terminal.sees(/code=\d+\n\$$/, 8_000);
    expect(screen).toMatch(/Stopped\. The task stays[^\n]*\ncode=0/);
    expect((await listOf(cwd)).tasks).toMatchObject([{ state: "missed" }]);
    // the terminal is as it was: the cursor and what is typed are shown
    expect(terminal.cursorIsShown()).toBe(true);
    terminal.run("echo typed");
    await terminal.sees(/\$ echo typed\ntyped\n\$$/);
  });

  test("A10 nor one that is stopped", async () => {
    const cwd = makeProject();
    await missedOne(cwd);
    const terminal = openTerminal(cwd);
    terminal.run("loop up --agent-cmd cat; echo code=$?");
    await terminal.sees(/Run it now\?/);
    process.kill((await listOf(cwd)).owner?.pid ?? 0, "SIGTERM");
    await terminal.sees(/Stopping …[\s\S]*Stopped\.[^\n]*\ncode=0\n\$$/, 8_000);
    expect(terminal.cursorIsShown()).toBe(true);
  });
});

/** Makes a program wait in the middle of its start, where it reads its settings. */
const WAITS = `
const fs = require("node:fs");
const { openSync } = fs;
fs.openSync = (path, ...rest) => {
  if (String(path).endsWith("config.json")) fs.writeFileSync(process.env.PLACE + "/waits", "");
  while (fs.existsSync(process.env.PLACE + "/waits") && !fs.existsSync(process.env.PLACE + "/go"))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  return openSync(path, ...rest);
};
`;

describe("a runner that is still starting", () => {
  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("A5 ends with 0 at %s", async (signal) => {
    const cwd = makeProject();
    const home = join(dirname(cwd), "home");
    const waits = join(home, "waits.cjs");
    writeFileSync(waits, WAITS);
    const env = { NODE_OPTIONS: `--require ${JSON.stringify(waits)}`, PLACE: home };
    const up = startLoop(["up", "--agent-cmd", "cat"], { cwd, env });
    await until(() => existsSync(join(home, "waits")), "it reads its settings");
    up.signal(signal);
    writeFileSync(join(home, "go"), "");
    expect(await up.ended).toBe(0);
    expect(existsSync(lock(cwd))).toBe(false);
    expect(leftovers(cwd)).toEqual([]);
  });
});

describe("the end of the process", () => {
  test("H1 a handle that is left does not keep a runner whose engine has stopped", async () => {
    const cwd = makeProject();
    const leaves = join(dirname(cwd), "home", "leaves.cjs");
    writeFileSync(leaves, "setInterval(() => {}, 1000);");
    const env = { NODE_OPTIONS: `--require ${JSON.stringify(leaves)}` };
    const up = startLoop(["up", "--for", "500ms", "--agent-cmd", "cat"], { cwd, env });
    await up.line(/Stopped\./);
    await until(() => leftovers(cwd).length === 0, "the process is gone", 5_000);
    expect(await up.ended).toBe(0);
  });

  test("H5 nothing of an answer of 5 MB is lost in a pipe whose reader takes its time", async () => {
    const cwd = makeProject();
    const prompt = `${"長".repeat(199_000)}end`;
    const file = join(dirname(cwd), "home", "prompt.md");
    writeFileSync(file, prompt);
    for (let n = 0; n < 9; n++) await create(cwd, "5m", "--no-now", "--prompt-file", file);
    const env = cleanEnv(cwd, { LOOP });
    // -C goes past the fast path; the reader starts when the pipe is long full
    const script = 'node "$LOOP" list --json -C . | { sleep 1; cat; }';
    const text = execFileSync("sh", ["-c", script], { cwd, env, encoding: "utf8", maxBuffer: 2 ** 25 });
    expect(Buffer.byteLength(text)).toBeGreaterThan(5_000_000);
    const { tasks } = JSON.parse(text) as ListJson;
    expect(tasks.map((task) => task.prompt === prompt)).toEqual(Array.from({ length: 9 }, () => true));
  });
});
