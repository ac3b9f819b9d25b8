/** `loop agents test` with a real agent, whose model does as it is told. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, type TestContext } from "vitest";
import type { Asked, Reply } from "../claude/scripted-model.ts";
import { leftovers, makeProject, runLoop } from "../cli.ts";
import { say } from "../goals/goal-replies.ts";
import { startModel } from "./model.ts";
import { makeWorld, type World, type WorldName } from "./worlds.ts";

/** Gemini refuses to write where a path has double quotes. */
const PREFIX = "loop it's so ";

export async function expectSelfTest(
  name: WorldName,
  agent: string,
  finish: TestContext["onTestFinished"],
): Promise<void> {
  const cwd = makeProject(finish, PREFIX);
  const model = await startModel({ kind: "silence" });
  finish(() => model.close());
  const world = makeWorld(name, cwd, model.url);
  model.script((asked) => replyTo(asked, world));
  const listed = await runLoop(["agents", "--json"], { cwd, env: world.env });
  const { agents } = JSON.parse(listed.stdout) as {
    agents: readonly { name: string; version: string | null }[];
  };
  const known = agents.find((one) => one.name === agent.split(":")[0]);
  expect(known?.version, listed.stdout).toMatch(/^\d+\.\d+\.\d+/);
  const { code, stdout, stderr } = await runLoop(["agents", "test", agent, "--json"], {
    cwd,
    env: world.env,
  });
  expect(stdout, stderr).not.toBe("");
  const { ok, steps } = JSON.parse(stdout) as {
    ok: boolean;
    steps: readonly { name: string; ok: boolean }[];
  };
  expect({ code, ok, failed: steps.filter((step) => !step.ok), count: steps.length }).toEqual({
    code: 0,
    ok: true,
    failed: [],
    count: 5,
  });
  expect(leftovers(cwd)).toEqual([]);
}

function replyTo({ messages }: Asked, world: World): Reply {
  const said = messages.filter(({ role, text }) => role === "user" && text !== "").map(({ text }) => text);
  const last = said.at(-1) ?? "";
  const word = /loop-[0-9a-f]{8}/.exec(said.join("\n"))?.[0] ?? "none";
  if (last.includes("Count slowly")) return { kind: "silence" };
  if (!last.includes("hello.txt")) return say(word);
  const isWritten = messages.some(({ results }) => results.length > 0);
  return isWritten ? say("done") : world.write(join(folderOf(world), "hello.txt"), word);
}

/** The folder that the self-test made for its turns. */
function folderOf({ env }: World): string {
  const temporary = env.TMPDIR ?? "";
  return join(
    temporary,
    readdirSync(temporary).find((name) => name.startsWith("loopwright agent")) ?? "none",
  );
}
