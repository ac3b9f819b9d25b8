/** What people type at us in the real Claude Code: answered on the spot, and the model is not asked. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isClaudeMissing, whyMissing } from "../../support/claude/claude-client.ts";
import { runClaude } from "../../support/claude/claude-headless.ts";
import {
  clockPasses,
  firesOf,
  makePluginWorld,
  newIn,
  onlyTask,
  tellLoop,
} from "../../support/claude/plugin-world.ts";
import { create, historyOf, listOf } from "../../support/cli.ts";
import { say } from "../../support/goals/goal-replies.ts";
import { hasTmux } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

/** The client takes a second a turn, and several where the machine is busy. */
const TEST_MS = 120_000;

const whyNot = hasTmux ? whyMissing : `${whyMissing} (no tmux)`;
describe.skipIf(isClaudeMissing || !hasTmux)(`typed in the real Claude Code${whyNot}`, () => {
  test(
    "A3 B1 H5 E1 every command is answered at once, on the screen, and the model never hears of it",
    async () => {
      const { project, model, open } = await makePluginWorld(say("fine"));
      const claude = await open({ rows: 120 });
      const took: number[] = [];
      const tell = async (typed: string, answer: RegExp) => {
        const from = performance.now();
        const text = await tellLoop(claude, typed, answer);
        took.push(performance.now() - from);
        return text;
      };
      expect(existsSync(join(project, ".loop"))).toBe(false);
      expect(await tell("/loopwright list", /No loops here/)).not.toContain("Error");
      expect(existsSync(join(project, ".loop"))).toBe(false);

      await tell("/loopwright --no-now 1h weigh the harbour", /Created [0-9a-f]{8}: Every hour/);
      const { id } = await onlyTask(project);
      expect(await tell("/loopwright:loop ls", /1 task/)).toMatch(
        new RegExp(`^ID .*\\n${id} +Every hour .* weigh the harbour$`, "m"),
      );
      expect(await tell(`/loopwright show ${id.slice(0, 6)}`, /kept +on disk/)).toMatch(
        /^kept +on disk \(durable\)$/m,
      );
      await tell(`/loopwright pause ${id}`, /Paused/);
      expect(await listOf(project)).toMatchObject({ tasks: [{ id, state: "paused" }] });
      await tell(`/loopwright:loop resume ${id}`, /Resumed .* next/);
      await tell("/loopwright history", /No history yet/);
      await tell("/loopwright status", /There is no goal loop here/);
      expect(await tell("/loopwright score fix the tests", /2\/10/)).toMatch(/^2\/10 {2}vague/);
      await tell("/loopwright help", /Examples:/);
      expect(await tell("/loopwright list --what", /Unknown/)).toMatch(/^loop: Unknown option '--what'\.\n/);
      expect(await tell("/loopwright delete ffff", /no task ffff/)).toMatch(
        /^loop: There is no task ffff here\.\n/,
      );
      expect(await tell("/loopwright 5m", /prompt is missing/)).toMatch(
        /^loop: The prompt is missing; [^.]+\.\n/,
      );
      expect(await tell("/loopwright --cron nonsense x", /cron/i)).toMatch(/^loop: [^\n]+\.(?:\n|$)/);
      expect(await tell("/loopwright up", /terminal/)).toBe("`loop up` works only in a terminal.");
      await tell(`/loopwright delete ${id}`, /Deleted/);
      expect((await listOf(project)).tasks).toEqual([]);

      expect([...model.bodies, ...model.helpers]).toEqual([]);
      expect(took.sort((a, b) => a - b)[took.length >> 1]).toBeLessThan(3_000);
      await claude.type("and now you");
      const { messages } = await model.asks(1);
      expect(JSON.stringify(messages)).not.toMatch(new RegExp(`${id}|weigh the harbour|blocked by hook`));
      expect(await claude.exit()).toBe(0);
    },
    TEST_MS,
  );

  test(
    "A1 A4 E1 a prompt with quotes, backticks, $(…), umlauts and two lines arrives as it is, and meets no shell",
    async () => {
      const { project, model, open } = await makePluginWorld(say("fine"));
      const claude = await open();
      const prompt = `say "it's" \`touch one\` $(touch two); touch three && touch four | "größer" é 漢 \\n %s
and ' on the second line $HOME *`;
      const before = readdirSync(project);
      await tellLoop(claude, `/loopwright --exact --no-jitter 1h ${prompt}`, /Created/);
      const body = await model.hears(/größer/);
      const task = await onlyTask(project);
      expect(task.prompt).toBe(prompt);
      expect(newIn(body)).toContain(`[Scheduled task ${task.id} — Every hour — initial run]\n\n${prompt}`);
      const [fire] = await firesOf(project, task.id, 1);
      expect(fire).toMatchObject({ kind: "initial", outcome: "ok" });
      expect(readdirSync(project).filter((name) => name !== ".loop")).toEqual(before);
      expect(model.bodies).toHaveLength(1);
    },
    TEST_MS,
  );

  test(
    "A1 E1 a task whose prompt is a slash command is carried out as one, by the agent",
    async () => {
      const { project, model, open } = await makePluginWorld(({ messages }) =>
        newIn({ messages }).includes("/greet the world")
          ? { kind: "tool", name: "Skill", input: { skill: "greet", args: "the world" } }
          : say("greeted"),
      );
      mkdirSync(join(project, ".claude/skills/greet"), { recursive: true });
      writeFileSync(
        join(project, ".claude/skills/greet/SKILL.md"),
        "---\nname: greet\ndescription: greets somebody\n---\nWAVE AT $ARGUMENTS\n",
      );
      const claude = await open();
      await tellLoop(claude, "/loopwright --exact --no-jitter 1h /greet the world", /Created/);
      await model.hears(/WAVE AT the world/);
      const { id, prompt } = await onlyTask(project);
      expect(prompt).toBe("/greet the world");
      expect(await firesOf(project, id, 1)).toMatchObject([{ kind: "initial", outcome: "ok" }]);
    },
    TEST_MS,
  );

  test(
    "A10 E1 a one-shot that was missed while nothing ran is told when a conversation begins, and not run",
    async () => {
      const { project, model, open } = await makePluginWorld(say("fine"));
      const words = ["in", "1s", "call the customer", "--grace", "100ms", "--no-jitter"];
      const { id, nextFireAt } = await create(project, ...words);
      await clockPasses(Date.parse(nextFireAt ?? "") + 300);
      const claude = await open();
      const screen = (await claude.sees(/call the customer/)).replaceAll(/\s+/g, " ");
      expect(screen).toContain(`Missed while nothing ran: ${id} call the customer.`);
      expect(screen).toContain(`/loopwright run ${id}.`);
      await until(async () => (await onlyTask(project)).state === "missed", "it is listed as missed");
      expect(model.bodies).toEqual([]);

      await claude.type(`/loopwright run ${id}`);
      await model.hears(/call the customer/);
      await firesOf(project, id, 1);
      expect((await historyOf(project, id)).map(({ outcome }) => outcome)).toEqual(["missed", "ok"]);
      expect((await listOf(project)).tasks).toEqual([]);
    },
    TEST_MS,
  );
});

