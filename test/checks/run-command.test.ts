import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createCommandChecker } from "../../src/checks/run-command.ts";
import { isAlive } from "../../src/system/process.ts";
import { fixture, makeProject, type Project } from "../fixtures/agents/project.ts";
import { until } from "../support/until.ts";

let project: Project;
beforeEach(async () => {
  project = await makeProject(`it's a "check"`);
});
afterEach(() => project.remove());

const never = () => new AbortController().signal;
const check = (command: string, timeoutMs = 20_000, signal = never()) =>
  createCommandChecker(project.dir, { killGraceMs: 200 }).run(command, timeoutMs, signal);
const pidIn = (name: string) =>
  until(() => {
    const path = join(project.dir, name);
    return existsSync(path) ? Number(readFileSync(path, "utf8")) || null : null;
  }, `${name} has a pid`);

test.each([
  ["true", 0, ""],
  ["echo good; exit 3", 3, "good\n"],
  ["echo a; echo b >&2; echo c; echo d >&2", 0, "a\nb\nc\nd\n"],
  [`printf '%s' "$PWD" | grep -c check`, 0, "1\n"],
])("A18 %s is exit %i with what it printed, in order", async (command, exitCode, tail) => {
  expect(await check(command)).toEqual({ exitCode, timedOut: false, tail });
});

test("A18 runs in the project, with nothing on stdin", async () => {
  expect(await check("cat; node -p 'process.cwd()'")).toEqual({
    exitCode: 0,
    timedOut: false,
    tail: `${project.dir}\n`,
  });
});

test("a command that is not there is exit 127, one that a signal ended has no exit code", async () => {
  expect(await check("no-such-command-anywhere")).toMatchObject({ exitCode: 127, timedOut: false });
  expect(await check("kill -9 $$")).toMatchObject({ exitCode: null, timedOut: false });
});

test("of what it prints the last 8 KiB are kept, in whole characters", async () => {
  const { tail } = await check(`node -e 'process.stdout.write("ü".repeat(400_001) + "the end!!")'`);
  expect(Buffer.byteLength(tail)).toBeGreaterThan(8 * 1024 - 4);
  expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(8 * 1024);
  expect(tail).toMatch(/^ü+the end!!$/);
});

test("at its time limit it is stopped, although it ignores SIGTERM", async () => {
  expect(await check(`echo so far; sh '${fixture("ignores-term.sh")}'`, 300)).toEqual({
    exitCode: null,
    timedOut: true,
    tail: "so far\n",
  });
  expect(project.processes()).toEqual([]);
});

test("a flood is stopped at the time limit and kept small", async () => {
  const evidence = await check("yes flood", 300);
  expect(evidence).toMatchObject({ exitCode: null, timedOut: true });
  expect(evidence.tail).toHaveLength(8 * 1024);
});

test("a signal stops it", async () => {
  const controller = new AbortController();
  const evidence = check(`sh '${fixture("hangs.sh")}'`, 20_000, controller.signal);
  await until(() => existsSync(join(project.dir, "ready")), "the check runs");
  controller.abort();
  expect(await evidence).toEqual({ exitCode: null, timedOut: false, tail: "" });
  expect(project.processes()).toEqual([]);
  expect(await check("touch ran", 1_000, controller.signal)).toEqual({
    exitCode: null,
    timedOut: false,
    tail: "",
  });
  expect(existsSync(join(project.dir, "ran"))).toBe(false);
});

test("what it left in the background is ended and not waited for", async () => {
  const evidence = check(`sh '${fixture("leaves-grandchild.sh")}'`);
  const pid = await pidIn("grandchild");
  expect(await evidence).toEqual({ exitCode: 0, timedOut: false, tail: "done\n" });
  expect(isAlive({ pid, start: null })).toBe(false);
});

test.skipIf(process.platform !== "linux")("what left its process group is ended too", async () => {
  const evidence = check(`node '${fixture("escapes.mjs")}'`, 1_000);
  const pid = await pidIn("escaped");
  expect(await evidence).toMatchObject({ timedOut: true });
  expect(isAlive({ pid, start: null })).toBe(false);
});

test.skipIf(process.platform !== "linux")(
  "what left its process group is ended after a quick end, too",
  async () => {
    const evidence = await check(
      "setsid sh -c 'echo $$ >escaped; exec sleep 1000' & until [ -s escaped ]; do :; done",
    );
    expect(evidence).toEqual({ exitCode: 0, timedOut: false, tail: "" });
    expect(isAlive({ pid: await pidIn("escaped"), start: null })).toBe(false);
  },
);

