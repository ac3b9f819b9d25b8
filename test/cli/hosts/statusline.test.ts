/** E1 A11 D9: the command behind Claude Code's `statusLine`, as a real process of its own bundle. */
import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Goal } from "../../../src/core/goal/goal.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import { type LeaseProgress, progressOf } from "../../../src/core/views/progress.ts";
import { ProgressFile } from "../../../src/store/files/progress-file.ts";
import { cleanEnv, makeProject } from "../../support/cli.ts";
import { aGoal, aJob, aStep } from "../../support/goals/goals.ts";
import { every, MINUTE, task } from "../../support/tasks.ts";
import { hasTmux, openTerminal } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

const SESSION = "0b1e8f0a-1111-4222-8333-944455566677";
const folder = mkdtempSync(join(tmpdir(), "loop-statusline-"));
const PROGRAM = join(folder, "statusline.cjs");
let metafile: Metafile;

beforeAll(async () => {
  ({ metafile } = await build({
    absWorkingDir: fileURLToPath(new URL("../../..", import.meta.url)),
    entryPoints: ["src/cli/hosts/statusline.ts"],
    outfile: PROGRAM,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20.19",
    minifySyntax: true,
    metafile: true,
    logLevel: "warning",
  }));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const alive = (overrides: Partial<LeaseProgress> = {}): LeaseProgress => ({
  owner: `session:${SESSION}`,
  pid: process.pid,
  procStart: null,
  host: hostname(),
  token: 1,
  acquiredAt: Date.now(),
  ...overrides,
});

const aWorkingGoal = aGoal({
  id: "3fa2b1c0" as LoopId,
  iteration: 2,
  job: aJob(),
  steps: [aStep("fix the parser")],
  spent: { costUsd: 1.2, tokens: 0, timeMs: 0, unpriced: 0 },
});

interface Setting {
  readonly lease?: LeaseProgress | null;
  readonly goals?: readonly Goal[];
}

/** A project with two tasks, as some process of it published them. */
function setUp({ lease = alive(), goals = [] }: Setting = {}): { project: string; dir: string } {
  const project = makeProject();
  const dir = join(project, ".loop");
  mkdirSync(dir);
  const tasks = ["00000001", "00000002"].map((id) => task(every(5 * MINUTE), { id: id as LoopId }));
  new ProgressFile(dir, (message) => expect.unreachable(message)).publish(
    progressOf([...tasks, ...goals], lease, Date.now()),
  );
  return { project, dir };
}

const payloadOf = (project: string, more: object = {}) =>
  JSON.stringify({ session_id: SESSION, cwd: "/", workspace: { project_dir: project }, ...more });

interface Run {
  readonly cwd?: string;
  readonly columns?: string;
  readonly flags?: readonly string[];
}

/** What it printed; it must end well and say nothing else. */
function lineOf(input: string, { cwd = folder, columns = "100", flags = [] }: Run = {}): string {
  const env = { ...cleanEnv(join(folder, "project")), COLUMNS: columns };
  const run = spawnSync(process.execPath, [...flags, PROGRAM], {
    cwd,
    env,
    input,
    encoding: "utf8",
    timeout: 15_000,
  });
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: "" });
  return run.stdout;
}

describe("the line of a project", () => {
  test.each<[string, Setting, string]>([
    ["this conversation holds the lease", {}, "loop:2\n"],
    ["another one does", { lease: alive({ owner: "session:other" }) }, "loop:2 (passive)\n"],
    ["nobody does", { lease: null }, "loop:2 (nobody runs it)\n"],
    [
      "its holder's pid is somebody else's now",
      { lease: alive({ procStart: "x" }) },
      "loop:2 (nobody runs it)\n",
    ],
    [
      "its holder on another machine is silent",
      { lease: alive({ host: "elsewhere", acquiredAt: 1 }) },
      "loop:2 (nobody runs it)\n",
    ],
    [
      "a goal works",
      { goals: [aWorkingGoal] },
      "loop:2 · 3fa2 working 3/10 · 0/2 ✓ · $1.20/$25 · next: fix the parser\n",
    ],
  ])("A11 E1 %s", (_name, setting, expected) => {
    const { project } = setUp(setting);
    expect(lineOf(payloadOf(project))).toBe(expected);
  });

  test("A11 a holder that was killed runs nothing any more", () => {
    const { pid } = spawnSync(process.execPath, ["-e", "process.kill(process.pid, 'SIGKILL')"]);
    const { project } = setUp({ lease: alive({ pid }) });
    expect(lineOf(payloadOf(project))).toBe("loop:2 (nobody runs it)\n");
  });

  test.each([
    ["40", "loop:2 · 3fa2 working 3/10 · 0/2 ✓ …\n"],
    ["", "loop:2 · 3fa2 working 3/10 · 0/2 ✓ · $1.20/$25 · next: fix the parser\n"],
    ["-7", "loop:2 · 3fa2 working 3/10 · 0/2 ✓ · $1.20/$25 · next: fix the parser\n"],
  ])("E1 fits into COLUMNS=%j", (columns, expected) => {
    const { project } = setUp({ goals: [aWorkingGoal] });
    expect(lineOf(payloadOf(project), { columns })).toBe(expected);
  });

  test("E1 changes nothing in the project", () => {
    const { project, dir } = setUp();
    lineOf(payloadOf(project, { cost: { total_cost_usd: 1 } }));
    expect(readdirSync(dir)).toEqual(["progress.json"]);
    expect(readdirSync(project)).toEqual([".loop"]);
  });
});

