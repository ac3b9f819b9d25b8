/** Readers that stop: the runner does not wait for them. Each runner lives for seconds, so that pipes fill up. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { cleanEnv, create, historyOf, kill, LOOP, listOf, makeProject } from "../../support/cli.ts";
import { hasTmux, openTerminal } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

const BIG_ANSWER = "head -c 400000 /dev/zero | tr '\\0' x";
const oks = async (cwd: string) => (await historyOf(cwd)).filter(({ outcome }) => outcome === "ok").length;

describe("a reader that stops reading", () => {
  test.each([
    ["JSON", ["--json"]],
    ["lines", []],
  ])("F1 H1 does not stop the engine, nor --for: %s", async (_name, flags) => {
    const cwd = makeProject();
    await create(cwd, "1s", "--exact", "--no-jitter", "big");
    const args = ["up", "--for", "4s", "--agent-cmd", BIG_ANSWER, ...flags];
    // nobody listens to its stdout: the pipe fills up and stays full
    const up = spawn(process.execPath, [LOOP, ...args], { cwd, env: cleanEnv(cwd), stdio: "pipe" });
    onTestFinished(() => kill(up.pid ?? 0));
    await until(async () => (await oks(cwd)) >= 2, "it goes on firing");
    const used = cpuSeconds(up.pid ?? 0);
    await until(() => up.exitCode !== null, "its time is over", 12_000);
    expect(up.exitCode).toBe(0);
    expect(used).toBeLessThan(2);
    expect((await listOf(cwd)).owner).toBeNull();
  });

  test.skipIf(!hasTmux)("F1 H1 nor does a terminal that is stopped with Ctrl-S", async () => {
    const cwd = makeProject();
    await create(cwd, "1s", "--exact", "--no-jitter", "tick");
    const terminal = openTerminal(cwd);
    terminal.run("loop up --for 5s --agent-cmd 'cat; seq 1 20000'; echo code=$?");
    await terminal.sees(/✓ ok/);
    terminal.keys("C-s");
    const before = await oks(cwd);
    await until(async () => (await oks(cwd)) >= before + 2, "it goes on firing");
    await until(async () => (await listOf(cwd)).owner === null, "its time is over", 10_000);
    terminal.keys("C-q");
    await terminal.sees(/code=0\n\$$/);
  });
});

/** User and system time so far. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
