/** Readers that are slow, stop or go away: the runner does not wait for them. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Server, Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createOutlet } from "../../../src/cli/live/outlet.ts";
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

describe("what is unread", () => {
  test("F1 is bounded: lines are left out, whole, and their number is told once the reader is back", async () => {
    const { writer, reader } = await connection();
    const limit = 100_000;
    const outlet = createOutlet(writer, (lines) => outlet.write(`left out ${lines}\n`), limit);
    const line = (n: number) => `${n} ${"x".repeat(1_000)}\n`;
    let written = 0;
    while (outlet.write(line(written))) written++;
    let leftOut = 1;
    for (; leftOut < 5_000; leftOut++) expect(outlet.write(line(written + leftOut))).toBe(false);
    expect(outlet.isBehind).toBe(true);
    expect(writer.writableLength).toBeLessThan(limit + 2_000);
    let got = "";
    reader.setEncoding("utf8").on("data", (text: string) => {
      got += text;
    });
    reader.resume();
    await until(() => got.endsWith(`left out ${leftOut}\n`), "it is told");
    expect(outlet.isBehind).toBe(false);
    expect(outlet.write("after\n")).toBe(true);
    await until(() => got.endsWith("after\n"), "it goes on");
    const numbers = got.split("\n").map((text) => text.split(" ")[0]);
    expect(numbers).toEqual([...Array.from({ length: written }, (_, n) => String(n)), "left", "after", ""]);
  });

  test("F1 a reader that is gone is no failure", async () => {
    const { writer, reader } = await connection();
    writer.on("error", () => {});
    const outlet = createOutlet(writer, () => {});
    reader.destroy();
    await until(() => {
      outlet.write("x\n");
      return writer.destroyed;
    }, "the writer has noticed");
    expect(() => outlet.write("y\n")).not.toThrow();
  });
});

/** Both ends of a connection, the second of which reads nothing yet. */
async function connection(): Promise<{ writer: NodeJS.WriteStream; reader: Socket }> {
  const server: Server = createServer({ pauseOnConnect: true });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const writer = new Socket().connect(port, "127.0.0.1");
  const reader = await accepted;
  await until(() => !writer.connecting, "they are connected");
  onTestFinished(() => {
    writer.destroy();
    reader.destroy();
    server.close();
  });
  return { writer: writer as unknown as NodeJS.WriteStream, reader };
}
