/** The contract that other programs rely on, to the letter. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  create,
  type FireJson,
  historyOf,
  type ListJson,
  loopJson,
  makeProject,
  runLoop,
  startLoop,
} from "../support/cli.ts";
import { runHere } from "../support/here.ts";

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const id = (shape: { id: string }) => shape.id;

describe("loop <words> --dry-run --json", () => {
  test("A1 A2 A16 has exactly the agreed keys, says what it rounded, and writes nothing", async () => {
    const cwd = makeProject();
    const plan = await loopJson<Record<string, unknown>>(["7m", "check", "the deploy", "--dry-run"], { cwd });
    expect(plan).toEqual({
      kind: "task",
      cron: "*/6 * * * *",
      everyMs: null,
      recurring: true,
      prompt: "check the deploy",
      human: "Every 6 minutes",
      notice: "7m does not divide an hour evenly, so it runs every 6 minutes; --exact keeps 7m.",
      nextFireAt: expect.stringMatching(ISO),
      expiresAt: expect.stringMatching(ISO),
    });
    const week = Date.parse(plan.expiresAt as string) - Date.now();
    expect(Math.abs(week - 7 * 86_400_000)).toBeLessThan(20_000);
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });

  test.each([
    [["5m", "x"], { cron: "*/5 * * * *", everyMs: null, human: "Every 5 minutes", notice: null }],
    [["30s", "x"], { cron: "*/1 * * * *", everyMs: null, human: "Every minute" }],
    [["2h", "x"], { cron: "7 */2 * * *", human: "Every 2 hours", notice: null }],
    [["90m", "x"], { cron: "7 */2 * * *", human: "Every 2 hours" }],
    [["1d", "x"], { cron: "0 0 */1 * *", human: "Every day", notice: null }],
    [["7m", "--exact", "x"], { cron: null, everyMs: 420_000, human: "Every 7 minutes", notice: null }],
    [["1s", "--exact", "x"], { cron: null, everyMs: 1_000, human: "Every second", notice: null }],
    [["x", "every", "20m"], { cron: "*/20 * * * *", prompt: "x", human: "Every 20 minutes" }],
    [["check every PR"], { cron: "*/10 * * * *", prompt: "check every PR" }],
    [["--cron", "0 9 * * 1-5", "x"], { cron: "0 9 * * 1-5", human: "Weekdays at 9:00 AM", notice: null }],
    [["at", "14:30", "x"], { cron: null, everyMs: null, recurring: false, expiresAt: null, prompt: "x" }],
    [["in", "45m", "x"], { cron: null, recurring: false, expiresAt: null, prompt: "x" }],
    [["5m", "x", "--expires", "never"], { expiresAt: null, recurring: true }],
    [["5m", "--", "x", "--json"], { prompt: "x --json" }],
    [["5m", "/review the branch"], { prompt: "/review the branch" }],
    [["5m", "erste Zeile\nzweite Zeile"], { prompt: "erste Zeile\nzweite Zeile" }],
    [["5m", "デプロイを確認"], { prompt: "デプロイを確認" }],
  ])("A1 A2 A14 A16 plans %j", async (args, wanted) => {
    const cwd = makeProject();
    const { stdout } = await runHere(["--dry-run", "--json", ...args], { cwd });
    expect(JSON.parse(stdout)).toMatchObject(wanted);
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });

  test("A1 a time zone moves the next fire, not the words", async () => {
    const cwd = makeProject();
    const args = ["--cron", "0 9 * * *", "x", "--dry-run"];
    const paris = await loopJson<{ nextFireAt: string }>([...args, "--tz", "Asia/Tokyo"], { cwd });
    expect(paris.nextFireAt).toMatch(/T00:00:00.000Z$/);
    const local = await loopJson<{ nextFireAt: string }>(args, { cwd, env: { TZ: "America/New_York" } });
    expect(local.nextFireAt).toMatch(/T1[34]:00:00.000Z$/);
  });

  test("A1 the prompt comes from a file or from stdin when it is asked for", async () => {
    const cwd = makeProject();
    const plan = await loopJson<{ prompt: string; cron: string }>(["5m", "--prompt-file", "-", "--dry-run"], {
      cwd,
      input: "first line\nsecond line\n",
    });
    expect(plan).toMatchObject({ prompt: "first line\nsecond line", cron: "*/5 * * * *" });
  });
});

