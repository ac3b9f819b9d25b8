/** What becomes of fires, tasks and runners when a terminal, a runner or a right to write is gone. */
import { spawn } from "node:child_process";
import { chmodSync, chownSync, closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isUnderNohup } from "../../../src/cli/run/signals.ts";
import {
  cleanEnv,
  create,
  giveHome,
  historyOf,
  LOOP,
  leftovers,
  listOf,
  makeProject,
  runLoop,
  startLoop,
} from "../../support/cli.ts";
import { pause } from "../../support/pause.ts";
import { until } from "../../support/until.ts";

const NOBODY = 65_534;
const HANGS = "while :; do sleep 60; done";

const outcomeOf = async (cwd: string, id: string) =>
  (await historyOf(cwd)).filter(({ taskId }) => taskId === id).map(({ outcome }) => outcome);

describe("nohup", () => {
  test.skipIf(!existsSync("/bin/bash"))("A5 under nohup a hang-up ends nothing, SIGTERM does", async () => {
    const cwd = makeProject();
    const command = `nohup "${process.execPath}" "${LOOP}" up --agent-cmd cat`;
    const child = spawn("/bin/bash", ["-c", command], {
      cwd,
      env: cleanEnv(cwd),
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const code = new Promise((resolve) => child.on("close", resolve));
    await until(async () => (await listOf(cwd)).owner?.pid === child.pid, "it has the lease");
    child.kill("SIGHUP");
    await pause(500);
    expect((await listOf(cwd)).owner?.pid).toBe(child.pid);
    child.kill("SIGTERM");
    expect(await code).toBe(0);
  });

  test("it is known by the shell's note, by its file or by a stdin that can only be written to", () => {
    const opened = (flags: string, path = "/dev/null") => {
      const fd = openSync(path, flags);
      onTestFinished(() => closeSync(fd));
      return `/proc/self/fd/${fd}`;
    };
    expect(isUnderNohup({ _: "/usr/bin/nohup" }, opened("r"))).toBe(true);
    expect(isUnderNohup({ _: "/usr/bin/loop" }, opened("w"))).toBe(process.platform === "linux");
    expect(isUnderNohup({}, opened("r"))).toBe(false);
    const out = join(makeProject(), "nohup.out");
    expect(isUnderNohup({}, opened("r"), opened("w", out))).toBe(process.platform === "linux");
    expect(isUnderNohup({}, opened("r+"))).toBe(false);
    expect(isUnderNohup({}, "/nowhere/fd/0")).toBe(false);
  });
});

test.skipIf(process.getuid?.() !== 0)("H5 a runner that may not write says so before it starts", async () => {
  const cwd = makeProject();
  const dir = join(cwd, ".loop");
  const journal = join(dir, "journal.jsonl");
  for (const path of [dirname(cwd), cwd]) chmodSync(path, 0o755);
  chownSync(cwd, NOBODY, NOBODY);
  giveHome(cwd, NOBODY);
  expect(await runLoop(["5m", "mine", "--no-now"], { cwd, uid: NOBODY })).toMatchObject({ code: 0 });
  chmodSync(journal, 0o400);
  const up = () => runLoop(["up", "--for", "1s", "--agent-cmd", "cat"], { cwd, uid: NOBODY });
  const refused = (path: string) => ({
    code: 1,
    stdout: "",
    stderr: `loop: Cannot write ${path}: permission denied.\n  Nothing was changed.\n`,
  });
  expect(await up()).toEqual(refused(journal));
  chmodSync(journal, 0o600);
  chmodSync(dir, 0o500);
  expect(await up()).toEqual(refused(dir));
});

test("A8 a passive runner that stops says who goes on", async () => {
  const cwd = makeProject();
  await create(cwd, "1h", "--no-now", "later");
  const owner = startLoop(["up", "--agent-cmd", "cat"], { cwd });
  await until(async () => (await listOf(cwd)).owner?.pid === owner.pid, "the first has the lease");
  const passive = await runLoop(["up", "--for", "1s", "--agent-cmd", "cat"], { cwd });
  expect(passive.stdout).toMatch(
    new RegExp(`Stopped\\. The task stays; runner:${owner.pid}\\.\\w+ continues to run it\\.\n$`),
  );
});

test.each([["delete"], ["clear", "--yes"]])(
  "A3 loop %s stops the agent of a runner that was killed",
  async (...command) => {
    const cwd = makeProject();
    const { id } = await create(cwd, "1h", "hang");
    const other = await create(cwd, "1h", "due, and not to be run by this");
    const up = startLoop(["up", "--agent-cmd", `echo $$ > pid; ${HANGS}`], { cwd });
    await until(
      () => existsSync(join(cwd, "pid")) && readFileSync(join(cwd, "pid"), "utf8") !== "",
      "the agent runs",
    );
    await until(async () => (await historyOf(cwd)).at(0)?.startedAt != null, "the history says so");
    up.signal("SIGKILL");
    await up.ended.catch(() => null);
    expect(leftovers(cwd)).not.toEqual([]);
    const done = await runLoop(command[0] === "delete" ? ["delete", id] : command, { cwd });
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(leftovers(cwd)).toEqual([]);
    expect((await historyOf(cwd)).filter(({ taskId }) => taskId === id)).toMatchObject([
      { outcome: "interrupted", reason: "the task was deleted", finishedAt: expect.any(String) },
    ]);
    expect(await outcomeOf(cwd, other.id)).toEqual(command[0] === "delete" ? [] : ["skipped"]);
    const { owner, tasks } = await listOf(cwd);
    expect(owner).toBeNull();
    expect(tasks.map((task) => task.id)).toEqual(command[0] === "delete" ? [other.id] : []);
  },
);
