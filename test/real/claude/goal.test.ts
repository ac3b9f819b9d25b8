/** Goal loops in the real Claude Code without its terminal (`claude -p`), with a scripted model. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  expectClaude,
  isClaudeMissing,
  isClaudeRequired,
  whyMissing,
} from "../../support/claude/claude-client.ts";
import { type ClaudeRun, runClaude } from "../../support/claude/claude-headless.ts";
import {
  claim,
  counter,
  goalsOf,
  isGone,
  makeGoalWorld,
  NO_CAP,
  pluginPids,
  slowToComeBack,
  untilCounted,
} from "../../support/claude/goal-in-claude.ts";
import { PLUGIN } from "../../support/claude/plugin.ts";
import { slow } from "../../support/claude/scripted-model.ts";
import { kill, leftovers } from "../../support/cli.ts";
import { until } from "../../support/until.ts";

const TEST_MS = 120_000;

test.skipIf(!isClaudeRequired)("the client is there when it is required", expectClaude);

describe.skipIf(isClaudeMissing)(`E1 goal loops in Claude Code headless${whyMissing}`, () => {
  test(
    "D3 B10 12 turns without a tool: the checks decide, and a claim that is false is sent back with what failed",
    async () => {
      const { project, model } = await makeGoalWorld();
      const { turns, script } = counter(project, {
        reply: (turn) => (turn.number === 5 ? claim(turn) : null),
      });
      model.script(script);
      const run = await runClaude(project, [untilCounted(12)], {
        model,
        pluginDir: PLUGIN,
        settings: NO_CAP,
      });
      expect(run).toMatchObject({ exitCode: 0, stderr: "", result: { result: "Turn 12 is over." } });
      expect(turns).toHaveLength(12);
      expect(model.bodies).toHaveLength(12);
      const [told = ""] = turns.slice(5).map(({ prompt }) => prompt);
      expect(told).toContain("You signalled the end, but these criteria are not proved: n6, n8, n10, n12.");
      expect(told).toContain("- n6: `test $(cat n) -ge 6` exits 0. It returned: exit 1.");

      const [goal, ...others] = goalsOf(project);
      expect(others).toEqual([]);
      expect(goal).toMatchObject({
        status: "completed",
        iteration: 12,
        running: null,
        end: { status: "done" },
      });
      expect(goal?.session).toBe(`session:${run.result?.session_id}`);
      expect(Object.values(goal?.criteriaStatus ?? {})).toHaveLength(6);
      for (const criterion of Object.values(goal?.criteriaStatus ?? {}))
        expect(criterion).toMatchObject({ met: true, evidence: { exitCode: 0 } });
      expect(saidTo(run)).toMatch(new RegExp(`\\[LOOP\\] LOOP_DONE: ${goal?.id}.*SHIP`, "s"));
    },
    TEST_MS,
  );

  test(
    "D2 12 turns with a tool need no setting, and outlive the server: it is killed, and the next stop is answered",
    async () => {
      const { project, model } = await makeGoalWorld();
      const killed: number[] = [];
      const { turns, script } = counter(project, {
        isCalling: () => true,
        reply: ({ number }) => {
          if (number !== 4) return null;
          const reply = slow("Turn 4 is over.");
          killed.push(...pluginPids(leftovers(project), "server"));
          killed.forEach(kill);
          void until(() => killed.every(isGone), "the server is gone").then(() => reply.release());
          return reply;
        },
      });
      model.script(script);
      const run = await runClaude(project, [untilCounted(12), "--allowedTools", "Bash"], {
        model,
        pluginDir: slowToComeBack(project),
      });
      expect(killed).toHaveLength(1);
      expect(run).toMatchObject({ exitCode: 0, result: { result: "Turn 12 is over." } });
      expect(turns.map(({ prompt }) => /Iteration \d+/.exec(prompt)?.[0])).toEqual(
        Array.from({ length: 12 }, (_, index) => `Iteration ${index + 1}`),
      );
      // a number and an end for each turn: none was given twice
      expect(model.bodies).toHaveLength(24);
      expect(goalsOf(project)).toMatchObject([{ status: "completed", iteration: 12, running: null }]);
    },
    TEST_MS,
  );

  test(
    "D2 past the client's limit of stops without a tool: asked for one, it goes on; without one, it ends and says why",
    async () => {
      const { project, model } = await makeGoalWorld();
      const { turns, script } = counter(project);
      model.script(script);
      const run = await runClaude(project, [untilCounted(12)], { model, pluginDir: PLUGIN });
      expect(run).toMatchObject({ exitCode: 0, stderr: "", result: { result: "Turn 9 is over." } });
      expect(model.bodies).toHaveLength(9);
      const asks = turns.map(({ prompt }) => prompt.includes("First of all call the tool loop_status"));
      expect([asks[0], asks.at(-1)]).toEqual([false, true]);
      const [goal] = goalsOf(project);
      expect(saidTo(run)).toContain(`[LOOP] ${goal?.id} goes on after your next message: the client stops`);
      expect(saidTo(run)).not.toContain("overriding");
      // nine turns were made and counted; the conversation ended, and with it the work
      expect(goal).toMatchObject({ status: "paused", iteration: 9, running: null });
      expect(goal?.pause).toMatchObject({ code: "interrupted", reason: "its conversation ended" });

      writeFileSync(join(project, "n"), "0\n");
      const obedient = counter(project, {
        isCalling: ({ prompt }) => prompt.includes("First of all call the tool"),
      });
      model.script(obedient.script);
      const words = [
        "/loopwright continue",
        "--allowedTools",
        "Bash",
        "--resume",
        `${run.result?.session_id}`,
      ];
      const again = await runClaude(project, words, { model, pluginDir: PLUGIN });
      expect(again).toMatchObject({ exitCode: 0, stderr: "", result: { result: "Turn 12 is over." } });
      expect(obedient.turns).toHaveLength(12);
      expect(obedient.turns[0]?.prompt).toContain("Iteration 10/30");
      expect(goalsOf(project)).toMatchObject([{ status: "completed" }]);
    },
    TEST_MS,
  );
});

/** What the person is told by hooks, in order. */
function saidTo({ events }: ClaudeRun): string {
  const lines = events.filter(({ subtype }) => subtype === "informational").map(({ content }) => content);
  return lines.join("\n");
}
