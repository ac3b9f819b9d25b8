/** `.loop/tasks.json`: what a person does to it by hand is a request; what does not parse is moved aside. */
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, historyOf, type ListJson, listOf, makeProject, startLoop } from "../../support/cli.ts";
import { runHere } from "../../support/here.ts";
import { until } from "../../support/until.ts";

interface File {
  tasks: Record<string, unknown>[];
}
const pathOf = (cwd: string) => join(cwd, ".loop", "tasks.json");
const readFile = (cwd: string): File => JSON.parse(readFileSync(pathOf(cwd), "utf8"));
function editFile(cwd: string, change: (file: File) => void): void {
  const file = readFile(cwd);
  change(file);
  writeFileSync(pathOf(cwd), JSON.stringify(file, null, 2));
}
const asideIn = (cwd: string) => readdirSync(join(cwd, ".loop")).filter((name) => name.includes(".corrupt-"));

describe("a hand edit", () => {
  test("A13 a changed prompt, a removed and an added task are carried out by the next command, and said", async () => {
    const cwd = makeProject();
    const kept = await create(cwd, "5m", "before", "--no-now");
    const dropped = await create(cwd, "5m", "dropped", "--no-now");
    editFile(cwd, (file) => {
      file.tasks = file.tasks.filter(({ id }) => id !== dropped.id);
      Object.assign(file.tasks[0] ?? {}, { prompt: "after", expiresAt: null, missed: "skip" });
      file.tasks.push({ prompt: "added", cron: "0 9 * * 1-5" });
    });
    const { stdout, stderr } = await runHere(["list", "--json"], { cwd });
    const { tasks } = JSON.parse(stdout) as ListJson;
    expect(tasks).toMatchObject([
      { id: kept.id, prompt: "after", expiresAt: null, missed: "skip" },
      { prompt: "added", human: "Weekdays at 9:00 AM" },
    ]);
    expect(stderr).toMatch(
      new RegExp(`^tasks\\.json was edited: deleted ${dropped.id}, changed ${kept.id}, created \\w{8}\\.\n$`),
    );
    expect((await runHere(["list"], { cwd })).stderr).toBe("");
    expect(readFile(cwd).tasks).toHaveLength(2);
  });

  test("A12 A13 a running loop up takes it within 500 ms, and a new task is created once", async () => {
    const cwd = makeProject();
    const up = startLoop(["up", "--agent-cmd", "cat"], { cwd });
    await up.line(/this runner fires/);
    const task = await create(cwd, "5m", "before", "--no-now");
    await until(() => readFile(cwd).tasks.length === 1, "it is published");
    editFile(cwd, (file) => {
      Object.assign(file.tasks[0] ?? {}, { prompt: "after" });
      file.tasks.push({ prompt: "added", cron: "0 9 * * 1-5" });
    });
    const lists = await Promise.all([1, 2, 3].map(() => runHere(["list"], { cwd })));
    for (const { code } of lists) expect(code).toBe(0);
    await until(() => readFile(cwd).tasks.length === 2, "it was taken", 1_500);
    expect(asideIn(cwd)).toEqual([]);
    const { tasks } = await listOf(cwd);
    expect(tasks.map(({ prompt }) => prompt)).toEqual(["after", "added"]);
    expect(tasks[0]?.id).toBe(task.id);
  });

  test("A12 an edit of what changed elsewhere since is not taken, nor a deleted task brought back", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "5m", "mine", "--no-now");
    const gone = await create(cwd, "5m", "gone", "--no-now");
    const old = readFile(cwd);
    await runHere(["edit", task.id, "theirs"], { cwd });
    await runHere(["delete", gone.id], { cwd });
    Object.assign(old.tasks[0] ?? {}, { prompt: "an edit of the old one" });
    writeFileSync(pathOf(cwd), JSON.stringify(old));
    const { stderr } = await runHere(["list"], { cwd });
    expect(stderr).toContain(`task ${task.id}: the task changed after the file was read`);
    expect(stderr).toContain(
      `task ${gone.id}: the task was deleted after the file was read, and it stays deleted.`,
    );
    expect((await listOf(cwd)).tasks).toMatchObject([{ id: task.id, prompt: "theirs" }]);
  });

  test("A13 clear deletes what the file has just been given, too", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "x", "--no-now");
    editFile(cwd, (file) => file.tasks.push({ prompt: "added", everyMs: 60_000 }));
    expect((await runHere(["clear", "--yes"], { cwd })).stdout).toBe("Deleted all 2 tasks.\n");
    expect(await listOf(cwd)).toMatchObject({ owner: null, tasks: [] });
    expect(readFile(cwd).tasks).toEqual([]);
  });

  test("A13 A14 a task in it that makes no sense is left out and named; the others are taken", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "x", "--no-now");
    editFile(cwd, (file) =>
      file.tasks.push({ prompt: "bad", cron: "99 * * * *" }, { prompt: "good", everyMs: 5_000 }),
    );
    const { stderr } = await runHere(["list"], { cwd });
    expect(stderr).toMatch(/task \(new\): The minute field has "99".* This task was skipped\.\n/);
    expect((await listOf(cwd)).tasks.map(({ prompt }) => prompt)).toEqual(["x", "good"]);
  });
});

