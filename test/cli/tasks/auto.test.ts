/** Self-paced loops: the agent says when it wants to be woken, or the loop ends. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, historyOf, listOf, loopJson, makeProject, runLoop, startLoop } from "../../support/cli.ts";

async function oneTurn(cwd: string, command: string): Promise<string> {
  const up = startLoop(["up", "--agent-cmd", command], { cwd });
  await up.line(/(✓ ok|✗ failed)/);
  up.signal("SIGTERM");
  expect(await up.ended).toBe(0);
  return up.output.stdout;
}

const secondsFromNow = (iso: string | null | undefined) => (Date.parse(iso ?? "") - Date.now()) / 1_000;

describe("loop auto", () => {
  test("A17 `loop wakeup` in the turn sets the next one, durable, clamped to 60 to 3600 seconds", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "auto", "watch the release");
    expect(task).toMatchObject({
      cron: null,
      everyMs: null,
      human: "Self-paced",
      prompt: "watch the release",
    });
    await oneTurn(
      cwd,
      "loop wakeup 20 minutes 'the build takes that long' > said; loop wakeup 5s soon 2> clamped",
    );
    const [first] = (await listOf(cwd)).tasks;
    expect(secondsFromNow(first?.nextFireAt)).toBeGreaterThan(30);
    expect(secondsFromNow(first?.nextFireAt)).toBeLessThanOrEqual(60);
    await loopJson(["run", task.id], { cwd });
    await oneTurn(cwd, "loop wakeup 20 minutes 'the build takes that long'");
    const [second] = (await listOf(cwd)).tasks;
    expect(secondsFromNow(second?.nextFireAt)).toBeGreaterThan(1_150);
    expect(secondsFromNow(second?.nextFireAt)).toBeLessThanOrEqual(1_200);
  });

  test("A17 so does a last line that is nothing but the JSON object", async () => {
    const cwd = makeProject();
    await create(cwd, "auto", "watch");
    await oneTurn(cwd, `echo 'all quiet'; echo '{"wakeup":{"delaySeconds":300,"reason":"quiet"}}'`);
    const [task] = (await listOf(cwd)).tasks;
    expect(secondsFromNow(task?.nextFireAt)).toBeGreaterThan(250);
    expect(secondsFromNow(task?.nextFireAt)).toBeLessThanOrEqual(300);
  });

  test("A17 a turn that asks for nothing, or for the end, ends the loop", async () => {
    const silent = makeProject();
    await create(silent, "auto", "watch");
    const said = await oneTurn(silent, `echo 'the word {"wakeup":{"delaySeconds":300}} in a sentence'`);
    expect(said).toContain("ended: the agent asked for no further wake-up");
    expect((await listOf(silent)).tasks).toEqual([]);
    const stopped = makeProject();
    await create(stopped, "auto", "watch");
    expect(await oneTurn(stopped, "loop wakeup --stop it is released")).toContain(
      "stopped by the agent: it is released",
    );
    expect((await listOf(stopped)).tasks).toEqual([]);
  });

  test("A17 a turn that failed is tried again and does not end the loop", async () => {
    const cwd = makeProject();
    await create(cwd, "auto", "watch");
    await oneTurn(cwd, "exit 1");
    const [task] = (await listOf(cwd)).tasks;
    expect(secondsFromNow(task?.nextFireAt)).toBeGreaterThan(30);
    expect(await historyOf(cwd)).toMatchObject([{ outcome: "failed" }]);
  });

  test("A17 without a prompt: the project's loop.md, then the person's, then the built-in one", async () => {
    const cwd = makeProject();
    const plan = () => loopJson<{ prompt: string }>(["auto", "--dry-run"], { cwd });
    expect((await plan()).prompt).toMatch(/^Maintain this project/);
    const own = join(dirname(cwd), "home", ".config", "loopwright");
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "loop.md"), "the person's own\n");
    expect((await plan()).prompt).toBe("the person's own");
    // dotfile managers keep such files elsewhere
    renameSync(join(own, "loop.md"), join(dirname(cwd), "home", "dotfiles.md"));
    symlinkSync("../../dotfiles.md", join(own, "loop.md"));
    expect((await plan()).prompt).toBe("the person's own");
    mkdirSync(join(cwd, ".loop"));
    writeFileSync(join(cwd, ".loop", "loop.md"), "\nthe project's\n");
    expect((await plan()).prompt).toBe("the project's");
    writeFileSync(join(cwd, ".loop", "loop.md"), " \n");
    expect((await plan()).prompt).toBe("the person's own");
    rmSync(join(own, "loop.md"));
    mkdirSync(join(own, "loop.md"));
    expect(await runLoop(["auto", "--dry-run"], { cwd })).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^loop: Cannot read .*loop\.md: it is a folder\.\n$/),
    });
  });
});

test("A3 an agent that deletes its own task finishes its turn, and the task is gone then", async () => {
  const cwd = makeProject();
  const { id } = await create(cwd, "5m", "delete this loop when the deploy is done");
  const shown = await oneTurn(cwd, 'loop delete "$LOOP_ID"; echo deployed');
  expect(shown).toContain("deployed");
  expect((await listOf(cwd)).tasks).toEqual([]);
  expect(await historyOf(cwd, id)).toMatchObject([{ outcome: "ok", kind: "final" }]);
});
