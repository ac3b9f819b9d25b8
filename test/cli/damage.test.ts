/** What happens to the folder behind our back: damage is said and mended, a folder that is gone ends its runner. */
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, loopJson, makeProject, startLoop, type TaskJson } from "../support/cli.ts";
import { runHere } from "../support/here.ts";
import { until } from "../support/until.ts";

const journalOf = (cwd: string) => join(cwd, ".loop", "journal.jsonl");

async function threeTasks(): Promise<{ cwd: string; ids: string[] }> {
  const cwd = makeProject();
  const ids: string[] = [];
  for (const prompt of ["one", "two", "three"]) ids.push((await create(cwd, "5m", prompt, "--no-now")).id);
  return { cwd, ids };
}

async function idsIn(cwd: string): Promise<string[]> {
  const { tasks } = await loopJson<{ tasks: TaskJson[] }>(["list", "--json"], { cwd });
  return tasks.map(({ id }) => id).sort();
}

describe("A13 a journal that was damaged from outside loses no task", () => {
  test.each<[string, (path: string) => void]>([
    [
      "a byte in the middle",
      (path) => writeFileSync(path, readFileSync(path, "utf8").replace('"two"', '"tWo"')),
    ],
    ["the last record torn", (path) => truncateSync(path, readFileSync(path).length - 100)],
    ["emptied", (path) => truncateSync(path, 0)],
    ["deleted", (path) => rmSync(path)],
  ])("%s: restored from what was published, and said so", async (_, damage) => {
    const { cwd, ids } = await threeTasks();
    damage(journalOf(cwd));
    // -C: not the fast path, which answers from what was published and looks at the journal's length only
    const { stderr } = await runHere(["list", "-C", "."], { cwd });
    expect(stderr).toMatch(/^The journal was (missing|cut or damaged).*; restored from tasks\.json/);
    expect(await idsIn(cwd)).toEqual([...ids].sort());
    const aside = readdirSync(join(cwd, ".loop")).filter((name) => name.startsWith("journal.jsonl.corrupt-"));
    expect(aside).toHaveLength(stderr.includes("missing") ? 0 : 1);
    expect((await runHere(["list"], { cwd })).stderr).toBe("");
  });

  test("under a running `loop up` the tasks come back and go on", async () => {
    const cwd = makeProject();
    const { id } = await create(cwd, "1h", "tick", "--no-now");
    const up = startLoop(["up", "--agent-cmd", 'echo "$LOOP_ID" >> fired'], { cwd });
    await until(() => up.output.stdout.includes("this runner fires"), "it is the owner");
    truncateSync(journalOf(cwd), 0);
    await until(() => up.output.stderr.includes("restored from tasks.json"), "it says so");
    expect((await runHere(["run", id], { cwd })).code).toBe(0);
    const fired = () => (existsSync(join(cwd, "fired")) ? readFileSync(join(cwd, "fired"), "utf8") : "");
    await until(() => fired().includes(id), "it fires");
    process.kill(up.pid, "SIGTERM");
    expect(await up.ended).toBe(0);
  });

  test("a task that was deleted stays deleted, also when another line is damaged", async () => {
    const { cwd, ids } = await threeTasks();
    const published = readFileSync(join(cwd, ".loop", "tasks.json"), "utf8");
    await runHere(["delete", ids[0] ?? ""], { cwd });
    writeFileSync(join(cwd, ".loop", "tasks.json"), published);
    const path = journalOf(cwd);
    writeFileSync(path, readFileSync(path, "utf8").replace('"two"', '"tWo"'));
    // the published file is older than the deletion, so nobody can say what became of the damaged one
    expect((await runHere(["list", "-C", "."], { cwd })).stderr).toContain(
      `the newest state of loop ${ids[1]}.`,
    );
    expect(await idsIn(cwd)).toEqual(ids.slice(2));
  });
});

/** The runner may be writing: a file that appears between the listing and the rmdir fails the removal itself. */
function isRemoved(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    return false;
  }
  return !existsSync(folder);
}

describe("H1 a folder that is gone", () => {
  test("rm -rf .loop under `loop up`: it says so, ends with 1 and puts nothing in its place", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "x", "--no-now");
    const up = startLoop(["up", "--agent-cmd", "true"], { cwd });
    await until(() => up.output.stdout.includes("this runner fires"), "it is the owner");
    await until(() => isRemoved(join(cwd, ".loop")), "it is removed");
    expect(await up.ended).toBe(1);
    expect(up.output.stderr).toContain("and its tasks were removed or moved");
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });

  test("a project that is moved: the runner ends, and one at the new place goes on", async () => {
    const cwd = makeProject();
    await create(cwd, "5m", "x", "--no-now");
    const up = startLoop(["up", "--agent-cmd", "true"], { cwd });
    await until(() => up.output.stdout.includes("this runner fires"), "it is the owner");
    const moved = `${cwd} moved`;
    renameSync(cwd, moved);
    expect(await up.ended).toBe(1);
    const next = startLoop(["up", "--for", "20s", "--agent-cmd", "true"], { cwd: moved });
    await until(() => next.output.stdout.includes("this runner fires"), "the next one is the owner");
    process.kill(next.pid, "SIGTERM");
    expect(await next.ended).toBe(0);
  });
});
