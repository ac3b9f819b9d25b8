import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type CommandAgentOptions, createCommandAgent } from "../../../src/agents/process/command.ts";
import { runFolder } from "../../../src/agents/process/run-folder.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import type { Turn, TurnEnd, TurnFate } from "../../../src/ports/agent.ts";
import { bootId, isAlive, procStart } from "../../../src/system/process.ts";
import {
  failedAs,
  fixture,
  makeControl,
  makeProject,
  makeTurn,
  type Project,
  plainEnd,
} from "../../fixtures/agents/project.ts";
import type { RunnerOrder } from "../../fixtures/agents/runner.ts";
import { until } from "../../support/until.ts";

let project: Project;
beforeEach(async () => {
  project = await makeProject(`it's a "project"`);
});
afterEach(() => project.remove());

const agent = (command: string, options: Partial<CommandAgentOptions> = {}) =>
  createCommandAgent({ command, projectDir: project.dir, killGraceMs: 200, ...options });
const program = (name: string, ...args: string[]) =>
  `${name.endsWith(".sh") ? "sh" : "node"} '${fixture(name)}' ${args.join(" ")}`;
const inProject = (name: string) => join(project.dir, name);
const hasFile = (name: string) => until(() => existsSync(inProject(name)), `the agent made the file ${name}`);
const pidIn = async (name: string) =>
  until(
    () => Number(existsSync(inProject(name)) && readFileSync(inProject(name), "utf8")) || null,
    `${name} has a pid`,
  );
const isGone = (pid: number) => !isAlive({ pid, start: null });
const countRuns = () =>
  existsSync(inProject("runs")) ? readFileSync(inProject("runs"), "utf8").split("\n").length - 1 : 0;

async function endOf(fate: TurnFate): Promise<TurnEnd> {
  if (fate.kind === "running") return fate.end;
  if (fate.kind === "ended") return fate.end;
  throw new Error(`the turn is ${JSON.stringify(fate)}`);
}

