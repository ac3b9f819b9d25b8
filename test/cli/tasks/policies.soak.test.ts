/** What decides whether a fire succeeded, and what becomes of slots that nobody was there for. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, historyOf, listOf, makeProject, runLoop, startLoop } from "../../support/cli.ts";
import { runHere } from "../../support/here.ts";
import { until } from "../../support/until.ts";

/** Until the moment is past by the clock that the command will see. */
const past = (at: number) => until(() => Date.now() > at, "the slots have passed");
const SECOND = 1_000;

describe("postconditions", () => {
  test("A18 --expect decides: an agent that claims success has failed when the command says so", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "publish", "--expect", "test -f published");
    const up = startLoop(["up", "--agent-cmd", "echo done, all is published"], { cwd });
    await up.line(/✗ failed/);
    expect(await historyOf(cwd)).toMatchObject([
      { outcome: "failed", reason: expect.stringContaining("test -f published") },
    ]);
    up.signal("SIGTERM");
    await up.ended;
    const other = makeProject();
    await create(other, "1h", "publish", "--expect", "test -f published");
    const good = startLoop(["up", "--agent-cmd", "touch published"], { cwd: other });
    await good.line(/✓ ok/);
  });

  test("A18 --alert-after notifies once, through --notify-cmd, with title and body", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "1s", "--exact", "--no-jitter", "x", "--alert-after", "2");
    const notify =
      'printf "%s|%s\\n" "$LOOP_TITLE" "$LOOP_BODY" >> notes; cat >> stdin; echo oops >&2; exit 4';
    const up = startLoop(["up", "--agent-cmd", "exit 1", "--notify-cmd", notify], { cwd });
    await up.line(/✗ failed[\s\S]*✗ failed[\s\S]*✗ failed[\s\S]*✗ failed/);
    up.signal("SIGTERM");
    await up.ended;
    const notes = readFileSync(join(cwd, "notes"), "utf8").trim().split("\n");
    expect(notes).toEqual([
      `Task ${task.id} needs attention|The last 2 slots of task ${task.id} failed or did not run: exit 1.`,
    ]);
    expect(readFileSync(join(cwd, "stdin"), "utf8")).toContain("needs attention");
    expect(up.output.stderr).toContain(`! Task ${task.id} needs attention`);
    expect(up.output.stderr).toContain("--notify-cmd ended with exit 4. oops");
  });

  test("A18 a turn that takes longer than --timeout is stopped and has failed", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "x", "--timeout", "1s");
    const up = startLoop(["up", "--agent-cmd", "while :; do sleep 60; done"], { cwd });
    await up.line(/✗ failed/);
    expect((await historyOf(cwd))[0]).toMatchObject({
      outcome: "failed",
      reason: expect.stringMatching(/1s|time/),
    });
  });
});

describe("slots that passed while nothing ran", () => {
  test("A10 --missed once, all, skip: every slot has a line, and what is late is said to be", async () => {
    const cwd = makeProject();
    const make = (interval: string, ...args: string[]) =>
      create(cwd, interval, "--exact", "--no-jitter", "--no-now", "x", "--missed", ...args);
    const once = await make("1s", "once");
    const all = await make("1s", "all");
    const skip = await make("1s", "skip", "--grace", "500ms");
    await past(Date.parse(skip.createdAt) + 2.5 * SECOND);
    const up = startLoop(["up", "--agent-cmd", "true"], { cwd });
    let history = await historyOf(cwd);
    const rowsOf = ({ id }: { id: string }) => history.filter(({ taskId }) => taskId === id);
    await until(async () => {
      history = await historyOf(cwd);
      const rows = [once, all, skip].map(rowsOf);
      return rows.every((own) => own.length > 1 && own.some(({ outcome }) => outcome === "ok"));
    }, "each task has fired");
    up.signal("SIGTERM");
    await up.ended;
    for (const task of [once, all, skip]) {
      const created = Date.parse(task.createdAt);
      const rows = rowsOf(task);
      expect(rows.map(({ slot }) => Date.parse(slot))).toEqual(
        rows.map((_, n) => created + (n + 1) * (task.everyMs ?? 0)),
      );
      for (const row of rows) if (row.outcome !== "ok") expect(row.reason).toEqual(expect.any(String));
    }
    const missed = { outcome: "missed", reason: "nothing was running when it was due" };
    const late = { outcome: "ok", kind: "late" };
    const ofOnce = rowsOf(once);
    expect(ofOnce[0]).toMatchObject(missed);
    expect(ofOnce.find(({ outcome }) => outcome === "ok")).toMatchObject(late);
    expect(rowsOf(all).slice(0, 2)).toMatchObject([late, late]);
    expect(rowsOf(skip).slice(0, 2)).toMatchObject([missed, missed]);
  });

  test("A10 a missed one-shot waits for a person: listed as missed, notified, run by hand", async () => {
    const cwd = makeProject();
    const task = await create(cwd, "in", "1s", "once", "--grace", "100ms", "--no-jitter");
    await past(Date.parse(task.nextFireAt ?? "") + 300);
    const up = startLoop(["up", "--agent-cmd", "touch fired"], { cwd });
    await up.line(/○ missed/);
    await until(() => up.output.stderr.includes(`! One-shot task ${task.id} was missed`), "it is said");
    expect(existsSync(join(cwd, "fired"))).toBe(false);
    expect((await listOf(cwd)).tasks).toMatchObject([{ id: task.id, state: "missed" }]);
    expect((await runHere(["list"], { cwd })).stdout).toContain("missed: run or delete");
    await runLoop(["run", task.id], { cwd });
    await up.line(/ended: fired once/);
    expect((await historyOf(cwd)).map(({ outcome }) => outcome)).toEqual(["missed", "ok"]);
  });

  test("A6 a one-shot on the half hour may come early, never late; any other is on its moment", async () => {
    const cwd = makeProject();
    const half = await create(cwd, "at", "14:30", "x");
    expect(half.jitterMs).toBeLessThanOrEqual(0);
    expect(half.jitterMs).toBeGreaterThanOrEqual(-90_000);
    expect((await create(cwd, "at", "14:31", "x")).jitterMs).toBe(0);
    expect((await create(cwd, "at", "14:30", "x", "--no-jitter")).nextFireAt).toMatch(/T14:30:00.000Z$/);
  });
});

test("H3 what is in the runner's environment stays there: no file of ours holds it", async () => {
  const cwd = makeProject();
  const secret = "sk-fake-4711-do-not-keep";
  await create(cwd, "5m", "x", "--expect", "true", "--alert-after", "1");
  const args = ["up", "--for", "2s", "--json", "--agent-cmd", "exit 3", "--notify-cmd", "true"];
  const { stdout, stderr } = await runLoop(args, { cwd, env: { ANTHROPIC_API_KEY: secret } });
  expect(stdout).toContain('"outcome":"failed"');
  const files = readdirSync(join(cwd, ".loop"), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  expect(files.length).toBeGreaterThan(5);
  const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  expect([stdout, stderr, ...texts].join("\n")).not.toContain(secret);
});
