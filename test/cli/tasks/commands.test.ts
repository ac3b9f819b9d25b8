/** Every command in both forms, under all its names. */
import { describe, expect, test } from "vitest";
import {
  create,
  type FireJson,
  historyOf,
  listOf,
  loopJson,
  makeProject,
  runLoop,
  type TaskJson,
} from "../../support/cli.ts";
import { runHere } from "../../support/here.ts";

const text = async (cwd: string, ...args: string[]) => {
  const { code, stdout, stderr } = await runHere(args, { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
};

describe("one task, all commands", () => {
  test("A3 A16 list and ls: schedule, next and last fire, and what to do when nothing runs", async () => {
    const cwd = makeProject();
    expect(await text(cwd, "list")).toBe(
      "No loops here. Create one with: loop 5m check if the deployment finished\n",
    );
    const { id } = await create(cwd, "--cron", "0 9 * * 1-5", "--tz", "Europe/Paris", "summarise new issues");
    const list = await text(cwd, "list");
    expect(list).toMatch(/^ID +SCHEDULE +NEXT +LAST +PROMPT\n/);
    expect(list).toMatch(
      new RegExp(
        `${id} {2}Weekdays at 9:00 AM \\(Europe/Paris\\) {2}now \\(initial run\\) +never +summarise`,
      ),
    );
    expect(list).toContain("1 task; nothing runs it: start `loop up` in this folder");
    expect(await text(cwd, "ls")).toBe(await text(cwd, "list"));
    expect(await text(cwd, "ls", "--ids")).toBe(`${id}\n`);
    expect(await text(cwd, "--json", "ls")).toBe(await text(cwd, "list", "--json"));
  });

  test("A3 A6 show and inspect: everything, with the jitter", async () => {
    const cwd = makeProject();
    const { id } = await create(
      cwd,
      "5m",
      "look",
      "--expect",
      "npm test",
      "--alert-after",
      "3",
      "--grace",
      "2m",
    );
    const shown = await text(cwd, "show", id.slice(0, 3));
    for (const line of [
      new RegExp(`^id +${id} {2}active$`, "m"),
      /^schedule +Every 5 minutes$/m,
      /^cron +\*\/5 \* \* \* \* \(UTC\)$/m,
      /^next +now \(initial run\)$/m,
      /^jitter +(none|[\dms ]+ late)$/m,
      /^missed +once, grace 2m$/m,
      /^expect +npm test$/m,
      /^alert +after 3 failed or missed fires in a row \(now 0\)$/m,
      /^kept +on disk \(durable\)$/m,
      /^look$/m,
    ])
      expect(shown).toMatch(line);
    expect(await text(cwd, "inspect", id)).toContain("Every 5 minutes");
    const json = await loopJson<TaskJson & { latest: FireJson[]; nextSlot: string }>(["show", id], { cwd });
    expect(json).toMatchObject({ id, latest: [] });
    const next = Date.parse(json.nextFireAt ?? "") - Date.parse(json.nextSlot);
    expect(next).toBe(json.jitterMs);
    const plain = await create(cwd, "5m", "look", "--no-jitter");
    expect(plain.jitterMs).toBe(0);
  });

  test("A3 pause, resume, edit, delete and their aliases, as sentences and as JSON", async () => {
    const cwd = makeProject();
    const { id } = await create(cwd, "5m", "look", "--no-now");
    expect(await text(cwd, "pause", id)).toBe(`Paused ${id}.\n`);
    expect(await text(cwd, "list")).toContain("paused");
    expect((await loopJson<TaskJson[]>(["resume", id], { cwd }))[0]).toMatchObject({ id, state: "active" });
    expect((await loopJson<TaskJson[]>(["pause", id], { cwd }))[0]).toMatchObject({ id, state: "paused" });
    expect(await text(cwd, "resume", id)).toMatch(new RegExp(`^Resumed ${id}; next .*\\(in .*\\)\\.\n$`));
    expect(await text(cwd, "edit", id, "90m")).toBe(
      `Changed ${id}: Every 2 hours\n  90m is not a whole number of hours, so it runs every 2 hours; --exact keeps 90m.\n`,
    );
    const edited = await loopJson<TaskJson>(
      [
        "edit",
        id,
        "7m",
        "look",
        "harder",
        "--exact",
        "--expires",
        "never",
        "--no-jitter",
        "--missed",
        "skip",
      ],
      { cwd },
    );
    expect(edited).toMatchObject({
      everyMs: 420_000,
      prompt: "look harder",
      expiresAt: null,
      jitterMs: 0,
      notice: null,
    });
    const { tasks } = await listOf(cwd);
    expect(tasks[0]).toMatchObject({ everyMs: 420_000, prompt: "look harder", missed: "skip" });
    expect(await text(cwd, "delete", id)).toBe(`Deleted ${id}.\n`);
    for (const alias of ["remove", "rm", "stop"]) {
      const other = await create(cwd, "5m", "x", "--no-now");
      const [gone] = await loopJson<(TaskJson & { deleted: boolean })[]>([alias, other.id], { cwd });
      expect(gone).toMatchObject({ id: other.id, deleted: true });
    }
    expect((await listOf(cwd)).tasks).toEqual([]);
  });

  test("A3 edit moves a one-shot and keeps what is not named", async () => {
    const cwd = makeProject();
    const { id } = await create(cwd, "in", "45m", "see whether it is green", "--expect", "true");
    const moved = await loopJson<TaskJson>(["edit", id, "in", "2h", "--missed", "skip"], { cwd });
    expect(moved).toMatchObject({ prompt: "see whether it is green", expect: "true", missed: "skip" });
    expect(Math.abs(Date.parse(moved.nextFireAt ?? "") - Date.now() - 7_200_000)).toBeLessThan(100_000);
    expect(await loopJson(["edit", id, "say hello"], { cwd })).toMatchObject({
      prompt: "say hello",
      nextFireAt: moved.nextFireAt,
    });
  });

  test("A3 clear: only with --yes when nobody can be asked, several ids at once, and again is no fault", async () => {
    const cwd = makeProject();
    const ids = [];
    for (const prompt of ["a", "b", "c"]) ids.push((await create(cwd, "5m", prompt, "--no-now")).id);
    expect(await text(cwd, "pause", ids[0] ?? "", ids[1] ?? "")).toBe(
      `Paused ${ids[0]}.\nPaused ${ids[1]}.\n`,
    );
    expect(await loopJson(["clear", "--yes"], { cwd })).toEqual({ deleted: ids });
    expect(await text(cwd, "clear", "-y")).toBe("There are no tasks.\n");
    expect((await listOf(cwd)).tasks).toEqual([]);
  });

  test("A3 run without a runner waits, and says so; history keeps the ids of deleted tasks", async () => {
    const cwd = makeProject();
    expect(await text(cwd, "history")).toBe("No history yet: no task was due.\n");
    const { id } = await create(cwd, "5m", "x", "--no-now");
    const run = await runLoop(["run", id], { cwd });
    expect(run).toEqual({
      code: 0,
      stdout: `${id} will fire when a runner starts.\n`,
      stderr: "Nothing runs it yet. To run it, start in this folder: loop up\n",
    });
    expect(await text(cwd, "list")).toContain("now (by hand)");
    const up = await runLoop(["up", "--for", "1s", "--agent-cmd", "cat"], { cwd });
    expect(up.stdout).toContain("(manual) x");
    await runHere(["rm", id], { cwd });
    const rows = await historyOf(cwd, id.slice(0, 5));
    expect(rows).toMatchObject([{ taskId: id, kind: "manual", outcome: "ok" }]);
    expect(await text(cwd, "history", id)).toMatch(
      new RegExp(`^✓ ok {2}[\\d:]{8} {2}${id} {2}\\d+ms {2}manual\n$`),
    );
    expect(await historyOf(cwd, "--limit", "1")).toHaveLength(1);
  });

  test("A4 A2 a creation says what was made, rounded, when it runs and that nothing runs it yet", async () => {
    const cwd = makeProject();
    const made = await runHere(["7m", "look"], { cwd });
    expect(made.stdout).toMatch(
      /^Created [0-9a-f]{8}: Every 6 minutes \(\*\/6 \* \* \* \*\)\n {2}7m does not divide an hour evenly, so it runs every 6 minutes; --exact keeps 7m\.\n {2}Runs once now, then [\d:]+ \(in .*\)\n {2}Ends .*, after a final run\n$/,
    );
    expect(made.stderr).toBe("Nothing runs it yet. To run it, start in this folder: loop up\n");
    const quiet = await runHere(["5m", "look", "--no-now", "--detach"], { cwd });
    expect(quiet.stdout).not.toContain("once now");
    const list = await text(cwd, "list");
    expect(list.match(/now \(initial run\)/g)).toHaveLength(1);
  });
});
