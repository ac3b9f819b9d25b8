/**
 * A goal is bound to the conversation that began it, in the real Claude Code: others in the same folder are never
 * touched, whatever they do, and a conversation that ended does not go on by itself.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  expectClaude,
  isClaudeMissing,
  isClaudeRequired,
  whyMissing,
} from "../../support/claude/claude-client.ts";
import { runClaude } from "../../support/claude/claude-headless.ts";
import { openClaude } from "../../support/claude/claude-tui.ts";
import {
  counter,
  goalsOf,
  makeGoalWorld,
  SPEC,
  sessionOf,
  untilCounted,
} from "../../support/claude/goal-in-claude.ts";
import { PLUGIN } from "../../support/claude/plugin.ts";
import { type SlowReply, slow } from "../../support/claude/scripted-model.ts";
import { cleanEnv } from "../../support/cli.ts";
import { hasTmux } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

const TEST_MS = 120_000;

test.skipIf(!isClaudeRequired)("the client is there when it is required", expectClaude);

const whyNot = hasTmux ? whyMissing : `${whyMissing} (no tmux)`;
describe.skipIf(isClaudeMissing || !hasTmux)(`D2 a goal is its conversation's own${whyNot}`, () => {
  test(
    "another conversation, cleared, compacted, forked, resumed or without a name, gets no turn; B20 its own goes on after a compaction, and after /clear only when told to",
    async () => {
      const { project, model } = await makeGoalWorld();
      const held = new Map<number, SlowReply>();
      const { turns, script } = counter(project, {
        reply: ({ number }) => {
          if (number !== 2 && number !== 4) return null;
          const reply = slow(`I am in turn ${number}.\n\nStill.\n\nStill.`, { words: 6 });
          held.set(number, reply);
          return reply;
        },
      });
      model.script(script);
      const options = { model, pluginDir: PLUGIN };
      const claude = await openClaude(project, options);
      const own = claude.sessionId();
      await claude.type(untilCounted(6));
      await claude.sees(/● I am in turn 2/);

      const other = await openClaude(project, options);
      const talk = async (words: string) => {
        await other.type(words);
        await model.hears(new RegExp(words));
        await other.idle();
      };
      await talk("hello one");
      const first = other.sessionId();
      await other.type("/clear");
      await until(() => other.sessionId() !== first, "there is another conversation");
      await talk("hello two");
      await other.type("/compact");
      await other.sees(/Compacted|compacted/);
      await talk("hello three");
      expect(await other.exit()).toBe(0);
      const fork = await runClaude(project, ["hello four", "--resume", own, "--fork-session"], options);
      expect(fork.result).toMatchObject({ result: "fine" });
      expect(fork.result?.session_id).not.toBe(own);
      const resumed = await runClaude(project, ["hello five", "--resume", first], options);
      expect(resumed.result).toMatchObject({ result: "fine", session_id: first });
      for (const id of ["", "../../up", undefined]) expect(stopOf(project, id)).toBe("");
      expect(turns).toHaveLength(2);
      expect(goalsOf(project)).toMatchObject([{ status: "in_progress", iteration: 1 }]);

      await claude.type("/compact");
      await claude.records(/"enqueue".*\/compact/);
      held.get(2)?.release();
      await claude.sees(/● I am in turn 4/);
      // of what was compacted it is reminded
      const reminded = turns[2]?.asked.messages.map(({ text }) => text).join("\n");
      expect(reminded).toContain("[LOOP RESUME]");
      expect(reminded).toContain(`Spec: ${SPEC}`);
      await claude.type("/clear");
      await claude.records(/"enqueue".*\/clear/);
      held.get(4)?.release();
      await until(() => claude.sessionId() !== own, "there is another conversation");
      await claude.type("hello six");
      await model.hears(/hello six/);
      await claude.idle();
      expect(await claude.exit()).toBe(0);
      expect(goalsOf(project)).toMatchObject([{ status: "paused", pause: { code: "interrupted" } }]);

      const back = await runClaude(project, ["hello seven", "--resume", own], options);
      expect(back.result).toMatchObject({ result: "fine", session_id: own });
      expect(turns).toHaveLength(4);
      expect(goalsOf(project)).toMatchObject([{ status: "paused" }]);
      const end = await runClaude(project, ["/loopwright continue", "--resume", own], options);
      expect(end.result).toMatchObject({ session_id: own });
      expect(goalsOf(project)).toMatchObject([{ status: "completed", session: `session:${own}` }]);
      expect(turns).toHaveLength(6);
      for (const { asked } of turns) expect(sessionOf(asked)).toBe(own);
    },
    TEST_MS,
  );
});

/** What a stop hook on its own says to a conversation of this name. */
function stopOf(project: string, session: string | undefined): string {
  const input = JSON.stringify({
    hook_event_name: "Stop",
    session_id: session,
    prompt_id: "p",
    cwd: project,
  });
  const { status, stdout } = spawnSync(process.execPath, [join(PLUGIN, "bin/hook.cjs"), "Stop"], {
    cwd: project,
    env: cleanEnv(project, { CLAUDE_PROJECT_DIR: project }),
    input,
    encoding: "utf8",
  });
  expect(status).toBe(0);
  return stdout;
}
