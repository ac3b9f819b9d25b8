/** H2: what a repository or a copy brings along in `.loop` can be looked at, but nothing of it runs or is changed. */
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, hashTree, listOf, loopJson, makeProject, runLoop } from "../support/cli.ts";
import { hasTmux, openTerminal } from "../support/tmux.ts";

const FOREIGN =
  "The tasks here were not made on this machine; nothing of them runs until you say so: loop trust\n";
const UP = ["up", "--agent-cmd", "touch fired; cat", "--for", "2s"];
const EVERY_WRITER = [
  ["5m", "x"],
  UP,
  ["import"],
  ["init"],
  ["clear", "--yes"],
  ...["pause", "resume", "run", "delete"].map((word) => [word, "abcd1234"]),
  ["edit", "abcd1234", "15m"],
];

function forgeTasksFile(cwd: string, task: object = {}): void {
  mkdirSync(join(cwd, ".loop"));
  const due = { id: "abcd1234", prompt: "forged", everyMs: 1_000, expect: "touch checked", ...task };
  writeFileSync(join(cwd, ".loop", "tasks.json"), JSON.stringify({ tasks: [due] }));
  mkdirSync(join(cwd, ".claude"));
  writeFileSync(join(cwd, ".claude", "scheduled_tasks.json"), "[]");
}

/** The whole `.loop` of another project in which a task is due, mark and valid checksums and all. */
async function copyFolder(): Promise<{ cwd: string; id: string }> {
  const theirs = makeProject();
  const { id } = await create(theirs, "1s", "--exact", "theirs", "--expect", "touch checked");
  const cwd = makeProject();
  cpSync(join(theirs, ".loop"), join(cwd, ".loop"), { recursive: true });
  return { cwd, id };
}

async function expectNothingRuns(cwd: string): Promise<void> {
  const before = hashTree(cwd);
  expect(await runLoop(UP, { cwd })).toEqual({ code: 1, stdout: "", stderr: `loop: ${FOREIGN}` });
  expect(hashTree(cwd)).toBe(before);
}

