/** Goal loops in the real pi in its terminal, in each version that we know, with a person who types and a scripted model. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { GoalView } from "../../../src/core/views/goal-view.ts";
import { lastUserText, refusal } from "../../support/agents/model.ts";
import { isWorldMissing, whyWorldMissing } from "../../support/agents/worlds.ts";
import { slow } from "../../support/claude/scripted-model.ts";
import { leftovers, runLoop } from "../../support/cli.ts";
import { SPEC, stateOf, statusOf } from "../../support/goals/goal-cli.ts";
import { nonceOf, promptsOf, report } from "../../support/goals/goal-replies.ts";
import { makePiWorld, openPi, PI_VERSIONS, type PiWorld } from "../../support/pi-tui.ts";
import { hasTmux } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

const TEST_MS = 90_000;
const UNTIL = `/loop until --yes --check "done=sh check.sh" "${SPEC}"`;

describe.each(PI_VERSIONS)("E2 goal loops in %s", (version) => {
  const why = hasTmux ? whyWorldMissing(version) : " (no tmux)";

  describe.skipIf(isWorldMissing(version) || !hasTmux)(`in its terminal${why}`, () => {
    test(
      "B9 B10 D3 a false claim is sent back, a report through the tool is taken, the checks end it; tokens and dollars are pi's own",
      async () => {
        const world = await makePiWorld(version);
        const { project, model } = world;
        model.script(
          write(world, "one.md"),
          report(true),
          write(world, "done.txt"),
          (asked) => ({
            kind: "tool",
            name: "loop_report",
            input: { nonce: nonceOf(asked), exit_signal: true, criteria: { done: true } },
          }),
          { kind: "text", text: "All is there." },
        );
        const pi = await openPi(world);
        await pi.type(UNTIL);
        await pi.sees(/LOOP_DONE/);
        expect(model.heard).toHaveLength(5);
        expect(promptsOf(model.heard[2]).at(-1)).toContain(
          "You signalled the end, but these criteria are not proved: done.",
        );
        expect(await receiptsOf(project, 2)).toMatchObject([
          { files: ["one.md"], toolCalls: 1, claimedExit: true, charged: true, inputTokens: 2_000 },
          { files: ["done.txt"], toolCalls: 2, claimedExit: true, charged: true, inputTokens: 3_000 },
        ]);
        expect(stateOf(project).receipts[0]?.costUsd).toBeCloseTo(2 * (0.003 + 0.000_75), 6);
        await pi.type("thank you");
        await model.asks(6);
        await pi.sees(/All is there.*thank you/s);
        expect(lastUserText(model.heard[5] ?? NOTHING)).toBe("thank you");
        expect(await pi.exit()).toBe(0);
        expect(leftovers(project)).toEqual([]);
      },
      TEST_MS,
    );

    test(
      "B16 B19 Esc pauses and continue goes on; cancel stops the turn that runs; nothing comes after it",
      async () => {
        const world = await makePiWorld(version);
        const { project, model } = world;
        const first = slow("I am in turn one and go on", { words: 5 });
        const second = slow("I am in turn two and go on", { words: 5 });
        model.script(first, second, { kind: "text", text: "fine" });
        const pi = await openPi(world);
        await pi.type(UNTIL);
        await pi.sees(/I am in turn one/);
        pi.keys("Escape");
        await pi.sees(/PAUSED [0-9a-f]{8}: you stopped its turn\. +Go on with: \/loop continue/);
        expect(await statusOf(project)).toMatchObject({ status: "paused", pause: { code: "interrupted" } });
        await pi.type("what is the time?");
        await model.asks(2);
        second.release();
        await pi.sees(/turn two and go on/);
        const third = slow("I am in turn three and go on", { words: 5 });
        model.script(third, { kind: "text", text: "fine" });
        await pi.type("/loop continue");
        await pi.sees(/I am in turn three/);
        await pi.type("/loop cancel --yes");
        await pi.sees(/CANCELLED/);
        await until(() => model.heard[2]?.isCut, "the request was cut");
        expect(await statusOf(project)).toMatchObject({ status: "cancelled" });
        await expect(model.asks(4, 2_000)).rejects.toThrow("in vain");
        expect(await pi.exit()).toBe(0);
      },
      TEST_MS,
    );

    test.each([
      [500, "outage"],
      [429, "quota"],
    ] as const)(
      "B13 an answer of %i is typed (%s), costs no iteration, and is waited for",
      async (status, kind) => {
        const world = await makePiWorld(version);
        const { project, model } = world;
        model.script(refusal(status));
        const pi = await openPi(world);
        await pi.type(UNTIL);
        await pi.sees(/waits until/);
        expect(await statusOf(project)).toMatchObject({ status: "in_progress", iteration: 0 });
        model.script(write(world, "done.txt"), report(true));
        await pi.type("/loop continue --now");
        await pi.sees(/LOOP_DONE/);
        expect(await receiptsOf(project, 2)).toMatchObject([
          { charged: false, failure: { class: kind } },
          { charged: true, failure: null },
        ]);
        expect(await pi.exit()).toBe(0);
      },
      TEST_MS,
    );

    test(
      "B13 B20 what pi tries again by itself is one turn; a new session pauses the goal, and another conversation is not touched",
      async () => {
        const world = await makePiWorld(version, {
          settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 300 } },
        });
        const { project, model } = world;
        const held = slow("I am in turn two and go on", { words: 5 });
        model.script(refusal(500), write(world, "one.md"), report(false), held);
        const pi = await openPi(world);
        await pi.type(UNTIL);
        await pi.sees(/I am in turn two/);
        expect(model.heard).toHaveLength(4);
        expect(await receiptsOf(project, 1)).toMatchObject([
          { charged: true, failure: null, files: ["one.md"] },
        ]);
        held.release();
        model.script({ kind: "silence" });
        await model.asks(5);
        pi.keys("Escape");
        await pi.sees(/you stopped its turn/);
        model.script({ kind: "text", text: "fine" });
        await pi.type("/new");
        await pi.sees(/New session/i);
        await pi.type("hello there");
        await model.asks(6);
        await expect(model.asks(7, 2_000)).rejects.toThrow("in vain");
        await pi.type("/loop status");
        await pi.sees(/paused/i);
        expect(await statusOf(project)).toMatchObject({ status: "paused" });
        model.script(write(world, "done.txt"), report(true));
        await pi.type("/loop continue");
        await pi.sees(/LOOP_DONE/);
        // this conversation was told nothing of it before
        expect(lastUserText(model.heard[6] ?? NOTHING)).toMatch(/^\[LOOP RESUME\]/);
        expect(await pi.exit()).toBe(0);
      },
      TEST_MS,
    );

    test(
      "B14 B16 a gate is answered in the conversation; a pause from outside stops the turn; a closed pi leaves it paused",
      async () => {
        const world = await makePiWorld(version, { env: { LOOP_SHAPE: "colleague" } });
        const { project, model } = world;
        model.script(write(world, "one.md"), report(false), { kind: "silence" });
        const pi = await openPi(world);
        await pi.type(UNTIL.replace(" --yes", ""));
        await pi.sees(/asks: .*\/loop approve/s);
        await pi.type("/loop approve");
        await model.asks(2);
        await until(async () => isAsking(await statusOf(project)), "it asks after its first turn");
        await pi.type("/loop approve");
        await model.asks(3);
        const { code } = await runLoop(["pause"], { cwd: project, env: world.env });
        expect(code).toBe(0);
        await until(() => model.heard[2]?.isCut, "the turn was stopped");
        await pi.sees(/PAUSED/);
        await pi.type("/loop continue");
        await model.asks(4);
        expect(await pi.exit()).toBe(0);
        expect(await statusOf(project)).toMatchObject({
          status: "paused",
          pause: { reason: "its conversation ended" },
        });
        expect(leftovers(project)).toEqual([]);
      },
      TEST_MS,
    );
  });
});

const NOTHING = { system: "", tools: [], messages: [] };

function isAsking(goal: GoalView | null): boolean {
  return goal?.iteration === 1 && goal.gate !== null;
}

/** Published some moments after they are true. */
async function receiptsOf(project: string, count: number) {
  await until(() => stateOf(project).receipts.length >= count, `there are ${count} receipts`);
  return stateOf(project).receipts;
}

function write({ world, project }: PiWorld, name: string) {
  return world.write(join(project, name));
}
