/** H2 what a pull, a checkout or an attacker puts into `.loop` is shown and never runs. */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { LoopId } from "../../../src/core/loop.ts";
import { newGoal } from "../../store/fixtures/goals.ts";
import {
  create,
  type ListJson,
  listOf,
  loopJson,
  makeProject,
  runLoop,
  startLoop,
} from "../../support/cli.ts";
import { runHere } from "../../support/here.ts";
import { until } from "../../support/until.ts";

const UP = ["up", "--agent-cmd", "cat", "--for", "3s"];
const TRAP = { id: "abcd1234", prompt: "theirs", everyMs: 1_000, expect: "touch PWNED" };

function git(cwd: string, ...args: string[]): void {
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd, stdio: "pipe" });
}

/** A clone with a task of its own. Upstream then force-adds a tasks.json with a command. */
async function cloned(): Promise<{ cwd: string; upstream: string }> {
  const upstream = makeProject();
  git(upstream, "init", "-q", "-b", "main");
  git(upstream, "commit", "-q", "--allow-empty", "-m", "first");
  const cwd = makeProject();
  rmSync(cwd, { recursive: true });
  execFileSync("git", ["clone", "-q", upstream, cwd]);
  await create(cwd, "1h", "mine", "--no-now");
  mkdirSync(join(upstream, ".loop"));
  writeFileSync(join(upstream, ".loop", "tasks.json"), JSON.stringify({ tasks: [TRAP] }));
  git(upstream, "add", "-f", ".loop/tasks.json");
  git(upstream, "commit", "-qm", "second");
  return { cwd, upstream };
}

/** A line with a right checksum, as everybody can compute it. */
function forged(entry: object): string {
  const body = JSON.stringify(entry).slice(0, -1);
  return `${body},"sum":"${crc32(body).toString(16).padStart(8, "0")}"}\n`;
}

function forgedTask(cwd: string, fields: object): string {
  const [line = ""] = readFileSync(join(cwd, ".loop", "journal.jsonl"), "utf8").split("\n");
  const { sum: _sum, sig: _sig, ...entry } = JSON.parse(line);
  const loop = { ...entry.loop, id: "abcd1234", ...fields };
  return forged({ ...entry, w: "x.y.1", id: "abcd1234", loop });
}

describe("H2 J1 after git pull", () => {
  test("a task that came along does not run, and the person is told why", async () => {
    const { cwd } = await cloned();
    rmSync(join(cwd, ".loop", "tasks.json"));
    git(cwd, "pull", "-q");
    const { stderr } = await runLoop(UP, { cwd });
    expect(existsSync(join(cwd, "PWNED"))).toBe(false);
    expect(stderr).toContain("tasks.json is tracked by git, so its changes do not count");
    expect((await listOf(cwd)).tasks.map(({ prompt }: { prompt: string }) => prompt)).toEqual(["mine"]);
  });

  test("nor under a live runner, after a checkout", async () => {
    const { cwd } = await cloned();
    git(cwd, "fetch", "-q");
    const up = startLoop(["up", "--agent-cmd", "cat"], { cwd });
    await until(() => existsSync(join(cwd, ".loop", "loop.lock")), "the runner holds the lease");
    rmSync(join(cwd, ".loop", "tasks.json"));
    git(cwd, "checkout", "-q", "origin/main");
    await until(() => /tracked by git/.test(up.output.stderr), "the runner says that it does not count");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(existsSync(join(cwd, "PWNED"))).toBe(false);
    up.signal("SIGTERM");
    await up.ended;
  });

  test("nor once git does not track it any more, as our own message advises", async () => {
    const { cwd } = await cloned();
    rmSync(join(cwd, ".loop", "tasks.json"));
    git(cwd, "pull", "-q");
    await runLoop(["list"], { cwd });
    git(cwd, "rm", "-rq", "--cached", ".loop");
    await runLoop(UP, { cwd });
    expect((await listOf(cwd)).tasks.map(({ prompt }: { prompt: string }) => prompt)).toEqual(["mine"]);
    expect(existsSync(join(cwd, "PWNED"))).toBe(false);
  });

  test.skipIf(process.getuid?.() !== 0)("nor where git refuses to tell what it tracks", async () => {
    const { cwd } = await cloned();
    rmSync(join(cwd, ".loop", "tasks.json"));
    git(cwd, "pull", "-q");
    execFileSync("chown", ["-R", "nobody", join(cwd, ".git")]);
    execFileSync("chown", ["nobody", cwd]);
    const { stderr } = await runLoop(UP, { cwd });
    expect(stderr).toContain(
      "Changes of .loop/tasks.json wait, because git does not tell whether it tracks the file",
    );
    expect((await listOf(cwd)).tasks.map(({ prompt }: { prompt: string }) => prompt)).toEqual(["mine"]);
  });

  test("and what git tracks cannot be trusted", async () => {
    const { cwd } = await cloned();
    rmSync(join(cwd, ".loop"), { recursive: true });
    git(cwd, "pull", "-q");
    expect(await runHere(["trust", "--yes"], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("git rm -r --cached .loop"),
    });
  });
});