test.skipIf(process.platform !== "linux")("J3 what hid itself is ended too, also after a crash", async () => {
  expect(await check(`sh '${fixture("hides.sh")}' hidden`)).toMatchObject({ exitCode: 0 });
  expect(isAlive({ pid: await pidIn("hidden"), start: null })).toBe(false);
  const checker = createCommandChecker(project.dir, { killGraceMs: 200 });
  const stop = new AbortController();
  const command = `sh '${fixture("hides.sh")}' left; sleep 1000`;
  const running = checker.run(command, 20_000, stop.signal, "job-1");
  const left = await pidIn("left");
  await createCommandChecker(project.dir).sweep("job-2");
  expect(isAlive({ pid: left, start: null })).toBe(true);
  await createCommandChecker(project.dir).sweep("job-1");
  expect(isAlive({ pid: left, start: null })).toBe(false);
  stop.abort();
  await running;
});

test("a line that is no shell is evidence, in words", async () => {
  const { exitCode, tail } = await check("if then (");
  expect(exitCode).not.toBe(0);
  expect(tail).toMatch(/syntax/i);
});

test("B7 nothing in its environment tells that it is a check", async () => {
  const outer = { LOOP_NONCE: "secret", LOOP_ID: "00000000", LOOP_PROJECT: "/nowhere", LOOP_HEADLESS: "1" };
  for (const [name, value] of Object.entries(outer)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const checker = createCommandChecker(project.dir, { killGraceMs: 200 });
  const run = async (mark: string) => {
    const { tail } = await checker.run("env | cut -c1-41", 20_000, never(), mark);
    return tail.split("\n").filter((line) => {
      const [name = ""] = line.split("=", 1);
      return line.includes("=") && name !== "_" && (process.env[name] === undefined || /loop_/i.test(name));
    });
  };
  const [first, second, other] = [await run("job-1"), await run("job-1"), await run("job-2")];
  // the two marks: letters that mean nothing
  for (const added of [first, second, other]) expect(added).toHaveLength(2);
  for (const line of [...first, ...second, ...other]) expect(line).toMatch(/^[A-Z]{8}=[0-9a-f]{32}$/);
  // one is of the job, so that it is found again, one of the very run
  expect(first.filter((line) => second.includes(line))).toHaveLength(1);
  expect(first.filter((line) => other.includes(line))).toEqual([]);
});

test.skipIf(process.platform !== "linux")("H1 what a dead runner left is found by its mark", async () => {
  const checker = createCommandChecker(project.dir, { killGraceMs: 200 });
  const controller = new AbortController();
  const start = async (file: string, mark: string) => {
    const command = `trap '' TERM; echo $$ >${file}; while :; do sleep 1; done`;
    const end = checker.run(command, 20_000, controller.signal, mark);
    return { end, isAlive: isAlive.bind(null, { pid: await pidIn(file), start: null }) };
  };
  const [first, second, third] = [await start("a", "job-1"), await start("b", "job-2"), await start("c", "")];
  await createCommandChecker(join(project.dir, ".."), { killGraceMs: 200 }).sweep("job-1");
  await checker.sweep("");
  expect([first, second, third].map((check) => check.isAlive())).toEqual([true, true, true]);
  await checker.sweep("job-1");
  expect([first, second, third].map((check) => check.isAlive())).toEqual([false, true, true]);
  expect(await first.end).toMatchObject({ exitCode: null, timedOut: false });
  controller.abort();
  await Promise.all([second.end, third.end]);
});

test("a time limit beyond what a timer can hold is no limit of 0", async () => {
  expect(await check("echo fine", 2 ** 40)).toMatchObject({ exitCode: 0, timedOut: false });
});

test("H1 broken surroundings are evidence, never a throw", async () => {
  const broken = [
    createCommandChecker(join(project.dir, "gone")).run("true", 1_000, never()),
    createCommandChecker(project.dir, { shell: "/no/such/sh" }).run("true", 1_000, never()),
    check(`: ${"x".repeat(3_000_000)}`),
    check("nul \0 byte"),
  ];
  for (const evidence of await Promise.all(broken)) {
    expect(evidence).toMatchObject({ exitCode: null, timedOut: false });
    expect(evidence.tail).toMatch(/^the check could not be started: ./);
  }
});

test("J7 no part of a secret is in the tail: not in two writes, and not across its beginning", async () => {
  const secret = "q8Zr41xW-of-the-environment";
  vi.stubEnv("DEPLOY_TOKEN", secret);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await check('printf q8Zr41; sleep 0.05; echo "xW-of-the-environment"')).tail).toBe(
    "[masked: DEPLOY_TOKEN]\n",
  );
  for (const rest of [8 * 1024 - 1, 8 * 1024 - 10, 8 * 1024 - secret.length, 8 * 1024]) {
    const script = `process.stdout.write("x".repeat(100_000) + process.env.DEPLOY_TOKEN + "y".repeat(${rest}))`;
    const { tail } = await check(`node -e '${script}'`);
    expect(tail).toMatch(/^(?:\[masked: DEPLOY_TOKEN\])?y+$/);
  }
});