describe("a damaged file", () => {
  test("A13 a file that is being saved in place by an editor is not taken for damaged", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "5m", "before", "--no-now");
    const up = startLoop(["up", "--agent-cmd", "cat"], { cwd });
    await up.line(/this runner fires/);
    const file = readFile(cwd);
    Object.assign(file.tasks[0] ?? {}, { prompt: "after" });
    const fd = openSync(pathOf(cwd), "w");
    const list = runHere(["list"], { cwd });
    await until(() => readFileSync(pathOf(cwd), "utf8") === "", "it is empty for a moment");
    writeSync(fd, JSON.stringify(file));
    closeSync(fd);
    await list;
    await until(
      () => readFile(cwd).tasks[0]?.prompt === "after" && "sum" in readFile(cwd),
      "it was taken",
      1_500,
    );
    expect((await listOf(cwd)).tasks).toMatchObject([{ id: task.id, prompt: "after" }]);
    expect(asideIn(cwd)).toEqual([]);
  });

  test.each(["{ not json", "[]", '{"tasks": [{"prompt": ""}]}'])(
    "A13 %s is moved aside, said so, never overwritten, and the tasks are still there",
    async (text) => {
      const cwd = makeProject();
      const task = await create(cwd, "5m", "x", "--no-now");
      writeFileSync(pathOf(cwd), text);
      const { code, stdout, stderr } = await runHere(["list"], { cwd });
      expect(code).toBe(0);
      expect(stdout).toContain(task.id);
      expect(stderr).toMatch(
        /^tasks\.json .*: moved to .*\.corrupt-.* and written again from the journal\.\n$/,
      );
      const [aside = ""] = asideIn(cwd);
      expect(readFileSync(join(cwd, ".loop", aside), "utf8")).toBe(text);
      expect(readFile(cwd).tasks).toMatchObject([{ id: task.id }]);
    },
  );

  test("A13 a damaged file is found by a change, too, and twice gives two files", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "5m", "x", "--no-now");
    for (const round of [1, 2]) {
      writeFileSync(pathOf(cwd), `{ broken ${round}`);
      expect((await runHere(["pause", task.id], { cwd })).code).toBe(0);
    }
    expect(asideIn(cwd)).toHaveLength(2);
  });
});

describe("a journal that is gone", () => {
  test("A9 A13 the tasks come back from tasks.json with their ids and settings", async () => {
    const cwd = makeProject();
    const never = await create(cwd, "5m", "never ends", "--no-now", "--expires", "never", "--no-jitter");
    const once = await create(cwd, "in", "3h", "once", "--expect", "true");
    const paused = await create(cwd, "7m", "--exact", "paused", "--no-now");
    await runHere(["pause", paused.id], { cwd });
    for (const name of readdirSync(join(cwd, ".loop")))
      if (name.startsWith("journal")) rmSync(join(cwd, ".loop", name));
    const { stdout, stderr } = await runHere(["list", "--json"], { cwd });
    expect(stderr).toContain("The journal was missing; restored from tasks.json");
    const byId = new Map((JSON.parse(stdout) as ListJson).tasks.map((task) => [task.id, task]));
    expect(byId.get(never.id)).toMatchObject({ prompt: "never ends", expiresAt: null, jitterMs: 0 });
    expect(byId.get(once.id)).toMatchObject({
      recurring: false,
      nextFireAt: once.nextFireAt,
      expect: "true",
    });
    expect(byId.get(paused.id)).toMatchObject({ state: "paused", everyMs: 420_000 });
    expect(existsSync(pathOf(cwd))).toBe(true);
    expect(await historyOf(cwd)).toEqual([]);
  });
});

test("A13 `loop list` takes an edit over instead of just showing it", async () => {
  const cwd = makeProject();
  const { id } = await create(cwd, "5m", "as it was", "--no-now");
  const path = join(cwd, ".loop", "tasks.json");
  writeFileSync(path, readFileSync(path, "utf8").replace("as it was", "as it shall be"));
  const { stdout, stderr } = await runHere(["list"], { cwd });
  expect(stderr).toBe(`tasks.json was edited: changed ${id}.\n`);
  expect(stdout).toContain("as it shall be");
  expect((await runHere(["list"], { cwd })).stderr).toBe("");
});
