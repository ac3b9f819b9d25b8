/** What must hold of loops in the conversations of every client that is asked by hooks and can run without a terminal. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectWorld, isWorldMissing, isWorldRequired, whyWorldMissing } from "../agents/worlds.ts";
import { type Script, slow } from "../claude/scripted-model.ts";
import { runLoop } from "../cli.ts";
import { runHere } from "../here.ts";
import { until } from "../until.ts";
import {
  type ClientWorld,
  goalsOf,
  type HookedClient,
  makeClientWorld,
  nonceOf,
  playTurns,
  report,
  runClient,
  toldIn,
  typedGoal,
} from "./goal-in-client.ts";

/** Several real clients may run at once on a busy machine. */
const TEST_MS = 180_000;

export interface Headless {
  readonly name: HookedClient;
  /** What a person types to reach us. */
  readonly word: string;
  /** The words of a run without a terminal. */
  readonly args: (prompt: string) => readonly string[];
  /** Of one answer of the model, in and out, as the client's record tells it. */
  readonly tokens: number;
  /** It runs no command in a folder whose name has quotes in it. */
  readonly isShy?: true;
}

export function loopsIn({ name, word, args, tokens, isShy }: Headless): void {
  const touch = ({ world, project }: ClientWorld, file: string): Script => {
    if (isShy === undefined) return world.run(`touch ${file}`);
    return () => {
      writeFileSync(join(project, file), "");
      return world.run("true");
    };
  };
  const run = (world: ClientWorld, prompt: string) =>
    runClient(world, [world.world.programs[name] ?? "", ...args(prompt)]);

  test.runIf(isWorldRequired(name))(`E5 ${name} is installed where it is required`, () => expectWorld(name));

  describe.skipIf(isWorldMissing(name))(`E5 loops in ${name}${whyWorldMissing(name)}`, () => {
    test("E5 D3 three turns in one conversation reach the proved end, and a false claim is sent back", {
      timeout: TEST_MS,
    }, async () => {
      const client = await makeClientWorld(name);
      const { model, project } = client;
      const play = playTurns(
        [report(true)],
        [touch(client, "one.md"), report(false)],
        [touch(client, "done.txt"), report(true)],
      );
      model.script(play.script);
      const { code } = await run(client, `${word} ${typedGoal()}`);
      expect(code).toBe(0);
      expect(play.nonces).toHaveLength(3);
      const [goal] = goalsOf(project);
      expect(goal).toMatchObject({
        status: "completed",
        exit_signal: true,
        iteration: 3,
        end: { status: "done" },
      });
      const second = model.heard.find((heard) => nonceOf(heard) === play.nonces[1]);
      expect(second && toldIn(second)).toMatch(/# What is not met\n- done/);
      expect(goal?.receipts.map(({ toolCalls }) => toolCalls)).toEqual([0, 1, 1]);
      const used = goal?.receipts.map(
        ({ inputTokens, outputTokens }) => (inputTokens ?? 0) + (outputTokens ?? 0),
      );
      expect(used).toEqual([tokens, 2 * tokens, 2 * tokens]);
    });

    test("E5 D2 another conversation in the same folder is not touched, and a cancelled loop lets its own go", {
      timeout: TEST_MS,
    }, async () => {
      const client = await makeClientWorld(name);
      const { model, project, env } = client;
      const held = slow("I think about it.", { words: 0 });
      const play = playTurns([held]);
      model.script(play.script);
      const first = run(client, `${word} ${typedGoal()}`);
      await until(() => play.nonces.length === 1, "the first turn is under way", 60_000);
      const other = await run(client, "hello, you");
      expect(other.code).toBe(0);
      expect(model.heard.filter((heard) => toldIn(heard).includes("hello, you"))).toHaveLength(1);
      expect(goalsOf(project)[0]).toMatchObject({ end: null });
      const records = readdirSync(join(project, ".loop", "sessions")).filter((file) =>
        file.endsWith(".json"),
      );
      expect(records).toHaveLength(1);
      const cancelled = await runHere(["cancel", "--keep"], { cwd: project, env });
      expect(cancelled.code).toBe(0);
      held.release();
      expect((await first).code).toBe(0);
      expect(play.nonces).toHaveLength(1);
      expect(goalsOf(project)[0]?.end).toMatchObject({ status: "cancelled" });
    });

    test("E5 A3 what is typed at Loopwright is answered without the model, in a folder that has no .loop too", {
      timeout: TEST_MS,
    }, async () => {
      const client = await makeClientWorld(name);
      const { model, project } = client;
      await run(client, `${word} list`);
      expect(model.heard).toHaveLength(0);
      await run(client, "hello");
      expect(model.heard).toHaveLength(1);
      expect(existsSync(join(project, ".loop", "sessions"))).toBe(false);
    });

    test("E5 D13 installing twice changes nothing, and uninstalling leaves the client as it was", {
      timeout: TEST_MS,
    }, async () => {
      const client = await makeClientWorld(name);
      const { project, env } = client;
      const again = await runLoop(["install", name], { cwd: project, env });
      expect(again.stdout).toContain("already");
      const undone = await runLoop(["uninstall", name], { cwd: project, env });
      expect(undone.stdout).toContain("Removed: ");
      const twice = await runLoop(["uninstall", name], { cwd: project, env });
      expect(twice.stdout).toContain("Loopwright is not installed");
      for (const [path, text] of Object.entries(client.before)) expect(readFileSync(path, "utf8")).toBe(text);
      expect(existsSync(join(client.world.home, ".local/share/loopwright/hooks"))).toBe(false);
    });
  });
}
