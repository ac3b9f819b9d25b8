/** The person in pi comes first: what they press, type, close and set, in each version that we know. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { lastUserText, refusal } from "../../support/agents/model.ts";
import { commandLine } from "../../support/agents/processes.ts";
import { isWorldMissing, whyWorldMissing } from "../../support/agents/worlds.ts";
import { slow } from "../../support/claude/scripted-model.ts";
import { kill, leftovers, runLoop } from "../../support/cli.ts";
import { commitAll, SPEC, statusOf } from "../../support/goals/goal-cli.ts";
import { promptsOf, report } from "../../support/goals/goal-replies.ts";
import { makePiWorld, openPi, PI_VERSIONS, type PiWorld, runPi } from "../../support/pi-tui.ts";
import { hasTmux } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

const TEST_MS = 90_000;
const UNTIL = `/loop until --yes --check "done=sh check.sh" "${SPEC}"`;

describe.each(PI_VERSIONS)("E2 the person in %s", (version) => {
  const why = hasTmux ? whyWorldMissing(version) : " (no tmux)";

  describe.skipIf(isWorldMissing(version) || !hasTmux)(`in its terminal${why}`, () => {
    test(
      "B19 Esc while the checks run pauses the goal; the checks are ended",
      async () => {
        const world = await makePiWorld(version);
        const { project, model } = world;
        // slow from the second round on: the first is before any work
        writeFileSync(join(project, "check.sh"), "test -f one.md && sleep 600\ntest -f done.txt\n");
        commitAll(project);
        model.script(write(world, "one.md"), report(false));
        const pi = await openPi(world);
        await pi.type(UNTIL);
        await model.asks(2);
        await pi.sees(/checking/);
        pi.keys("Escape");
        await pi.sees(/PAUSED [0-9a-f]{8}: you stopped its turn/);
        const isChecking = () => leftovers(project).some((pid) => /sleep 600/.test(commandLine(pid)));
        await until(() => !isChecking(), "the checks are ended");
        expect(await statusOf(project)).toMatchObject({ status: "paused", pause: { code: "interrupted" } });
        expect(await pi.exit()).toBe(0);
      },
      TEST_MS,
    );

    test(
      "E2 /reload while the checks run changes nothing: the round is taken up, and the goal reaches its end",
      async () => {
        const world = await makePiWorld(version);
        const { project, model } = world;
        const go = join(dirname(project), "go");
        const waits = "test -f done.txt || exit 1\nwhile [ ! -f ../go ]; do sleep 0.1; done\n";
        writeFileSync(join(project, "check.sh"), waits);
        commitAll(project);
        model.script(write(world, "done.txt"), report(true));
        const pi = await openPi(world);
        await pi.type(UNTIL);
        await pi.sees(/checking/);
        await pi.type("/reload");
        await pi.sees(/Reloaded/);
        await pi.sees(/checking/);
        writeFileSync(go, "");
        await pi.sees(/LOOP_DONE/);
        expect(model.heard).toHaveLength(2);
        expect(await statusOf(project)).toMatchObject({ status: "completed", iteration: 1 });
        expect(await pi.exit()).toBe(0);
        expect(leftovers(project)).toEqual([]);
      },
      TEST_MS,
    );

    test(
      "D3 what is typed in the middle of a turn is let in, and the loop goes on to its end",
      async () => {
        const world = await makePiWorld(version);
        const { project, model } = world;
        const held = slow("I am at it", { words: 2 });
        model.script(held, { kind: "text", text: "I will." }, write(world, "done.txt"), report(true));
        const pi = await openPi(world);
        await pi.type(UNTIL);
        await pi.sees(/I am/);
        await pi.type("think of the umlauts");
        held.release();
        await pi.sees(/LOOP_DONE/);
        expect(lastUserText(model.heard[1] ?? NOTHING)).toBe("think of the umlauts");
        expect(await statusOf(project)).toMatchObject({ status: "completed", iteration: 2 });
        expect(await pi.exit()).toBe(0);
      },
      TEST_MS,
    );

    test(
      "B20 a conversation that was closed goes on where it stood, when the person says so; after a compaction the agent is reminded",
      async () => {
        const world = await makePiWorld(version, {
          settings: { compaction: { enabled: true, reserveTokens: 1_000, keepRecentTokens: 10 } },
        });
        const { project, model } = world;
        model.script(write(world, "one.md"), report(false), { kind: "silence" });
        const first = await openPi(world);
        await first.type(UNTIL);
        await model.asks(3);
        expect(await first.exit()).toBe(0);
        await until(async () => (await statusOf(project))?.status === "paused", "it is paused");
        expect(leftovers(project)).toEqual([]);

        model.script(refusal(500));
        const again = await openPi(world, "-c");
        await again.sees(/is paused: its conversation ended\. +Go on with: \/loop continue/);
        await again.type("/loop continue");
        await again.sees(/waits until/);
        await again.type("/compact");
        await again.sees(/compact/i);
        await until(() => model.helpers.length > 0, "pi asked for a summary");
        model.script(write(world, "done.txt"), report(true));
        const asked = model.heard.length;
        await until(() => !/ompacting/.test(again.screen()), "the conversation is shorter");
        await again.type("/loop continue --now");
        await again.sees(/LOOP_DONE/);
        const texts = model.heard[asked]?.messages.map(({ text }) => text).join("\n") ?? "";
        expect(texts).toContain("This goal loop is bound to this conversation.");
        expect(await again.exit()).toBe(0);
      },
      TEST_MS,
    );

    test(
      "B20 D10 a pi that was killed goes on in the same conversation; a test that failed stands before the next turn",
      async () => {
        const world = await makePiWorld(version);
        const { project, model } = world;
        // pi keeps nothing of a conversation in which the agent has said nothing yet
        model.script(write(world, "one.md"), report(false), { kind: "silence" });
        const first = await openPi(world);
        await first.type(UNTIL);
        await model.asks(3);
        kill(first.pid());
        await first.ended();
        await until(() => leftovers(project).length === 0, "all of it is gone");

        const failing = "printf ' Test Files  1 failed (1)\\n      Tests  1 failed (1)\\n'; exit 1";
        writeFileSync(join(dirname(project), "bin", "vitest"), `#!/bin/sh\n${failing}\n`, { mode: 0o755 });
        model.script(world.world.run("vitest run"), report(false), write(world, "done.txt"), report(true));
        const again = await openPi(world, "-c");
        await again.sees(/LOOP_DONE/);
        const [turn, , next] = model.heard.slice(3).map(lastUserText);
        expect(turn).toContain("Iteration 2/10");
        expect(promptsOf(model.heard[3])[0]).toContain(SPEC);
        expect(next).toMatch(/^\[LOOP BACKPROP\] .*vitest/);
        expect(await statusOf(project)).toMatchObject({ status: "completed", iteration: 3 });
        expect(await again.exit()).toBe(0);
      },
      TEST_MS,
    );

    test(
      "A1 A20 a prompt template is filled in when it fires; LOOP_DISABLE_SCHEDULER=1 is seen, and fires nothing",
      async () => {
        const world = await makePiWorld(version);
        const { model, project, env } = world;
        const prompts = join(world.world.home, ".pi", "agent", "prompts");
        mkdirSync(prompts);
        writeFileSync(join(prompts, "greet.md"), "---\ndescription: x\n---\nGreet $1 warmly.\n");
        const off = await openPi({ ...world, env: { ...env, LOOP_DISABLE_SCHEDULER: "1" } });
        await off.type("/loop 10m /greet Ada");
        await off.sees(/because LOOP_DISABLE_SCHEDULER=1 is set/);
        await off.sees(/loop:1 \(nobody runs it\)/);
        await expect(model.asks(1, 1_500)).rejects.toThrow("in vain");
        expect(await off.exit()).toBe(0);
        const pi = await openPi(world);
        await model.asks(1);
        expect(lastUserText(model.heard[0] ?? NOTHING)).toBe("Greet Ada warmly.");
        await pi.sees(/^loop:1\s*$/m);
        expect(await pi.exit()).toBe(0);
        expect(leftovers(project)).toEqual([]);
      },
      TEST_MS,
    );

    test(
      "E2 inside of a turn of a headless loop the extension keeps out of the way; `pi -p` fires nothing and ends",
      async () => {
        const world = await makePiWorld(version);
        const { model, project, env } = world;
        await runLoop(["10m", "--detach", "look"], { cwd: project, env });
        const inside = await openPi({ ...world, env: { ...env, LOOP_FIRE_ID: "3f00aaaa-1" } });
        await inside.type("/loop list");
        // not a command here: it goes to the model
        expect(lastUserText(await model.asks(1))).toBe("/loop list");
        expect(model.heard[0]?.tools).not.toContain("CronCreate");
        expect(await inside.exit()).toBe(0);

        const printed = await runPi(world, "-p", "say something");
        expect(printed).toEqual({ code: 0, stdout: "fine\n" });
        expect(model.heard).toHaveLength(2);
        expect(model.heard[1]?.tools).toContain("CronCreate");
        // neither of them was a conversation that a task could fire in
        expect(existsSync(join(project, ".loop", "sessions"))).toBe(false);
        expect(leftovers(project)).toEqual([]);
      },
      TEST_MS,
    );
  });
});

const NOTHING = { system: "", tools: [], messages: [] };

function write({ world, project }: PiWorld, name: string) {
  return world.write(join(project, name));
}