describe("a turn is stopped with everything that it started", () => {
  test("a cancel ends an agent that ignores SIGTERM", async () => {
    const control = makeControl();
    const end = agent(program("ignores-term.sh")).run(makeTurn(), control);
    await hasFile("ready");
    expect(project.processes()).not.toEqual([]);
    control.abort();
    expect(await end).toEqual({ kind: "cancelled" });
    expect(project.processes()).toEqual([]);
  });

  test.skipIf(process.platform !== "linux")("also what left the process group", async () => {
    const control = makeControl();
    const end = agent(program("escapes.mjs")).run(makeTurn(), control);
    const escaped = await pidIn("escaped");
    control.abort();
    expect(await end).toEqual({ kind: "cancelled" });
    expect(isGone(escaped)).toBe(true);
  });

  test("cancelled before it began: nothing starts", async () => {
    const control = makeControl();
    control.abort();
    expect(await agent("touch ran").run(makeTurn(), control)).toEqual({ kind: "cancelled" });
    expect(existsSync(inProject("ran"))).toBe(false);
    expect(control.started).toEqual([]);
  });

  test("at its deadline, with the answer so far", async () => {
    let looks = 0;
    const now = () => (looks++ === 0 ? 1_234 : existsSync(inProject("ready")) ? 3_600_000 : 3_599_990);
    const end = await agent(`echo so far; ${program("hangs.sh")}`, { now }).run(
      makeTurn({ deadlineAt: 3_600_000 }),
      makeControl(),
    );
    expect(end).toEqual({ ...plainEnd("so far\n"), ...failedAs("timeout", "timed out after 1h") });
    expect(project.processes()).toEqual([]);
  });

  test("a turn does not start after its deadline, for example when its runner was frozen", async () => {
    const end = await agent("touch ran").run(makeTurn({ deadlineAt: Date.now() - 1 }), makeControl());
    expect(end).toMatchObject(failedAs("timeout", expect.stringContaining("deadline passed")));
    expect(existsSync(inProject("ran"))).toBe(false);
  });

  test("the first cause wins: a cancel during the kill at the deadline changes nothing", async () => {
    const control = makeControl();
    let looks = 0;
    const now = () => {
      if (looks++ === 0) return 0;
      if (!existsSync(inProject("ready"))) return 44_990;
      queueMicrotask(() => control.abort());
      return 45_000;
    };
    const end = await agent(program("ignores-term.sh"), { now }).run(
      makeTurn({ deadlineAt: 45_000 }),
      control,
    );
    expect(end).toMatchObject(failedAs("timeout", "timed out after 45s"));
  });

  test.each(["stdout", "stderr"])("when it floods %s", async (stream) => {
    const options = { maxOutputBytes: 2 * 1024 * 1024, sizeCheckMs: 20 };
    const end = await agent(program("floods.mjs", stream), options).run(makeTurn(), makeControl());
    const file = stream === "stdout" ? "answer.txt" : "stderr.txt";
    expect(end).toMatchObject(failedAs("fault", `stopped because it printed more than 2 MiB to ${file}`));
    expect(project.processes()).toEqual([]);
    expect(statSync(join(runFolder(project.dir, makeTurn()), file)).size).toBe(options.maxOutputBytes);
  });

  test("a flood that ignores SIGTERM gets no time for more", async () => {
    const command = `trap '' TERM; while :; do head -c 1000000 /dev/zero; done`;
    const options = { maxOutputBytes: 1_000_000, sizeCheckMs: 20, killGraceMs: 60_000 };
    const end = await agent(command, options).run(makeTurn(), makeControl());
    expect(end).toMatchObject(failedAs("fault", expect.stringContaining("printed more than")));
    expect(statSync(join(runFolder(project.dir, makeTurn()), "answer.txt")).size).toBe(1_000_000);
  });

  test("A5 a turn that ended leaves no process of its group, and does not wait for it", async () => {
    const end = agent(program("leaves-grandchild.sh")).run(makeTurn(), makeControl());
    const pid = await pidIn("grandchild");
    expect(await end).toEqual(plainEnd("done\n"));
    expect(isGone(pid)).toBe(true);
  });

  test("the agent dies by a signal from elsewhere", async () => {
    const end = agent(`echo $$ >pid; exec sleep 1000`).run(makeTurn(), makeControl());
    process.kill(await pidIn("pid"), "SIGKILL");
    expect(await end).toMatchObject(failedAs("fault", "killed by SIGKILL"));
  });

  test("the wrapper dies by a signal from elsewhere: so does the agent", async () => {
    const control = makeControl();
    const end = agent(program("hangs.sh")).run(makeTurn(), control);
    await hasFile("ready");
    process.kill(control.started[0]?.pid ?? 0, "SIGKILL");
    expect(await end).toMatchObject(failedAs("fault", "killed by SIGKILL"));
    expect(project.processes()).toEqual([]);
  });

  test("a caller whose onStarted fails gets its error back, and no process stays", async () => {
    const control = {
      ...makeControl(),
      onStarted: () => {
        throw new Error("journal is full");
      },
    };
    await expect(agent("sleep 1000").run(makeTurn(), control)).rejects.toThrow("journal is full");
    expect(project.processes()).toEqual([]);
  });
});

test("the end of a long answer is kept, in whole characters", async () => {
  const end = await agent(`node -e 'process.stdout.write("ü".repeat(1_000_000) + "end")'`).run(
    makeTurn(),
    makeControl(),
  );
  if (end.kind !== "ok") throw new Error(JSON.stringify(end));
  expect(Buffer.byteLength(end.answer)).toBeLessThanOrEqual(1024 * 1024);
  expect(end.answer).toMatch(/^ü+end$/);
});

