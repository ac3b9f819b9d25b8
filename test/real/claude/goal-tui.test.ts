/** Goal loops in the real Claude Code in its terminal, with a person who types, and a scripted model. */
import { describe, expect, test } from "vitest";
import {
  expectClaude,
  isClaudeMissing,
  isClaudeRequired,
  whyMissing,
} from "../../support/claude/claude-client.ts";
import { openClaude } from "../../support/claude/claude-tui.ts";
import {
  type CountedTurn,
  claim,
  counter,
  goalsOf,
  isGone,
  makeGoalWorld,
  pluginPids,
  untilCounted,
} from "../../support/claude/goal-in-claude.ts";
import { PLUGIN } from "../../support/claude/plugin.ts";
import { type Asked, type SlowReply, slow } from "../../support/claude/scripted-model.ts";
import { kill, leftovers } from "../../support/cli.ts";
import { refuse } from "../../support/goals/goal-replies.ts";
import { hasTmux } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

const TEST_MS = 120_000;
const BASH_IS_ALLOWED = { permissions: { allow: ["Bash"] } };

test.skipIf(!isClaudeRequired)("the client is there when it is required", expectClaude);

const whyNot = hasTmux ? whyMissing : `${whyMissing} (no tmux)`;
describe.skipIf(isClaudeMissing || !hasTmux)(`E1 goal loops in Claude Code in its terminal${whyNot}`, () => {
  test(
    "D2 D3 12 turns without a tool: past the client's limit it is woken, a false claim is sent back, the checks end it",
    async () => {
      const { project, model } = await makeGoalWorld();
      const { turns, script } = counter(project, {
        reply: (turn) => (turn.number === 5 ? claim(turn) : null),
      });
      model.script(script);
      const claude = await openClaude(project, { model, pluginDir: PLUGIN });
      await claude.type(untilCounted(12));
      await claude.sees(/LOOP_DONE/);
      await claude.idle();
      expect(turns).toHaveLength(12);
      expect(model.bodies).toHaveLength(12);
      expect(turns[5]?.prompt).toContain(
        "You signalled the end, but these criteria are not proved: n6, n8, n10, n12.",
      );
      // the client's own limit was never reached: the loop let go before it, and was woken
      expect(JSON.stringify(claude.transcript())).not.toContain("overriding and ending turn");
      expect(turns.filter(({ asked }) => isWoken(asked)).length).toBeGreaterThan(0);
      const [goal] = goalsOf(project);
      expect(goal).toMatchObject({
        status: "completed",
        iteration: 12,
        running: null,
        end: { status: "done" },
      });
      expect(goal?.session).toBe(`session:${claude.sessionId()}`);

      await claude.type("/loopwright status");
      await claude.sees(/Iterations: 12\/30/);
      await claude.type("thank you");
      await claude.sees(/● fine/);
      await claude.idle();
      expect(model.bodies).toHaveLength(13);
      expect(await claude.exit()).toBe(0);
    },
    TEST_MS,
  );

  test(
    "B16 B19 D2 with a tool: Esc, a message and cancel are obeyed at once; nothing comes back after /clear and a restart",
    async () => {
      const { project, model } = await makeGoalWorld();
      const held: SlowReply[] = [];
      const { turns, script } = counter(project, {
        isCalling: () => true,
        reply: ({ number }) => {
          if (![3, 5, 7].includes(number)) return null;
          const reply = slow(`I am in turn ${number}.\n\nStill.\n\nStill.`, { words: 6 });
          held.push(reply);
          return reply;
        },
      });
      const remark = slow("fine then", { words: 1 });
      model.script((asked) => {
        const last = asked.messages.findLast(({ role }) => role === "user")?.text ?? "";
        return last.includes("think of the umlauts") ? remark : script(asked);
      });
      const options = { model, pluginDir: PLUGIN, settings: BASH_IS_ALLOWED };
      const claude = await openClaude(project, options);
      await claude.type(untilCounted(20));
      await claude.sees(/● I am in turn 3/);
      claude.escape();
      await claude.sees(/Interrupted/);
      await claude.idle();
      await claude.type("what is the time?");
      await claude.sees(/● fine/);
      await claude.sees(/you stopped its turn/);
      await claude.idle();
      await until(() => goalsOf(project)[0]?.status === "paused", "the pause is published");
      expect(goalsOf(project)).toMatchObject([{ pause: { code: "interrupted" } }]);
      expect(turns).toHaveLength(3);

      await claude.type("/loopwright continue");
      await claude.sees(/● I am in turn 5/);
      await claude.type("think of the umlauts");
      held[1]?.release();
      // a model is slower than the client's notes
      await claude.records(/"dequeue"/);
      remark.release();
      await claude.sees(/● I am in turn 7/);
      const askedAt = (turn: number) => model.asked.findIndex((asked) => asked === turns[turn - 1]?.asked);
      const order = model.bodies.map(({ messages }) => messages.at(-1)?.text ?? "");
      const typedAt = order.findIndex((text) => text.includes("think of the umlauts"));
      expect(typedAt).toBeGreaterThan(askedAt(5));
      expect(typedAt).toBeLessThan(askedAt(6));

      await claude.type("/loopwright cancel");
      await claude.records(/"enqueue".*cancel/);
      held[2]?.release();
      await until(() => goalsOf(project)[0]?.status === "cancelled", "the goal is cancelled");
      await claude.idle();
      expect(turns).toHaveLength(7);
      await claude.type("are you there?");
      await model.hears(/are you there/);
      await claude.idle();
      const before = claude.sessionId();
      await claude.type("/clear");
      await until(() => claude.sessionId() !== before, "there is another conversation");
      await claude.type("and now?");
      await model.hears(/and now/);
      await claude.idle();
      expect(await claude.exit()).toBe(0);

      const again = await openClaude(project, { ...options, args: ["--resume", before] });
      await again.type("once more?");
      await model.hears(/once more/);
      await again.idle();
      expect(await again.exit()).toBe(0);
      expect(turns).toHaveLength(7);
      expect(goalsOf(project)).toMatchObject([{ status: "cancelled", running: null }]);
    },
    TEST_MS,
  );

  test(
    "B13 12 turns with a tool: one that the API refused is waited out and repeated at no iteration, also after the server was killed",
    async () => {
      const { project, model } = await makeGoalWorld();
      const killed: number[] = [];
      const isRefused = ({ number }: Pick<CountedTurn, "number">) => number === 2 || number === 8;
      const { turns, script } = counter(project, {
        isCalling: () => true,
        isIdle: isRefused,
        reply: (turn) => {
          if (isRefused(turn)) return refuse(529, "overloaded_error", "scripted trouble");
          if (turn.number !== 5) return null;
          const reply = slow("I am in turn 5.\n\nStill.\n\nStill.", { words: 6 });
          killed.push(...pluginPids(leftovers(project), "server"));
          killed.forEach(kill);
          void until(() => killed.every(isGone), "the server is gone").then(() => reply.release());
          return reply;
        },
      });
      model.script(script);
      const claude = await openClaude(project, { model, pluginDir: PLUGIN, settings: BASH_IS_ALLOWED });
      await claude.type(untilCounted(12));
      await until(() => turns.length === 2, "the second turn is asked for", 30_000);
      const waiting = await until(() => goalsOf(project)[0]?.waiting, "the goal waits");
      expect(waiting.reason).toContain("server_error");
      await claude.sees(/LOOP_DONE/, 60_000);
      await claude.idle();
      expect(killed).toHaveLength(1);
      // what was refused is no iteration: once with the server, and once without
      expect(turns.map(({ prompt }) => Number(/Iteration (\d+)/.exec(prompt)?.[1]))).toEqual([
        1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10, 11, 12,
      ]);
      const bodyOf = (turn: number) => model.bodies.find((body) => body === turns[turn - 1]?.asked);
      for (const turn of [2, 8]) {
        const [refused, repeated] = [bodyOf(turn), bodyOf(turn + 1)];
        expect((repeated?.askedAt ?? 0) - (refused?.askedAt ?? 0)).toBeGreaterThan(4_000);
        expect(isWoken(repeated)).toBe(true);
      }
      expect(await claude.exit()).toBe(0);
      expect(goalsOf(project)).toMatchObject([{ status: "completed", iteration: 12, running: null }]);
    },
    TEST_MS,
  );
});

/** The client was idle, and the plugin's monitor woke it. */
function isWoken(asked: Asked | undefined): boolean {
  const last = asked?.messages.findLast(({ role }) => role === "user");
  return last?.text.includes("<task-notification>") === true;
}