describe("what the client says", () => {
  test.each([
    "",
    "{",
    "null",
    "[]",
    "7",
    '"x"',
    "\0\xff",
    '{"session_id":7,"workspace":[],"cost":"1"}',
    '{"workspace":{"project_dir":7}}',
    '{"workspace":{"project_dir":"."},"cwd":".."}',
    `${" ".repeat(2_000_000)}{}`,
  ])("E1 H5 may be missing or broken: then it is the project that it was started in (%#)", (input) => {
    const { project } = setUp();
    expect(lineOf(input, { cwd: project })).toBe("loop:2\n");
  });

  test("E1 the project is where the conversation began, wherever it is by now", () => {
    const [{ project }, other] = [setUp(), setUp({ lease: null })];
    const input = payloadOf(project, { cwd: other.project });
    expect(lineOf(input, { cwd: other.project })).toBe("loop:2\n");
    const older = JSON.stringify({ session_id: SESSION, cwd: project });
    expect(lineOf(older, { cwd: other.project })).toBe("loop:2\n");
  });

  test.each(["/nowhere/at all", "/dev/null", "/a\0b"])(
    "E1 a project that is none, %j, has no line",
    (project) => {
      expect(lineOf(payloadOf(project))).toBe("");
    },
  );

  test("E1 H1 may come late, through a pipe that does not wait", async () => {
    const { project } = setUp();
    const pipe = join(folder, "late");
    spawnSync("mkfifo", [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    // more than the pipe takes: the rest can only be written when the first part was read
    const input = Buffer.from(`${" ".repeat(100_000)}${payloadOf(project)}`);
    let written = writeSync(writer, input);
    expect(written).toBeLessThan(input.length);
    // a shell hands on the pipe as it is; Node would make it wait
    const child = spawn("sh", ["-c", 'exec "$0" "$1" <&3', process.execPath, PROGRAM], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit", reader],
    });
    closeSync(reader);
    let shown = "";
    child.stdout?.on("data", (text) => {
      shown += text;
    });
    await until(() => {
      written += tryWrite(writer, input.subarray(written));
      return written === input.length;
    }, "all was read");
    closeSync(writer);
    await until(() => child.exitCode !== null && shown !== "", "it has ended");
    expect({ code: child.exitCode, shown }).toEqual({ code: 0, shown: "loop:2\n" });
  });

  test.skipIf(!hasTmux)("E1 may be a person: the answer comes at once", async () => {
    const { project } = setUp({ lease: null });
    const terminal = openTerminal(project);
    terminal.run(`node ${PROGRAM}; echo code=$?`);
    await terminal.sees(/loop:2 \(nobody runs it\)\s+code=0/);
  });
});

describe("what is not as it should be", () => {
  test.each(["", "{", "null", '{"version":2}', "x".repeat(1_000_000)])(
    "D9 E1 an odd file has no line (%#)",
    (text) => {
      const { project, dir } = setUp();
      writeFileSync(join(dir, "progress.json"), text);
      expect(lineOf(payloadOf(project))).toBe("");
    },
  );

  test("D9 H1 a pipe in the place of the file is not waited on", () => {
    const { project, dir } = setUp();
    rmSync(join(dir, "progress.json"));
    spawnSync("mkfifo", [join(dir, "progress.json")]);
    expect(readdirSync(dir)).toEqual(["progress.json"]);
    expect(lineOf(payloadOf(project))).toBe("");
  });

  test("E1 no .loop, or one further up, has no line", () => {
    const { project } = setUp();
    mkdirSync(join(project, "sub", ".git"), { recursive: true });
    expect(lineOf(payloadOf(join(project, "sub")), { cwd: project })).toBe("");
  });

  test("H4 a link that leads out of the project is not followed, one inside it is", () => {
    const { project, dir } = setUp();
    mkdirSync(join(dir, "sessions"));
    renameSync(dir, join(project, "kept"));
    symlinkSync("kept", dir);
    expect(lineOf(payloadOf(project))).toBe("loop:2\n");
    const other = makeProject();
    symlinkSync(join(project, "kept"), join(other, ".loop"));
    expect(lineOf(payloadOf(other, { cost: { total_cost_usd: 1 } }))).toBe("");
    expect(readdirSync(join(project, "kept", "sessions"))).toEqual([]);
  });

  test("E1 nobody reads it: no complaint", async () => {
    const { project } = setUp();
    const child = spawn(process.execPath, [PROGRAM], { cwd: project, stdio: ["pipe", "pipe", "pipe"] });
    let complaint = "";
    child.stderr.on("data", (text) => {
      complaint += text;
    });
    child.stdout.destroy();
    await until(() => child.stdout.closed, "the reader is gone");
    child.stdin.end(payloadOf(project));
    await until(() => child.exitCode !== null, "it has ended");
    expect({ code: child.exitCode, complaint }).toEqual({ code: 0, complaint: "" });
  });
});

describe("what the conversation cost", () => {
  const cost = (usd: unknown) => ({ cost: { total_cost_usd: usd, total_duration_ms: 5 } });

  test("E1 D7 is handed on where conversations are kept", () => {
    const { project, dir } = setUp();
    mkdirSync(join(dir, "sessions"));
    lineOf(payloadOf(project, cost(0.4215)));
    expect(readFileSync(join(dir, "sessions", `${SESSION}.cost`), "utf8")).toBe("0.4215\n");
    expect(readdirSync(join(dir, "sessions"))).toHaveLength(1);
  });

  test("E1 D7 also before anything was published", () => {
    const project = makeProject();
    mkdirSync(join(project, ".loop", "sessions"), { recursive: true });
    expect(lineOf(payloadOf(project, cost(2)))).toBe("");
    expect(existsSync(join(project, ".loop", "sessions", `${SESSION}.cost`))).toBe(true);
  });

  test.each([
    ["no number", SESSION, "1"],
    ["less than nothing", SESSION, -1],
    ["no path-safe name", "../../evil", 1],
    ["no name", "", 1],
  ])("H4 H5 %s: nothing is written, the line is shown", (_name, session_id, usd) => {
    const { project, dir } = setUp({ lease: null });
    mkdirSync(join(dir, "sessions"));
    expect(lineOf(payloadOf(project, { session_id, ...cost(usd) }))).toBe("loop:2 (nobody runs it)\n");
    expect(readdirSync(join(dir, "sessions"))).toEqual([]);
    expect(readdirSync(dirname(project)).sort()).toEqual(["bin", "home", "my project"]);
  });

  test("E1 a cost that cannot be kept is no reason to show nothing", () => {
    const { project, dir } = setUp();
    mkdirSync(join(dir, "sessions", `${SESSION}.cost`, "in the way"), { recursive: true });
    expect(lineOf(payloadOf(project, cost(1)))).toBe("loop:2\n");
    expect(readdirSync(join(dir, "sessions"))).toEqual([`${SESSION}.cost`]);
  });
});

describe("how it starts", () => {
  test("E1 is a small bundle of our own code that loads next to nothing of Node's", () => {
    const inputs = Object.keys(metafile.inputs);
    expect(inputs.filter((path) => !path.startsWith("src/"))).toEqual([]);
    const loaded = new Set(
      [...readFileSync(PROGRAM, "utf8").matchAll(/require\("([^"]+)"\)/g)].map(([, name]) => name),
    );
    expect([...loaded].sort()).toEqual(["node:fs", "node:os", "node:path"]);
    expect(readFileSync(PROGRAM).length).toBeLessThan(30_000);
  });

  test("E1 needs no Intl, whose first use takes half as long as Node's own start", () => {
    const guard = join(folder, "no-intl.cjs");
    writeFileSync(
      guard,
      'Object.defineProperty(globalThis, "Intl", { get() { throw new Error("Intl was used"); } });',
    );
    const { project } = setUp({ goals: [aWorkingGoal] });
    expect(lineOf(payloadOf(project), { flags: ["--require", guard] })).toMatch(/^loop:2 · 3fa2 working/);
  });
});

/** How much of it the pipe took. */
function tryWrite(fd: number, bytes: Buffer): number {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return 0;
    throw error;
  }
}
