/** `loop up` from outside: fires, time limits, signals. */
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, historyOf, leftovers, listOf, makeProject, runLoop, startLoop } from "../../support/cli.ts";
import { runHere } from "../../support/here.ts";
import { until } from "../../support/until.ts";

const HANGS = "while :; do sleep 60; done";
const outcomes = async (cwd: string) => (await historyOf(cwd)).map(({ outcome }) => outcome);

describe("loop up", () => {
  test("A4 A5 runs the initial run first, then each slot once, and ends by itself with --for", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "1s", "--exact", "--no-jitter", "tick");
    const command =
      'echo "$LOOP_SLOT $LOOP_KIND $LOOP_ID" >> slots; grep -c "initial run" >> initial || true';
    const up = await runLoop(["up", "--for", "2500ms", "--agent-cmd", command], { cwd });
    expect(up).toMatchObject({ code: 0, stderr: "" });
    expect(up.stdout).toContain("Stopped. The task stays; nothing runs until you start `loop up` again.");
    const lines = readFileSync(join(cwd, "slots"), "utf8").trim().split("\n");
    expect(lines[0]).toBe(`${task.createdAt} initial ${task.id}`);
    expect(lines.length).toBeGreaterThanOrEqual(3);
    expect(new Set(lines).size).toBe(lines.length);
    expect(readFileSync(join(cwd, "initial"), "utf8")).toMatch(/^1\n(0\n)+$/);
    const rows = await historyOf(cwd);
    expect(rows.map(({ slot }) => slot)).toEqual(lines.map((line) => line.split(" ")[0]));
    expect(await listOf(cwd)).toMatchObject({ owner: null });
    expect(existsSync(join(cwd, ".loop", "loop.lock"))).toBe(false);
  });

  test("A4 --no-now waits for the first slot", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "--no-now", "later");
    const up = await runLoop(["up", "--for", "1s", "--agent-cmd", "cat"], { cwd });
    expect(up.stdout).not.toContain("▶ fire");
    expect(await historyOf(cwd)).toEqual([]);
  });

  test("run folders of tasks that are gone are removed after a week; those of tasks that are there stay", async () => {
    const cwd = makeProject();
    const { id } = await create(cwd, "1h", "--no-now", "later");
    const runs = join(cwd, ".loop", "runs");
    const weekAgo = new Date(Date.now() - 8 * 86_400_000);
    for (const name of [id, "0badcafe"]) {
      mkdirSync(join(runs, name), { recursive: true });
      utimesSync(join(runs, name), weekAgo, weekAgo);
    }
    const up = startLoop(["up", "--agent-cmd", "cat"], { cwd });
    await up.line(/this runner fires/);
    expect(readdirSync(runs)).toEqual([id]);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "A5 %s ends it with 0: lease released, agent gone, the fire interrupted with the reason",
    async (signal) => {
      const cwd = makeProject();
      await create(cwd, "1h", "hang");
      const up = startLoop(["up", "--agent-cmd", `echo $$ > pid; ${HANGS}`], { cwd });
      await until(() => existsSync(join(cwd, "pid")), "the agent runs");
      await until(async () => (await outcomes(cwd)).at(0) === "running", "the history says so");
      expect(existsSync(join(cwd, ".loop", "loop.lock"))).toBe(true);
      up.signal(signal);
      expect(await up.ended).toBe(0);
      expect(leftovers(cwd)).toEqual([]);
      expect(await historyOf(cwd)).toMatchObject([
        { outcome: "interrupted", reason: expect.stringContaining(signal), finishedAt: expect.any(String) },
      ]);
      expect((await listOf(cwd)).owner).toBeNull();
      expect(existsSync(join(cwd, ".loop", "loop.lock"))).toBe(false);
      expect(up.output.stderr).toContain(`${signal}: stopping.`);
    },
  );

  test("A5 one turn at a time: a second task waits for the end of the first", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "first");
    await create(cwd, "1h", "second");
    const command =
      "mkdir busy || echo overlap >> overlaps; while ! test -e go; do sleep 0.05; done; rmdir busy";
    const up = startLoop(["up", "--agent-cmd", command], { cwd });
    await up.line(/▶ fire/);
    expect(await outcomes(cwd)).toEqual(["running"]);
    writeFileSync(join(cwd, "go"), "");
    await up.line(/✓ ok[\s\S]*✓ ok/);
    expect(existsSync(join(cwd, "overlaps"))).toBe(false);
  });

  test("A3 deleting a task stops its running fire; pausing lets it finish", async () => {
    const cwd = makeProject();
    const gone = await create(cwd, "1h", "gone");
    const up = startLoop(["up", "--agent-cmd", `test -e quick || { ${HANGS}; }`], { cwd });
    await up.line(/▶ fire/);
    await until(async () => (await outcomes(cwd)).at(0) === "running", "it runs");
    const deleted = await runHere(["delete", gone.id], { cwd });
    expect(deleted.stdout).toBe(`Deleted ${gone.id}. Its running fire is stopped.\n`);
    await up.line(/■ interrupted/);
    expect(await historyOf(cwd)).toMatchObject([{ outcome: "interrupted", reason: "the task was deleted" }]);
    expect(leftovers(cwd)).toEqual([up.pid]);
  });

  test("A20 LOOP_DISABLE_SCHEDULER=1 fires nothing, and says so everywhere", async () => {
    const cwd = makeProject();
    const env = { LOOP_DISABLE_SCHEDULER: "1" };
    const off = "Nothing fires here, because LOOP_DISABLE_SCHEDULER=1 is set.";
    expect((await runHere(["list"], { cwd, env })).stdout).toMatch(
      new RegExp(`^No loops here\\..*\\n${off}\\n$`),
    );
    const made = await runHere(["5m", "x"], { cwd, env });
    expect(made.stderr).toContain("LOOP_DISABLE_SCHEDULER=1");
    const up = await runLoop(["up", "--for", "1s", "--agent-cmd", "touch fired"], { cwd, env });
    expect(up).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Scheduling is off: LOOP_DISABLE_SCHEDULER=1."),
    });
    expect(existsSync(join(cwd, "fired"))).toBe(false);
    expect((await runHere(["list"], { cwd, env })).stdout).toContain(off);
    const json = async (env = {}) => JSON.parse((await runHere(["list", "--json"], { cwd, env })).stdout);
    expect([(await json(env)).firing, (await json()).firing]).toEqual([false, true]);
    expect(await historyOf(cwd)).toEqual([]);
  });

  test("A7 an expired task gets one final run, said to be final, and is deleted", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "1h", "--exact", "--no-now", "bye", "--expires", "1s");
    const up = startLoop(["up", "--agent-cmd", 'cat; echo "$LOOP_KIND"'], { cwd });
    await up.line(/ended: expired after its final run/);
    expect(up.output.stdout).toContain("(final) bye");
    expect(await historyOf(cwd)).toMatchObject([{ taskId: task.id, kind: "final", outcome: "ok" }]);
    expect((await listOf(cwd)).tasks).toEqual([]);
  });

  test("F1 --json prints one object per line", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "x");
    const up = await runLoop(["up", "--json", "--for", "1s", "--agent-cmd", "echo hello; exit 3"], { cwd });
    const events = up.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const types = events.map(({ type }) => type).filter((type) => type !== "tasks");
    expect(types).toEqual(["up", "role", "fire", "answer", "outcome", "down"]);
    expect(events.find(({ type }) => type === "outcome")).toMatchObject({
      outcome: "failed",
      reason: "exit 3: hello",
    });
    expect(events.find(({ type }) => type === "answer")).toMatchObject({
      text: expect.stringContaining("hello"),
    });
  });

  test("F1 --for of more than 24 days does not end at once", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "x");
    const up = startLoop(["up", "--for", "30d", "--agent-cmd", "cat"], { cwd });
    await up.line(/✓ ok/);
    expect((await listOf(cwd)).owner).toMatchObject({ pid: up.pid });
    expect(up.output.stderr).toBe("");
  });
});
