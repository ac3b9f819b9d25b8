/** opencode as it is, its server: loops go on in its conversations by the plugin that `loop install opencode` puts there. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  expectWorld,
  isWorldMissing,
  isWorldRequired,
  whyWorldMissing,
} from "../../support/agents/worlds.ts";
import { slow } from "../../support/claude/scripted-model.ts";
import { runLoop } from "../../support/cli.ts";
import {
  type ClientWorld,
  goalsOf,
  makeClientWorld,
  nonceOf,
  playTurns,
  report,
  toldIn,
  typedGoal,
} from "../../support/goals/goal-in-client.ts";
import { runHere } from "../../support/here.ts";
import { until } from "../../support/until.ts";

/** It takes some seconds to its first answer, and more on a busy machine. */
const LONG_MS = 90_000;
const TEST_MS = 180_000;

interface Server {
  /** A new conversation. */
  open(): Promise<string>;
  /** As the terminal UI does when a person types `/loop …`; resolves when the agent has answered. */
  command(session: string, words: string): Promise<unknown>;
  say(session: string, text: string): Promise<unknown>;
  abort(session: string): Promise<unknown>;
}

async function startServer({ project, env, world }: ClientWorld): Promise<Server> {
  const child = spawn(world.programs.opencode ?? "", ["serve"], {
    cwd: project,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let stdout = "";
  child.stdout.on("data", (part) => {
    stdout += String(part);
  });
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  onTestFinished(async () => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    await gone;
  });
  const url = await until(() => /http:\/\/\S+/.exec(stdout)?.[0], "it listens", LONG_MS);
  const post = async (path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return answer.json() as Promise<{ readonly id: string }>;
  };
  return {
    open: async () => (await post("/session", {})).id,
    command: (session, words) => post(`/session/${session}/command`, { command: "loop", arguments: words }),
    say: (session, text) => post(`/session/${session}/message`, { parts: [{ type: "text", text }] }),
    abort: (session) => post(`/session/${session}/abort`, {}),
  };
}

/** Its tools run unasked. */
function allowTools({ world }: ClientWorld): void {
  const path = join(world.home, ".config/opencode/opencode.json");
  writeFileSync(path, readFileSync(path, "utf8").replaceAll('"ask"', '"allow"'));
}

test.runIf(isWorldRequired("opencode"))("E5 opencode is installed where it is required", () =>
  expectWorld("opencode"),
);

describe.skipIf(isWorldMissing("opencode"))(`E5 loops in opencode${whyWorldMissing("opencode")}`, () => {
  test("E5 D3 three turns in one conversation reach the proved end, and a false claim is sent back", {
    timeout: TEST_MS,
  }, async () => {
    const client = await makeClientWorld("opencode");
    allowTools(client);
    const { model, project, world } = client;
    const play = playTurns(
      [report(true)],
      [world.run("touch one.md"), report(false)],
      [world.run("touch done.txt"), report(true)],
    );
    model.script(play.script);
    const server = await startServer(client);
    const session = await server.open();
    await server.command(session, typedGoal());
    const goal = await until(() => goalsOf(project).find(({ end }) => end !== null), "its end", LONG_MS);
    expect(play.nonces).toHaveLength(3);
    expect(goal).toMatchObject({ status: "completed", iteration: 3, end: { status: "done" } });
    expect(goal.receipts.map(({ toolCalls }) => toolCalls)).toEqual([0, 1, 1]);
    expect(goal.receipts.every(({ costUsd }) => (costUsd ?? 0) > 0)).toBe(true);
    const second = model.heard.find((heard) => nonceOf(heard) === play.nonces[1]);
    expect(second && toldIn(second)).toMatch(/# What is not met\n- done/);
  });

  test("E5 D2 another conversation is not touched; an interrupted turn pauses its loop, and a cancelled loop stays silent", {
    timeout: TEST_MS,
  }, async () => {
    const client = await makeClientWorld("opencode");
    const { model, project, env } = client;
    const held = slow("I think about it.", { words: 1 });
    const play = playTurns([held]);
    model.script(play.script);
    const server = await startServer(client);
    const session = await server.open();
    const first = server.command(session, typedGoal()).catch(() => null);
    await until(() => play.nonces.length === 1, "the first turn is under way", LONG_MS);
    await server.say(await server.open(), "hello, you");
    expect(model.heard.filter((heard) => toldIn(heard).includes("hello, you"))).toHaveLength(1);
    expect(goalsOf(project)[0]).toMatchObject({ end: null, status: "in_progress" });
    await server.abort(session);
    held.release();
    await first;
    await until(() => goalsOf(project)[0]?.status === "paused", "it is paused", LONG_MS);
    const cancelled = await runHere(["cancel", "--keep"], { cwd: project, env });
    expect(cancelled.code).toBe(0);
    await server.say(session, "and now?");
    expect(play.nonces).toHaveLength(1);
    expect(goalsOf(project)[0]?.end).toMatchObject({ status: "cancelled" });
  });

  test("E5 D13 installing twice changes nothing, and uninstalling leaves nothing", async () => {
    const { project, env, before, world } = await makeClientWorld("opencode");
    expect((await runLoop(["install", "opencode"], { cwd: project, env })).stdout).toContain("already");
    expect((await runLoop(["uninstall", "opencode"], { cwd: project, env })).stdout).toContain("Removed: ");
    for (const [path, text] of Object.entries(before)) expect(readFileSync(path, "utf8")).toBe(text);
    expect(existsSync(join(world.home, ".config/opencode/plugin"))).toBe(false);
  });
});