describe("loop list --json", () => {
  test("A3 A6 has the agreed keys, and no owner while nothing runs", async () => {
    const cwd = makeProject();
    expect(await loopJson(["list"], { cwd })).toEqual({
      $schema: "loopwright/schemas/list.json",
      version: 1,
      owner: null,
      firing: true,
      tasks: [],
      goals: [],
      backlogs: [],
      held: [],
    });
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
    const made = await create(cwd, "5m", "check");
    const list = await loopJson<ListJson>(["list"], { cwd });
    expect(list.tasks.map(id)).toEqual([made.id]);
    expect(list.tasks[0]).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      cron: "*/5 * * * *",
      everyMs: null,
      prompt: "check",
      recurring: true,
      durable: true,
      state: "active",
      createdAt: expect.stringMatching(ISO),
      expiresAt: expect.stringMatching(ISO),
      lastFiredAt: null,
      nextFireAt: expect.stringMatching(ISO),
      jitterMs: expect.any(Number),
      human: "Every 5 minutes",
    });
    const jitter = list.tasks[0]?.jitterMs ?? -1;
    expect(jitter).toBeGreaterThanOrEqual(0);
    expect(jitter).toBeLessThanOrEqual(30_000);
    expect(list.owner).toBeNull();
  });

  test("A11 names the owner while one runs", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "check", "--no-now");
    const up = startLoop(["up", "--agent-cmd", "cat"], { cwd });
    await up.line(/this runner fires/);
    const { owner } = await loopJson<ListJson>(["list"], { cwd });
    expect(owner).toMatchObject({ pid: up.pid, owner: expect.stringMatching(/^runner:/), token: 1 });
  });
});

describe("loop history --json", () => {
  test("A3 A6 is oldest first, with the slot before jitter, and knows the fire that runs", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "1s", "--exact", "tick");
    const command = 'test "$LOOP_KIND" = initial || while :; do sleep 60; done';
    const up = startLoop(["up", "--agent-cmd", command], { cwd });
    await up.line(/▶ fire {2}\w+ {2}tick/);
    const rows = await historyOf(cwd);
    expect(rows.map(({ outcome }) => outcome)).toEqual(["ok", "running"]);
    const slots = rows.map(({ slot }) => Date.parse(slot));
    expect(slots).toEqual([...slots].sort());
    const [first, last] = rows as [FireJson, FireJson];
    expect(first).toEqual({
      fireId: expect.stringContaining(task.id),
      taskId: task.id,
      slot: task.createdAt,
      dueAt: task.createdAt,
      outcome: "ok",
      kind: "initial",
      reason: null,
      startedAt: expect.stringMatching(ISO),
      finishedAt: expect.stringMatching(ISO),
      foundBy: process.platform === "linux" ? "seal" : "group",
    });
    expect((Date.parse(last.slot) - Date.parse(task.createdAt)) % 1_000).toBe(0);
    expect(Date.parse(last.dueAt) - Date.parse(last.slot)).toBe(task.jitterMs);
    expect(last).toMatchObject({ finishedAt: null, reason: null });
    up.signal("SIGTERM");
    expect(await up.ended).toBe(0);
    const after = await historyOf(cwd, task.id.slice(0, 4));
    expect(after.at(-1)).toMatchObject({ outcome: "interrupted", fireId: last.fireId });
    expect(after.at(-1)?.reason).toContain("SIGTERM");
  });
});

describe("exit codes and streams", () => {
  test("H5 data goes to stdout, words for people to stderr, without a terminal nothing asks or stays", async () => {
    const cwd = makeProject();
    const made = await runHere(["5m", "x", "--json"], { cwd });
    expect(made.code).toBe(0);
    expect(JSON.parse(made.stdout)).toMatchObject({ prompt: "x", owner: null });
    expect(made.stderr).toBe("Nothing runs it yet. To run it, start in this folder: loop up\n");
    const clear = await runHere(["clear"], { cwd });
    expect(clear).toMatchObject({ code: 64, stdout: "" });
    expect(clear.stderr).toContain("--yes");
  });

  test("F1 nothing that is piped has escapes in it", async () => {
    const cwd = makeProject();
    await create(cwd, "1s", "--exact", "x");
    const up = await runLoop(["up", "--for", "1s", "--agent-cmd", "cat"], { cwd, env: { TERM: "xterm" } });
    const list = await runHere(["list"], { cwd, env: { TERM: "xterm" } });
    const history = await runHere(["history"], { cwd, env: { TERM: "xterm" } });
    for (const { stdout, stderr } of [up, list, history]) expect(stdout + stderr).not.toContain("\u001b");
    expect(up.stdout).toContain("✓ ok");
  });
});
