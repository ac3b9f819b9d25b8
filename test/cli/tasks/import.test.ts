/** `loop import`: the tasks of other loop tools. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { create, hashTree, listOf, loopJson, makeProject, type TaskJson } from "../../support/cli.ts";
import { runHere } from "../../support/here.ts";

interface Imported {
  imported: TaskJson[];
  skipped: string[];
  faults: string[];
}

function write(cwd: string, tool: "claude" | "pi", content: unknown): void {
  const [folder, name] = tool === "claude" ? [".claude", "scheduled_tasks.json"] : [".pi", "loop-tasks.json"];
  mkdirSync(join(cwd, folder), { recursive: true });
  writeFileSync(join(cwd, folder, name), typeof content === "string" ? content : JSON.stringify(content));
}

const CLAUDE = {
  tasks: [
    {
      id: "abcd1234",
      cron: "*/5 * * * *",
      prompt: "check the deploy",
      recurring: true,
      createdAt: Date.now(),
    },
    { id: "not-hex", cron: "30 14 1 1 *", prompt: "once", recurring: false, createdAt: Date.now() },
  ],
};
const PI = [
  {
    id: "pi1",
    cronExpr: "0 9 * * 1-5",
    prompt: "summarise",
    recurring: true,
    expiresAt: Date.now() + 86_400_000,
  },
  { id: "pi2", cronExpr: "0 9 * * *", prompt: "over", recurring: true, expiresAt: 1 },
];

test("A19 both formats, with ids kept where they are ids; twice is as good as once; a dry run writes nothing", async () => {
  const cwd = makeProject();
  write(cwd, "claude", CLAUDE);
  write(cwd, "pi", PI);
  const before = hashTree(cwd);
  const dry = await loopJson<Imported>(["import", "--dry-run"], { cwd });
  expect(dry.imported.map(({ prompt }) => prompt)).toEqual(["check the deploy", "once", "summarise"]);
  expect(hashTree(cwd)).toBe(before);
  const real = await runHere(["import"], { cwd });
  expect(real.code).toBe(0);
  expect(real.stdout).toContain("Imported abcd1234: Every 5 minutes  check the deploy");
  expect(real.stdout).toContain(
    "3 imported, 1 skipped, 0 faulty, from .claude/scheduled_tasks.json and .pi/loop-tasks.json.",
  );
  expect(real.stderr).toContain("pi2: it has expired");
  expect(real.stderr).toContain("The original tasks still run");
  const { tasks } = await listOf(cwd);
  const byPrompt = new Map(tasks.map((task) => [task.prompt, task]));
  expect(byPrompt.get("check the deploy")).toMatchObject({
    id: "abcd1234",
    cron: "*/5 * * * *",
    recurring: true,
  });
  expect(byPrompt.get("once")).toMatchObject({ recurring: false, expiresAt: null });
  expect(byPrompt.get("summarise")).toMatchObject({
    cron: "0 9 * * 1-5",
    expiresAt: new Date(PI[0]?.expiresAt ?? 0).toISOString(),
  });
  const again = await loopJson<Imported>(["import"], { cwd });
  expect(again.imported).toEqual([]);
  expect(again.skipped.filter((line) => line.endsWith("imported before"))).toHaveLength(3);
  expect((await listOf(cwd)).tasks).toHaveLength(3);
});

test("A19 H5 a faulty entry is named and spoils no other; the exit code says that something was wrong", async () => {
  const cwd = makeProject();
  write(cwd, "claude", {
    tasks: [
      { id: "bad1", cron: 5, prompt: "x" },
      { id: "bad2\u001b[31m", cron: "* * * * *", prompt: "" },
      null,
      { id: "bad3", cron: "99 * * * *", prompt: "x", recurring: true },
      { id: "good", cron: "0 9 * * *", prompt: "good", recurring: true },
    ],
  });
  write(cwd, "pi", "{ not json");
  const { code, stdout, stderr } = await runHere(["import"], { cwd });
  expect(code).toBe(1);
  expect(stdout).toContain("1 imported, 1 skipped, 4 faulty");
  for (const words of [
    /task bad1: cron: /,
    /task bad2.*prompt: /,
    /without an id/,
    /bad3: The minute field has "99"/,
    /loop-tasks\.json: it is not JSON/,
  ])
    expect(stderr).toMatch(words);
  expect(stderr).not.toContain("\u001b");
  expect((await listOf(cwd)).tasks).toMatchObject([{ prompt: "good" }]);
});

test("A19 A8 the limit holds, for a dry run as well, and says which were left out", async () => {
  const cwd = makeProject();
  await create(cwd, "5m", "here before", "--no-now");
  writeFileSync(join(cwd, ".loop", "config.json"), '{"maxTasks": 3}');
  write(cwd, "claude", {
    tasks: [1, 2, 3, 4].map((n) => ({ id: `t${n}`, cron: "0 9 * * *", prompt: `p${n}`, recurring: true })),
  });
  for (const args of [["import", "--dry-run"], ["import"]]) {
    const { imported, skipped } = await loopJson<Imported>(args, { cwd });
    expect(imported.map(({ prompt }) => prompt)).toEqual(["p1", "p2"]);
    expect(skipped).toHaveLength(2);
    expect(skipped[0]).toContain("t3: There are 3 live tasks, and at most 3 are allowed");
  }
});

test("A19 H4 only the named tool, nothing at all, and no link out of the project", async () => {
  const cwd = makeProject();
  write(cwd, "claude", CLAUDE);
  write(cwd, "pi", PI);
  const { imported } = await loopJson<Imported>(["import", "pi"], { cwd });
  expect(imported.map(({ prompt }) => prompt)).toEqual(["summarise"]);
  const linked = makeProject();
  mkdirSync(join(dirname(linked), "home", "elsewhere"));
  writeFileSync(join(dirname(linked), "home", "elsewhere", "scheduled_tasks.json"), JSON.stringify(CLAUDE));
  symlinkSync(join(dirname(linked), "home", "elsewhere"), join(linked, ".claude"));
  const refused = await runHere(["import"], { cwd: linked });
  expect(refused).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("is a link to a place outside the project"),
  });
  expect(existsSync(join(linked, ".loop"))).toBe(false);
});