describe.skipIf(isClaudeMissing)(`typed at the real Claude Code without its terminal${whyMissing}`, () => {
  test(
    "A3 A9 A20 H5 E1 `claude -p` answers without a model, and what it made is there for others",
    async () => {
      const { project, model, client } = await makePluginWorld(say("fine"));
      const answerTo = async (typed: string, env: Readonly<Record<string, string>> = {}) => {
        const { exitCode, stderr, result } = await runClaude(project, [typed], { ...client, env });
        expect({ exitCode, stderr, turns: result?.num_turns, isError: result?.is_error }).toEqual({
          exitCode: 0,
          stderr: "",
          turns: 0,
          isError: false,
        });
        return result?.result ?? "";
      };
      expect(await answerTo("/loopwright 1h weigh the harbour")).toMatch(/Created [0-9a-f]{8}: Every hour/);
      const { id, durable } = await onlyTask(project);
      expect(durable).toBe(true);
      expect(await answerTo("/loopwright:loop list")).toContain(id);
      expect(await answerTo("/loopwright delete everything")).toMatch(
        /hook:\nloop: "everything" is not an id; [^\n]+\.\n[^\n]+\s*$/,
      );
      const off = await answerTo("/loopwright 1h and this", { LOOP_DISABLE_SCHEDULER: "1" });
      expect(off).toContain("because LOOP_DISABLE_SCHEDULER=1 is set");
      expect([...model.bodies, ...model.helpers]).toEqual([]);
    },
    TEST_MS,
  );
});