describe("whoever takes the ticket first decides (H1)", () => {
  test("recovery first: the agent never runs, however late its wrapper comes", async () => {
    const turn = makeTurn();
    expect(await agent("touch ran").reconcile(turn, makeControl())).toEqual({ kind: "never" });
    expect(await agent("touch ran").run(turn, makeControl())).toMatchObject(
      failedAs("fault", "the turn was cancelled before it started"),
    );
    expect(existsSync(inProject("ran"))).toBe(false);
    expect(await agent("touch ran").reconcile(turn, makeControl())).toEqual({ kind: "never" });
  });

  test("another token is another attempt, and keeps its own ticket", async () => {
    expect(await agent("echo run >>runs").reconcile(makeTurn({ token: 7 }), makeControl())).toEqual({
      kind: "never",
    });
    expect(await agent("echo run >>runs").run(makeTurn({ token: 8 }), makeControl())).toMatchObject({
      kind: "ok",
    });
    expect(await agent("echo run >>runs").run(makeTurn({ token: 8 }), makeControl())).toMatchObject(
      failedAs("fault", "the turn was already started with the same token"),
    );
    expect(countRuns()).toBe(1);
  });

  test("50 races of wrapper and recovery: each ran once or never", async () => {
    // the wrapper of race n starts n % 10 * 4 ms late, the recovery some 10 ms late
    for (let late = 0; late < 10; late++) {
      const script = `#!/bin/sh\nsleep ${late * 0.004}\nexec /bin/sh "$@"\n`;
      writeFileSync(inProject(`sh-${late}`), script, { mode: 0o755 });
    }
    const race = async (index: number): Promise<string> => {
      const turn = makeTurn({ id: `race-${index}` });
      const shell = inProject(`sh-${index % 10}`);
      const runner = agent(`echo run >>"runs-${index}"; echo fine`, { keepRuns: 100, shell });
      const end = runner.run(turn, makeControl());
      const late = performance.now() + 10;
      while (performance.now() < late) await new Promise(setImmediate);
      const fate = await runner.reconcile(turn, makeControl());
      const runs = existsSync(inProject(`runs-${index}`));
      const ended = await end;
      if (fate.kind === "never") {
        expect(runs || existsSync(inProject(`runs-${index}`))).toBe(false);
        expect(ended.kind).toBe("failed");
      } else {
        expect(await endOf(fate)).toEqual(plainEnd("fine\n"));
        expect(ended).toEqual(plainEnd("fine\n"));
        expect(readFileSync(inProject(`runs-${index}`), "utf8")).toBe("run\n");
      }
      return fate.kind === "never" ? "never" : "ran";
    };
    const races: Promise<string>[] = [];
    for (let index = 0; index < 50; index++) {
      races.push(race(index));
      await new Promise(setImmediate);
    }
    const outcomes = await Promise.all(races);
    expect(outcomes).toHaveLength(50);
  });
});

describe("what a recovery finds (H1)", () => {
  const turn = makeTurn();
  const folder = () => runFolder(project.dir, turn);
  const put = (name: string, text: string) => {
    mkdirSync(folder(), { recursive: true });
    writeFileSync(join(folder(), name), text);
  };
  const ticketOf = (pid: number, start = readFileSync(`/proc/${pid}/stat`, "latin1").trim()) => {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `pid ${pid}\nboot ${boot}\nstat ${start}\nend\n`;
  };

  test.each(["", "pid 12\nboot x\nstat ", "\0\0\0\0"])(
    "a ticket torn to %j is lost, never “never”",
    async (text) => {
      put("ticket.7", text);
      const fate = await agent("touch ran").reconcile(turn, makeControl());
      expect(fate).toEqual({ kind: "lost", reason: "the ticket of the turn is incomplete" });
    },
  );

  test("an incomplete ticket is waited for", async () => {
    put("ticket.7", "");
    const fate = agent("true").reconcile(turn, makeControl());
    const dead = spawn("true");
    await once(dead, "exit");
    put("answer.txt", "fine");
    put("exit.7", "0\n");
    put("ticket.7", `pid ${dead.pid}\nboot x\nstat \nend\n`);
    expect(await fate).toEqual({ kind: "ended", end: plainEnd("fine") });
  });

  test("an intent of another boot without a ticket is lost: the power cut may have taken the ticket", async () => {
    put("../intent.7", "another-boot\n");
    const lost = { kind: "lost", reason: "the machine stopped while the turn was being started" };
    expect(await agent("touch ran").reconcile(turn, makeControl())).toEqual(lost);
    expect(await agent("touch ran").reconcile(turn, makeControl())).toEqual(lost);
    expect(await agent("touch ran").run(turn, makeControl())).toMatchObject({ kind: "failed" });
    expect(existsSync(inProject("ran"))).toBe(false);
  });

  test("a token that was used in two boots is lost without a ticket, too", async () => {
    put("../intent.7", "another-boot\n");
    const other = makeTurn({ id: "aabbccdd-2" });
    expect(await agent("true").run(other, makeControl())).toEqual(plainEnd(""));
    expect(readFileSync(join(folder(), "../intent.7"), "utf8")).toBe(`another-boot\n${bootId()}\n`);
    expect(await agent("touch ran").reconcile(turn, makeControl())).toMatchObject({ kind: "lost" });
  });

  test.skipIf(process.platform !== "linux")(
    "a pid that belongs to somebody else by now is lost, and left alone",
    async () => {
      const stranger = spawn("sleep", ["1000"], { detached: true });
      onTestFinished(() => void stranger.kill("SIGKILL"));
      const pid = stranger.pid ?? 0;
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1").trim();
      const fields = stat.split(" ");
      fields[21] = "1";
      put("ticket.7", ticketOf(pid, fields.join(" ")));
      const fate = await agent("true").reconcile(turn, makeControl());
      expect(fate).toEqual({ kind: "lost", reason: "the agent's process ended without an exit code" });
      expect(isAlive({ pid, start: procStart(pid) })).toBe(true);
      stranger.kill("SIGKILL");
      await once(stranger, "exit");
    },
  );

  test("without /proc a pid counts only if its process is older than the ticket", async () => {
    const child = spawn("sleep", ["1000"], { detached: true });
    onTestFinished(() => void child.kill("SIGKILL"));
    put("ticket.7", `pid ${child.pid}\nboot \nstat \nend\n`);
    const control = makeControl();
    const fate = await agent("true").reconcile(turn, control);
    expect(fate.kind).toBe("running");
    utimesSync(join(folder(), "ticket.7"), 1_000_000, 1_000_000);
    expect(await agent("true").reconcile(turn, makeControl())).toMatchObject({ kind: "lost" });
    expect(isGone(child.pid ?? 0)).toBe(false);
    control.abort();
    expect(await endOf(fate)).toEqual({ kind: "cancelled" });
  });

  test.each(["", "1"])("an exit code torn to %j is none", async (text) => {
    await agent("echo fine").run(turn, makeControl());
    put("exit.7", text);
    expect(await agent("true").reconcile(turn, makeControl())).toMatchObject({ kind: "lost" });
  });

  test("a turn that ended has the end that its runner would have seen", async () => {
    const control = makeControl();
    const end = await agent(program("exits-3.sh")).run(turn, control);
    expect(await agent("true").reconcile(turn, makeControl())).toEqual({ kind: "ended", end });
  });

  test("a project that cannot be written to is lost, not “never”", async () => {
    writeFileSync(inProject(".loop"), "a file");
    expect(await agent("true").reconcile(turn, makeControl())).toMatchObject({
      kind: "lost",
      reason: expect.stringContaining("the run folder could not be read"),
    });
  });
});