describe("a folder from somewhere else", () => {
  test("H2 a forged tasks.json fires nothing, and every command that writes is refused", async () => {
    const cwd = makeProject();
    forgeTasksFile(cwd);
    await expectNothingRuns(cwd);
    const before = hashTree(cwd);
    for (const args of EVERY_WRITER) {
      const result = await runLoop(args, { cwd });
      expect.soft(result, args.join(" ")).toEqual({ code: 1, stdout: "", stderr: `loop: ${FOREIGN}` });
    }
    expect((await runLoop(["list"], { cwd })).stderr).toBe(FOREIGN);
    expect(hashTree(cwd)).toBe(before);
  });

  test("H2 a copied journal fires nothing; list, show and history show it and say why", async () => {
    const { cwd, id } = await copyFolder();
    await expectNothingRuns(cwd);
    const before = hashTree(cwd);
    for (const args of [["list"], ["ls", "--json"], ["show", id], ["history"], ["list", "-C", "."]])
      expect.soft(await runLoop(args, { cwd }), args.join(" ")).toMatchObject({ code: 0, stderr: FOREIGN });
    expect((await runLoop(["list"], { cwd })).stdout).toContain("theirs");
    const env = { LOOP_ID: id, LOOP_FIRE_ID: `${id}-1` };
    expect((await runLoop(["wakeup", "5m"], { cwd, env })).code).not.toBe(0);
    expect(hashTree(cwd)).toBe(before);
  });

  test("H2 nor does a clone of a repository that committed all of it, once or twice on this machine", async () => {
    const { cwd: theirs } = await copyFolder();
    expect((await runLoop(["trust", "--yes"], { cwd: theirs })).code).toBe(0);
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: theirs });
    git("init", "-q");
    git("add", "-f", ".loop");
    git("commit", "-qm", "all of it");
    const cwd = makeProject();
    rmSync(cwd, { recursive: true });
    execFileSync("git", ["clone", "-q", theirs, cwd], { cwd: dirname(cwd) });
    expect(existsSync(join(cwd, ".loop", "origin"))).toBe(true);
    await expectNothingRuns(cwd);
  });

  test("H2 only settings and a prompt, and a mark that somebody committed, are no engine's files", async () => {
    const cwd = makeProject();
    mkdirSync(join(cwd, ".loop"));
    writeFileSync(join(cwd, ".loop", "config.json"), "{}");
    writeFileSync(join(cwd, ".loop", "origin"), `${"0".repeat(64)}\n`);
    await create(cwd, "5m", "mine", "--no-now");
    expect(await runLoop(["list"], { cwd })).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("trust", () => {
  test("H2 with --yes it runs; what it shows hides nothing", async () => {
    const cwd = makeProject();
    forgeTasksFile(cwd, { prompt: "a\nb\u001b[2K\u202e", expect: "touch checked # \u0007" });
    const before = hashTree(cwd);
    const asked = await runLoop(["trust"], { cwd });
    expect(asked).toMatchObject({ code: 64, stderr: expect.stringMatching(/^loop: .*--yes/) });
    expect(asked.stdout).toContain("    prompt: a\\nb\\u{1b}[2K\\u{202e}\n");
    expect(asked.stdout).toContain("    runs:   touch checked # \\u{7}\n");
    expect(hashTree(cwd)).toBe(before);
    const { trusted, tasks } = await loopJson<{ trusted: boolean; tasks: object[] }>(["trust", "--yes"], {
      cwd,
    });
    expect({ trusted, tasks }).toMatchObject({ trusted: true, tasks: [{ id: "abcd1234" }] });
    expect(await runLoop(UP, { cwd })).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining(FOREIGN),
    });
    expect(existsSync(join(cwd, "fired")) && existsSync(join(cwd, "checked"))).toBe(true);
    expect((await runLoop(["trust"], { cwd })).stdout).toBe("Nothing here comes from somewhere else.\n");
  });

  test("H2 it shows what the journal knows and what tasks.json would make of it", async () => {
    const { cwd, id } = await copyFolder();
    const path = join(cwd, ".loop", "tasks.json");
    const changed = { id, prompt: "changed", everyMs: 1_000 };
    writeFileSync(path, JSON.stringify({ tasks: [changed, { prompt: "new", cron: "0 9 * * *" }] }));
    const { stdout } = await runLoop(["trust"], { cwd });
    expect(stdout).toMatch(/^3 tasks from somewhere else:\n/);
    for (const prompt of ["theirs", "changed", "new"]) expect(stdout).toContain(`    prompt: ${prompt}\n`);
  });

  test("H2 it stays when the project is moved, and goes when it is copied", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "mine", "--no-now");
    const moved = join(dirname(cwd), "moved");
    renameSync(cwd, moved);
    expect(await runLoop(["list"], { cwd: moved })).toMatchObject({ code: 0, stderr: "" });
    await create(moved, "1h", "another", "--no-now");
    cpSync(moved, cwd, { recursive: true });
    await expectNothingRuns(cwd);
    expect((await listOf(moved)).tasks).toHaveLength(2);
  });

  test("H2 without HOME, and with a damaged mark that one can mend", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "mine", "--no-now");
    appendFileSync(join(cwd, ".loop", "origin"), "more\n");
    expect((await runLoop(["list"], { cwd, env: { HOME: "" } })).stderr).toBe("");
    writeFileSync(join(cwd, ".loop", "origin"), "");
    expect((await runLoop(["list"], { cwd })).stderr).toBe(FOREIGN);
    expect((await runLoop(["trust", "--yes"], { cwd })).code).toBe(0);
    expect((await runLoop(["list"], { cwd })).stderr).toBe("");
  });

  test("H2 many first commands at once: all of them succeed", async () => {
    const cwd = makeProject();
    await Promise.all(Array.from({ length: 8 }, (_, n) => create(cwd, "1h", `new ${n}`, "--no-now")));
    expect((await listOf(cwd)).tasks).toHaveLength(8);
  });

  test.skipIf(!hasTmux)("H2 in a terminal it asks: n changes nothing, y trusts", async () => {
    const cwd = makeProject();
    forgeTasksFile(cwd, { everyMs: 3_600_000 });
    const before = hashTree(join(cwd, ".loop"));
    const terminal = openTerminal(cwd);
    terminal.run("loop trust");
    await terminal.sees(/touch checked[\s\S]*Trust 1 task\?[\s\S]*No/);
    terminal.keys("n");
    await terminal.sees(/Nothing was changed\.\n\$$/);
    expect(hashTree(join(cwd, ".loop"))).toBe(before);
    terminal.run("clear; loop trust");
    await terminal.sees(/Trust 1 task\?[\s\S]*No/);
    terminal.keys("y");
    await terminal.sees(/Trusted: 1 task\. They run with: loop up\n\$$/);
    expect((await runLoop(["list"], { cwd })).stderr).toMatch(/created abcd1234\.\n$/);
  });
});
