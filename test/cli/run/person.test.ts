import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { isAlive } from "../../../src/system/process.ts";
import { cleanEnv, LOOP, makeProject, type Result, runLoop } from "../../support/cli.ts";
import {
  makeAgent,
  makeRepository,
  runJson,
  stateOf,
  untilArgs,
  worker,
} from "../../support/goals/goal-cli.ts";
import { runHere } from "../../support/here.ts";

const onLinux = process.platform === "linux";
const COLLEAGUE = { env: { LOOP_SHAPE: "colleague" } };
const CLEAN = 'env -i PATH="$PATH" HOME="$HOME"';

/** A system that cannot seal the processes of a turn: the limit that it needs is taken. */
function runUnsealed(cwd: string, ...args: string[]): Result {
  const script = 'ulimit -m 1000000; exec "$@"';
  const words = ["-c", script, "sh", process.execPath, LOOP, ...args];
  const { status, stdout, stderr } = spawnSync("sh", words, { cwd, env: cleanEnv(cwd), encoding: "utf8" });
  return { code: status, stdout, stderr };
}

describe.skipIf(!onLinux)("J2 an agent cannot answer for the person", () => {
  test("not without its environment, session and parents, nor in a terminal or a namespace of its own", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const tries = [
      "loop trust --yes",
      `${CLEAN} loop trust --yes`,
      `${CLEAN} loop approve`,
      `${CLEAN} setsid -w loop reject`,
      `${CLEAN} LOOP_TYPED=1 LOOP_SESSION=s1 loop accept --yes`,
      `LOOP_TYPED=1 LOOP_SESSION=s1 loop continue --detach`,
      `${CLEAN} script -qec 'loop continue --detach' /dev/null`,
      `${CLEAN} script -qec 'loop trust --yes' /dev/null`,
      `${CLEAN} sh -c 'ulimit -w 1; exec loop approve'`,
    ];
    const lines = tries.map((line) => `${line} >>../tried 2>&1 </dev/null; echo "code=$?" >>../tried`);
    // where the system lets a user have one
    const own = "unshare --user --map-current-user --pid --fork --mount-proc";
    lines.push(`! ${own} true || ${CLEAN} ${own} loop accept --yes >>../tried 2>&1`);
    const agent = makeAgent(cwd, ...lines, "touch done.txt", "report true");
    expect((await runJson(untilArgs(agent), { cwd })).code).toBe(0);
    const tried = readFileSync(join(cwd, "..", "tried"), "utf8");
    const codes = tried.match(/^code=\d+$/gm) ?? [];
    // the last one changed its seal: any runner whose turn ends at this moment ends it
    expect(codes.pop()).toMatch(/^code=(64|143|137)$/);
    expect(codes).toEqual(tries.slice(1).map(() => "code=64"));
    const refusals = tried.match(/Only a person can .*: this was called from inside a turn of /g) ?? [];
    expect(refusals.length).toBeGreaterThanOrEqual(codes.length);
    expect(tried).not.toMatch(/^(Accepted|Trusted|Approved|Rejected|Nothing here)/m);
  });

  test("not for the goal of another project", async ({ onTestFinished }) => {
    const [theirs, cwd] = [makeRepository(onTestFinished), makeRepository(onTestFinished)];
    await runLoop(untilArgs(worker(theirs)), { cwd: theirs, ...COLLEAGUE });
    expect(stateOf(theirs).gate?.kind).toBe("G1");
    writeFileSync(join(dirname(cwd), "theirs"), theirs);
    const tries = `cd "$(cat ../theirs)"; ${CLEAN} loop approve >tried 2>&1`;
    await runLoop(untilArgs(makeAgent(cwd, `( ${tries} )`, "touch done.txt", "report true")), { cwd });
    expect(readFileSync(join(theirs, "tried"), "utf8")).toMatch(/^loop: Only a person can approve: /);
    expect(stateOf(theirs).gate?.kind).toBe("G1");
    expect(await runHere(["approve"], { cwd: theirs })).toMatchObject({ code: 0 });
  });

  test("J3 nor after its turn: the process that waits for it is gone", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const waits = "echo $$ >../waits; until loop accept --yes; do sleep 0.1; done";
    const hides = `${CLEAN} setsid sh -c 'setsid sh ../waits.sh >/dev/null 2>&1 &'`;
    writeFileSync(join(dirname(cwd), "waits.sh"), waits);
    const agent = makeAgent(
      cwd,
      "echo true > check.sh",
      hides,
      "until [ -s ../waits ]; do sleep 0.02; done",
      "report true",
    );
    expect((await runLoop(untilArgs(agent), { cwd })).code).toBe(6);
    const pid = Number(readFileSync(join(dirname(cwd), "waits"), "utf8"));
    expect(isAlive({ pid, start: null })).toBe(false);
    expect(stateOf(cwd)).toMatchObject({ accepted: [], pause: { code: "integrity" } });
    expect(stateOf(cwd).receipts).toMatchObject([{ foundBy: "seal" }, { foundBy: "seal" }]);
  });
});

describe.skipIf(!onLinux)("J2 where the system cannot tell who asks", () => {
  test("a person answers in a terminal", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    await runLoop(untilArgs(worker(cwd)), { cwd, ...COLLEAGUE });
    const said =
      "this system cannot tell who asks without a terminal.\n  Run the same command in a terminal.\n";
    for (const [what, ...args] of [
      ["approve", "approve"],
      ["accept", "accept", "--yes"],
    ] as const)
      expect(runUnsealed(cwd, ...args)).toEqual({
        code: 64,
        stdout: "",
        stderr: `loop: Only a person can ${what}: ${said}`,
      });
    expect(stateOf(cwd).gate?.kind).toBe("G1");
    const command = `ulimit -m 1000000; '${process.execPath}' '${LOOP}' approve`;
    const { status } = spawnSync("script", ["-qec", command, "/dev/null"], { cwd, env: cleanEnv(cwd) });
    expect(status).toBe(0);
    expect(stateOf(cwd).gate).toBeNull();
  });

  test("in a project without a loop no turn can have left anything: CI may trust it", ({
    onTestFinished,
  }) => {
    const cwd = makeProject(onTestFinished);
    expect(runUnsealed(cwd, "trust", "--yes")).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });

  test("J3 the receipt and doctor say how processes are found", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const run = runUnsealed(cwd, ...untilArgs(worker(cwd)));
    expect(run.code).toBe(0);
    expect(stateOf(cwd).receipts).toMatchObject([{ foundBy: "marks" }]);
    const words = "found by marks in the environment, which a process can remove";
    expect(run.stdout).toContain(`\n1 turn: processes ${words}\n`);
    expect((await runHere(["report"], { cwd })).stdout).toContain(`\n1 turn: processes ${words}.`);
    expect(runUnsealed(cwd, "doctor").stdout).toMatch(
      new RegExp(`! processes +the processes of a turn are ${words}`),
    );
    const here = (await runHere(["doctor"], { cwd })).stdout;
    expect(here).toMatch(
      /✓ processes +the processes of a turn are found by a mark that no process can remove/,
    );
  });
});