describe("the runner is killed (H1, A11)", () => {
  let bundle: string;
  const children = new Set<ChildProcess>();

  beforeAll(async () => {
    bundle = join(mkdtempSync(join(tmpdir(), "loopwright-")), "runner.mjs");
    await build({
      entryPoints: [fixture("runner.ts")],
      outfile: bundle,
      bundle: true,
      platform: "node",
      format: "esm",
    });
  });
  afterAll(() => rmSync(join(bundle, ".."), { recursive: true }));
  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
    children.clear();
  });

  function start(mode: RunnerOrder["mode"], turn: Turn, command = program("hangs.sh")) {
    const order: RunnerOrder = { mode, command, projectDir: project.dir, turn };
    const child = spawn(process.execPath, [bundle, JSON.stringify(order)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.add(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return {
      child,
      next: async () => JSON.parse((await lines.next()).value ?? "null") as Record<string, unknown>,
      async kill() {
        if (child.exitCode !== null) return;
        const exit = once(child, "exit");
        child.kill("SIGKILL");
        await exit;
      },
    };
  }

  test("in mid-turn: the next one follows the turn to its end, and the agent ran once", async () => {
    const turn = makeTurn();
    const first = start("run", turn);
    const { started } = await first.next();
    await hasFile("ready");
    await first.kill();
    const second = start("reconcile", turn);
    expect(await second.next()).toEqual({ fate: "running" });
    expect(isAlive(started as { pid: number; start: string })).toBe(true);
    writeFileSync(inProject("go"), "");
    expect(await second.next()).toEqual({ end: plainEnd("the answer\n") });
    expect(countRuns()).toBe(1);
  });

  test("in mid-turn, and the turn ends while nobody looks: its result is there", async () => {
    const turn = makeTurn();
    const first = start("run", turn);
    await hasFile("ready");
    await first.kill();
    writeFileSync(inProject("go"), "");
    await until(
      () => existsSync(join(runFolder(project.dir, turn), "exit.7")),
      "the wrapper noted the exit code",
    );
    const second = start("reconcile", turn);
    expect(await second.next()).toEqual({ fate: "ended" });
    expect(await second.next()).toEqual({ end: plainEnd("the answer\n") });
    expect(countRuns()).toBe(1);
  });

  test("the next one can stop the turn, and its deadline holds", async () => {
    const turn = makeTurn();
    const first = start("run", turn, program("ignores-term.sh"));
    await hasFile("ready");
    await first.kill();
    const control = makeControl();
    const fate = await agent("true").reconcile(turn, control);
    expect(fate).toMatchObject({ kind: "running", process: { pid: expect.any(Number) } });
    control.abort();
    expect(await endOf(fate)).toEqual({ kind: "cancelled" });
    expect(project.processes()).toEqual([]);
  });

  test("the deadline of a turn that was taken over holds", async () => {
    const turn = makeTurn();
    const first = start("run", turn, program("ignores-term.sh"));
    await hasFile("ready");
    await first.kill();
    const late = { now: () => turn.deadlineAt };
    const fate = await agent("true", late).reconcile(turn, makeControl());
    expect(await endOf(fate)).toMatchObject(failedAs("timeout", "timed out after 1h"));
    expect(project.processes()).toEqual([]);
  });

  test.skipIf(process.platform !== "linux")(
    "with its wrapper: the turn is lost and the orphaned agent is ended",
    async () => {
      const turn = makeTurn();
      const first = start("run", turn);
      const { started } = (await first.next()) as { started: { pid: number } };
      await hasFile("ready");
      await first.kill();
      process.kill(started.pid, "SIGKILL");
      await until(() => isGone(started.pid), "the wrapper is gone");
      expect(project.processes()).not.toEqual([]);
      expect(await agent("true").reconcile(turn, makeControl())).toEqual({
        kind: "lost",
        reason: "the agent's process ended without an exit code",
      });
      expect(project.processes()).toEqual([]);
    },
  );

  test("with its wrapper while the next one follows it: a failure, not silence", async () => {
    const turn = makeTurn();
    const first = start("run", turn);
    const { started } = (await first.next()) as { started: { pid: number } };
    await hasFile("ready");
    await first.kill();
    const fate = await agent("true").reconcile(turn, makeControl());
    process.kill(started.pid, "SIGKILL");
    expect(await endOf(fate)).toMatchObject(
      failedAs("fault", "the agent's process ended without an exit code"),
    );
    expect(project.processes()).toEqual([]);
  });

  test("at any moment of the start: the agent ran once or never will", async () => {
    const seen: string[] = [];
    for (const moment of ["prompt.txt", "intent.7", "ticket.7", "answer.txt", "exit.7"]) {
      const turn = makeTurn({ loopId: `at-${moment}` as LoopId });
      const first = start("run", turn, `echo run >>"runs-${moment}"; echo fine`);
      const file = join(runFolder(project.dir, turn), moment === "intent.7" ? "../intent.7" : moment);
      await until(() => existsSync(file), `${moment} is there`);
      await first.kill();
      const fate = await agent("true").reconcile(turn, makeControl());
      if (fate.kind !== "never") expect(await endOf(fate)).toMatchObject({ kind: "ok", answer: "fine\n" });
      await until(() => project.processes().length === 0, "no wrapper is left");
      expect(existsSync(inProject(`runs-${moment}`))).toBe(fate.kind !== "never");
      if (fate.kind !== "never") expect(readFileSync(inProject(`runs-${moment}`), "utf8")).toBe("run\n");
      seen.push(fate.kind);
    }
    expect(seen.at(-1)).toBe("ended");
  });
});

describe("old run folders", () => {
  test("the newest are kept, and one whose agent still runs", async () => {
    const control = makeControl();
    const long = agent(program("hangs.sh")).run(makeTurn({ id: "long" }), control);
    await hasFile("ready");
    const quick = agent("echo fine", { keepRuns: 3 });
    for (let index = 1; index <= 6; index++) await quick.run(makeTurn({ id: `f${index}` }), makeControl());
    const names = () => readdirSync(join(project.dir, ".loop/runs/aabbccdd")).sort();
    const runs = () => names().filter((name) => !name.startsWith("intent."));
    expect(runs()).toEqual(["f4", "f5", "f6", "long"]);
    control.abort();
    expect(await long).toEqual({ kind: "cancelled" });
    await quick.run(makeTurn({ id: "f7" }), makeControl());
    expect(runs()).toHaveLength(3);
    for (const token of [8, 9, 10]) await quick.run(makeTurn({ id: `f${token}`, token }), makeControl());
    expect(names()).toEqual(["f10", "f8", "f9", "intent.10", "intent.8", "intent.9"]);
  });
});