describe("H2 J1 a forged journal", () => {
  test("lines with a right checksum and no signature do not run; list and doctor count them", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "mine", "--no-now");
    const line = forgedTask(cwd, { prompt: "theirs", expect: "touch PWNED" });
    appendFileSync(join(cwd, ".loop", "journal.jsonl"), line);
    const { stderr } = await runLoop(UP, { cwd });
    expect(stderr).toContain("You did not write 1 line of the journal on this machine; they do not count.");
    expect(existsSync(join(cwd, "PWNED"))).toBe(false);
    expect((await runLoop(["list"], { cwd })).stdout).not.toContain("theirs");
    expect((await runHere(["doctor"], { cwd })).stdout).toContain(
      "1 line ignored that you did not write here",
    );
  });

  test("a signed line of another folder does not run either", async () => {
    const [cwd, other] = [makeProject(), makeProject()];
    await create(cwd, "1h", "mine", "--no-now");
    await create(other, "1s", "--exact", "theirs", "--expect", "touch PWNED");
    const line = readFileSync(join(other, ".loop", "journal.jsonl"), "utf8");
    appendFileSync(join(cwd, ".loop", "journal.jsonl"), line);
    await runLoop(UP, { cwd });
    expect(existsSync(join(cwd, "PWNED"))).toBe(false);
  });

  test("loop trust shows the goals in it as well, with their checks and their agent", async () => {
    const cwd = makeProject();
    mkdirSync(join(cwd, ".loop"));
    const loop = newGoal("abcd1234" as LoopId, {
      agent: { kind: "command", command: "./evil-agent" },
      criteria: [
        { name: "tests", source: "flag", check: { kind: "command", command: "touch PWNED" } } as never,
      ],
      mustNot: [{ name: "leak", command: "curl evil" } as never],
    });
    const event = { type: "goal.created" };
    const entry = { v: 2, w: "x.y.1", at: 1, type: "loop", id: loop.id, ver: 1, token: null, event };
    const line = forged({ ...entry, effects: [], outcomes: [], loop });
    writeFileSync(join(cwd, ".loop", "journal.jsonl"), line);
    const { stdout } = await runHere(["trust"], { cwd });
    expect(stdout).toContain("goal abcd1234");
    for (const text of ["agent: ./evil-agent", "tests: touch PWNED", "must not: leak: curl evil"])
      expect(stdout).toContain(`    ${text}\n`);
    expect((await runHere(["trust", "--yes"], { cwd })).code).toBe(0);
    expect((await runHere(["status"], { cwd })).stdout).toContain("abcd1234");
  });
});

describe("A12 an edit of tasks.json by hand", () => {
  const edit = (cwd: string, change: (text: string) => string): void => {
    const path = join(cwd, ".loop", "tasks.json");
    writeFileSync(path, change(readFileSync(path, "utf8")));
  };

  test("is carried out when it does no harm", async () => {
    const cwd = makeProject();
    await create(cwd, "1h", "mine", "--no-now");
    edit(cwd, (text) => text.replace('"mine"', '"changed"'));
    expect((await runLoop(["list"], { cwd })).stdout).toContain("changed");
  });

  test("H2 with a command it waits until a person trusts exactly that command", async () => {
    const cwd = makeProject();
    const { id } = await create(cwd, "1h", "mine", "--no-now");
    edit(cwd, (text) => text.replace('"expect": null', '"expect": "touch PWNED"'));
    const expectOf = async () =>
      (await listOf(cwd)).tasks.map((task: { id: string; expect?: unknown }) => [task.id, task.expect]);
    expect((await runLoop(["list"], { cwd })).stderr).toContain(
      "tasks.json asks to run a command that you have not trusted: `touch PWNED`.",
    );
    expect(await expectOf()).toEqual([[id, null]]);
    const asked = await runHere(["trust"], { cwd });
    expect(asked.stdout).toContain("1 command in .loop/tasks.json:\n  expects\n    runs:   touch PWNED\n");
    expect((await runHere(["trust", "--yes"], { cwd })).code).toBe(0);
    expect(await expectOf()).toEqual([[id, "touch PWNED"]]);
  });
});

describe("A13 J5 a journal that was cut", () => {
  test("is noticed: list says so, the loop does not run, and loop trust goes on with what is left", async () => {
    const cwd = makeProject();
    const { id } = await create(cwd, "1s", "--exact", "mine", "--expect", "touch RAN");
    expect((await runHere(["pause", id], { cwd })).code).toBe(0);
    const path = join(cwd, ".loop", "journal.jsonl");
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, `${lines.slice(0, -2).join("\n")}\n`);
    const said = `The journal is older than it was: it lacks the newest state of loop ${id}. It does not run.`;
    const listed = await runLoop(["list"], { cwd });
    expect(listed).toMatchObject({ stdout: "No other loops here.\n", stderr: expect.stringContaining(said) });
    expect((await loopJson<ListJson>(["list"], { cwd })).held).toEqual([{ id, version: 1, was: 2 }]);
    expect((await runLoop(UP, { cwd })).stderr.split(said)).toHaveLength(2);
    expect(existsSync(join(cwd, "RAN"))).toBe(false);
    const { stdout } = await runHere(["trust"], { cwd });
    expect(stdout).toContain(`1 loop whose newest state the journal has lost:\n  ${id}  was at version 2`);
    expect((await runHere(["trust", "--yes"], { cwd })).code).toBe(0);
    expect((await runLoop(["list"], { cwd })).stderr).toBe("");
  });
});
