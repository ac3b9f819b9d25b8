/** Tasks in the real pi in its terminal, in each version that we know, with a person who types and a scripted model. */
import { describe, expect, test } from "vitest";
import type { TaskView } from "../../../src/core/views/task-view.ts";
import { lastUserText } from "../../support/agents/model.ts";
import {
  expectWorld,
  isWorldMissing,
  isWorldRequired,
  whyWorldMissing,
} from "../../support/agents/worlds.ts";
import { slow } from "../../support/claude/scripted-model.ts";
import { kill, leftovers, loopJson, runLoop } from "../../support/cli.ts";
import { makePiWorld, openPi, PI_VERSIONS, type PiWorld } from "../../support/pi-tui.ts";
import { hasTmux } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

const TEST_MS = 90_000;
/** What a person sees of it comes some moments later than it is true. */
const SCREEN_MS = 300;

describe.each(PI_VERSIONS)("E2 tasks in %s", (version) => {
  test.skipIf(!isWorldRequired(version))("it is there when it is required", () => expectWorld(version));
  const why = hasTmux ? whyWorldMissing(version) : " (no tmux)";

  describe.skipIf(isWorldMissing(version) || !hasTmux)(`in its terminal${why}`, () => {
    test(
      "A3 A4 A11 /loop asks no model; a task runs at once and again when it is due, and is in the footer",
      async () => {
        const world = await makePiWorld(version);
        const { model, project } = world;
        const pi = await openPi(world);
        await pi.type("/loop list");
        await pi.sees(/No loops here/);
        await pi.type("/loop show beef");
        await pi.sees(/There is no loop beef here/);
        expect(model.heard).toHaveLength(0);
        await pi.type("/loop --exact 3s check the deploy");
        await pi.sees(/— initial run\]/);
        await pi.sees(/^loop:1\s*$/m);
        await model.asks(2);
        expect(model.heard.slice(0, 2).map(lastUserText)).toEqual([
          expect.stringMatching(/^\[Scheduled task [0-9a-f]{8} — [^—]* — initial run\]\n\ncheck the deploy$/),
          expect.stringMatching(/^\[Scheduled task [0-9a-f]{8} — [^—]*\]\n\ncheck the deploy$/),
        ]);
        const [task] = await tasksOf(world);
        await pi.type(`/loop delete ${task?.id}`);
        await pi.sees(/Deleted/);
        await pi.loses(/^loop:1/m);
        expect(await pi.exit()).toBe(0);
        expect(leftovers(project)).toEqual([]);
      },
      TEST_MS,
    );

    test(
      "A5 a task that is due waits for the end of a turn, and for the person who is in the middle of a sentence",
      async () => {
        const world = await makePiWorld(version);
        const { model } = world;
        const id = await addTask(world);
        const reply = slow("one two three", { words: 1 });
        model.script(reply, { kind: "text", text: "fine" });
        const pi = await openPi(world);
        await pi.sees(/loop:1/);
        await pi.type("tell me more");
        await model.asks(1);
        await run(world, "run", id);
        expect(await tasksOf(world)).toMatchObject([{ waiting: "manual", running: false }]);
        await pi.write("half a sen");
        reply.release();
        await pi.sees(/one two three/);
        // nobody sees it start: it must not
        await expect(model.asks(2, 2_500)).rejects.toThrow("in vain");
        expect(await pi.sees(/half a sen/)).toMatch(/half a sen/);
        pi.keys("C-u");
        await model.asks(2);
        expect(lastUserText(model.heard[1] ?? NOTHING)).toMatch(/run by hand\]\n\nlook$/);
        expect(await pi.exit()).toBe(0);
      },
      TEST_MS,
    );

    test(
      "A11 A12 two terminals: one fires, the other follows; when the first is killed, the second fires within 5 s",
      async () => {
        const world = await makePiWorld(version);
        const { model, project } = world;
        const first = await openPi(world);
        await run(world, "10m", "--no-now", "--detach", "look");
        await first.sees(/^loop:1\s*$/m, 500 + SCREEN_MS);
        const second = await openPi(world);
        await second.sees(/loop:1 \(passive\)/);
        const madeAt = performance.now();
        await run(world, "20m", "--no-now", "--detach", "look again");
        const tookMs = performance.now() - madeAt;
        await first.sees(/^loop:2\s*$/m, 500 + SCREEN_MS + tookMs);
        await second.sees(/loop:2 \(passive\)/, 500 + SCREEN_MS);
        kill(first.pid());
        await second.sees(/^loop:2\s*$/m, 5_000);
        await second.sees(/run here now/, 1_000);
        const [task] = await tasksOf(world);
        await run(world, "run", task?.id ?? "");
        await second.sees(/run by hand\]/);
        await model.asks(1);
        expect(await second.exit()).toBe(0);
        expect(model.heard).toHaveLength(1);
        await until(() => leftovers(project).length === 0, "nothing is left");
      },
      TEST_MS,
    );

    test(
      "A3 clear asks, and a no changes nothing; commands and ids are completed",
      async () => {
        const world = await makePiWorld(version);
        const id = await addTask(world);
        const pi = await openPi(world);
        await pi.sees(/loop:1/);
        await pi.write("/loop del");
        await pi.sees(/delete a task/);
        pi.keys("Tab");
        await pi.sees(/\/loop delete/);
        await pi.write(id.slice(0, 2));
        await pi.sees(new RegExp(`${id}.*look`));
        pi.keys("Tab");
        await pi.sees(new RegExp(`/loop delete ${id}`));
        pi.keys("C-u");
        await pi.type("/loop clear");
        await pi.sees(/Delete all tasks\?/);
        await pi.sees(/1 task of/);
        pi.keys("Escape");
        await pi.sees(/Nothing was changed/);
        expect(await tasksOf(world)).toHaveLength(1);
        await pi.type("/loop clear");
        await pi.sees(/Delete all tasks\?/);
        pi.keys("Enter");
        await pi.loses(/^loop:1/m);
        expect(await tasksOf(world)).toHaveLength(0);
        expect(await pi.exit()).toBe(0);
      },
      TEST_MS,
    );

    test(
      "A10 a one-shot that was missed is asked for before it runs; A15 the agent makes tasks, which fire between turns",
      async () => {
        const world = await makePiWorld(version);
        const { model } = world;
        await run(world, "in", "1s", "--grace", "1s", "--no-jitter", "--detach", "call home");
        const [task] = await tasksOf(world);
        await until(() => isLongOver(task?.nextFireAt), "its time has passed");
        const pi = await openPi(world);
        await pi.sees(/Missed while nothing ran: [0-9a-f]{8} call home/);
        expect(model.heard).toHaveLength(0);
        model.script(
          { kind: "tool", name: "CronCreate", input: { cron: "0 0 1 1 *", prompt: "happy new year" } },
          { kind: "text", text: "It is noted." },
        );
        pi.keys("Enter");
        await pi.sees(/It is noted/);
        expect(lastUserText(model.heard[0] ?? NOTHING)).toContain("call home");
        expect(model.heard[1]?.messages.at(-1)?.results.join()).toMatch(/"humanSchedule":/);
        expect(await tasksOf(world)).toMatchObject([{ prompt: "happy new year", durable: true }]);
        await pi.sees(/^loop:1\s*$/m);
        expect(await pi.exit()).toBe(0);
      },
      TEST_MS,
    );

    test(
      "A17 /loop alone offers the maintenance loop, which sets its own pace; with a loop there, it lists",
      async () => {
        const world = await makePiWorld(version);
        const { model } = world;
        model.script(
          { kind: "tool", name: "Wakeup", input: { delaySeconds: 3_600, reason: "all is quiet" } },
          { kind: "text", text: "Nothing to do." },
        );
        const pi = await openPi(world);
        await pi.write("/loop");
        await pi.submit(/Start the maintenance loop\?/);
        expect(model.heard).toHaveLength(0);
        pi.keys("Enter");
        await pi.sees(/Nothing to do/);
        expect(lastUserText(model.heard[0] ?? NOTHING)).toContain("Maintain this project");
        const woken = async () => (await tasksOf(world))[0]?.nextFireAt ?? null;
        await until(woken, "it is to be woken");
        expect(Date.parse((await woken()) ?? "") - Date.now()).toBeGreaterThan(3_000_000);
        await pi.type("/loop");
        await pi.sees(/1 task; run by session:/);
        expect(await pi.exit()).toBe(0);
      },
      TEST_MS,
    );

    test(
      "D2 a session that ends leaves nothing behind; what was kept for it goes with it, the rest stays",
      async () => {
        const world = await makePiWorld(version);
        const pi = await openPi(world);
        await pi.type("/loop --no-now --session 10m only here");
        await pi.type("/loop --no-now 10m for all");
        await pi.sees(/^loop:2\s*$/m);
        await pi.type("/reload");
        await pi.sees(/Reloaded/);
        await pi.sees(/^loop:2\s*$/m);
        await pi.type("/new");
        await pi.sees(/^loop:1\s*$/m);
        expect((await tasksOf(world)).map(({ prompt }) => prompt)).toEqual(["for all"]);
        expect(await pi.exit()).toBe(0);
        expect(leftovers(world.project)).toEqual([]);
        const list = await run(world, "list");
        expect(list).toMatch(/nobody|loop up/i);
      },
      TEST_MS,
    );
  });
});

const NOTHING = { system: "", tools: [], messages: [] };

function isLongOver(moment: string | null | undefined): boolean {
  return typeof moment === "string" && Date.parse(moment) < Date.now() - 1_500;
}

async function tasksOf({ project, env }: PiWorld): Promise<readonly TaskView[]> {
  const { tasks } = await loopJson<{ tasks: readonly TaskView[] }>(["list"], { cwd: project, env });
  return tasks;
}

async function run({ project, env }: PiWorld, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runLoop(args, { cwd: project, env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout + stderr;
}

/** Of a prompt that says "look", due in ten minutes. */
async function addTask(world: PiWorld): Promise<string> {
  await run(world, "10m", "--no-now", "--detach", "look");
  return (await tasksOf(world))[0]?.id ?? "";
}
