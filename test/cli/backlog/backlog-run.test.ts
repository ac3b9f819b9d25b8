/** `loop backlog run` as a user runs it: a real repository with real tests, agents that are processes of their own. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import {
  agentOf,
  besideOf,
  expectGreen,
  expectSoundRepository,
  generated,
  HONEST,
  makeBacklog,
  passedOf,
  readLines,
  runArgs,
  runBacklogJson,
  type StoryWish,
  storiesOf,
  trust,
  turnsNoted,
} from "../../support/backlog/backlog-cli.ts";
import { hashTree, makeProject, runLoop, startLoop } from "../../support/cli.ts";
import { git } from "../../support/goals/goal-cli.ts";
import { runHere } from "../../support/here.ts";
import { until } from "../../support/until.ts";

// several runs of a real command each, with real git below them
vi.setConfig({ testTimeout: 120_000 });

const TWO: readonly StoryWish[] = [
  { n: 1, dependsOn: [] },
  { n: 2, dependsOn: [1] },
];
const THREE: readonly StoryWish[] = [...TWO, { n: 3, dependsOn: [] }];
/** Quick: real tests take most of the time, and here they are not what is looked at. */
const quick = (n: number) => `test -e src/f${n}.mjs`;

async function small(stories: readonly StoryWish[] = TWO): Promise<string> {
  const cwd = makeBacklog({ stories, check: quick });
  await trust(cwd);
  return cwd;
}

/** Its generator waits for a file beside the project before it does anything. */
const PATIENT = `
if [ "$LOOP_ROLE" = generator ]; then
  touch "$BESIDE/waiting-$LOOP_STORY"
  while ! test -e "$BESIDE/go"; do sleep 0.05; done
  solve; save; echo made
else pass; fi
`;
const isWaiting = (cwd: string, story: string) => existsSync(join(dirname(cwd), `waiting-${story}`));
const letGo = (cwd: string) => writeFileSync(join(dirname(cwd), "go"), "");

describe("C12 a person who wants it to stop", () => {
  test("C12 Ctrl-C once ends after the turn under way, and tells how far it came", async () => {
    const cwd = await small();
    const runner = startLoop([...runArgs(agentOf(cwd, PATIENT)), "--json"], besideOf(cwd));
    await until(() => isWaiting(cwd, "US-001"), "the generator is at work");
    runner.signal("SIGINT");
    await until(() => journalOf(cwd).includes('"backlog.stopping"'), "it is told to stop");
    letGo(cwd);
    expect(await runner.ended, runner.output.stderr).toBe(130);
    expect(readLines(runner.output.stdout).end).toMatchObject({ status: "stopped", passed: 1, total: 2 });
    expect(generated(cwd)).toEqual(["US-001"]);
    const again = await runBacklogJson(runArgs(agentOf(cwd), "--resume"), besideOf(cwd));
    expect(again.end, again.stderr).toMatchObject({ status: "done", passed: 2 });
    expect(generated(cwd)).toEqual(["US-001", "US-002"]);
  });

  test.each([1, 2])(
    "C12 Ctrl-C twice ends it now, with --parallel %i, and --resume goes on",
    async (parallel) => {
      const cwd = await small();
      const args = [...runArgs(agentOf(cwd, PATIENT), "--parallel", String(parallel)), "--json"];
      const runner = startLoop(args, besideOf(cwd));
      await until(() => isWaiting(cwd, "US-001"), "the generator is at work");
      runner.signal("SIGINT");
      await until(() => journalOf(cwd).includes('"backlog.stopping"'), "it is told to stop");
      runner.signal("SIGINT");
      expect(await runner.ended, runner.output.stderr).toBe(130);
      expect(readLines(runner.output.stdout).end).toMatchObject({ status: "stopped", passed: 0 });
      letGo(cwd);
      const again = await runBacklogJson([...args.slice(0, -1), "--resume"], besideOf(cwd));
      expect(again.end, again.stderr).toMatchObject({ status: "done", passed: 2 });
      expect(storiesOf(cwd).map(({ rejections }) => rejections)).toEqual([0, 0]);
      expectGreen(cwd);
      expectSoundRepository(cwd);
    },
  );
});

function journalOf(cwd: string): string {
  return readFileSync(join(cwd, ".loop", "journal.jsonl"), "utf8");
}

describe("D6 H1 C13 runners that meet, and runners that die", () => {
  test("D6 a second run is refused with the owner's name, and nothing is harmed", async () => {
    const cwd = await small();
    const runner = startLoop([...runArgs(agentOf(cwd, PATIENT)), "--json"], besideOf(cwd));
    await until(() => isWaiting(cwd, "US-001"), "the generator is at work");
    const before = hashTree(join(cwd, ".loop", "prd.json"));
    const second = await runLoop(runArgs(agentOf(cwd, HONEST, "other.sh")), besideOf(cwd));
    expect(second.code).toBe(64);
    expect(second.stderr).toMatch(/The backlog already runs \([0-9a-f]{8}, by runner:\d+/);
    expect(hashTree(join(cwd, ".loop", "prd.json"))).toBe(before);
    letGo(cwd);
    expect(await runner.ended, runner.output.stderr).toBe(0);
    expect(generated(cwd)).toEqual(["US-001", "US-002"]);
  });

  test("D6 --resume beside a runner that is alive waits for the lease, and begins nothing", async () => {
    const cwd = await small();
    const args = [...runArgs(agentOf(cwd, PATIENT)), "--json"];
    const first = startLoop(args, besideOf(cwd));
    await until(() => isWaiting(cwd, "US-001"), "the generator is at work");
    const second = startLoop([...args, "--resume"], besideOf(cwd));
    await until(() => /runner:\d+\S* holds the lease/.test(second.output.stderr), "the second one waits");
    letGo(cwd);
    expect(await first.ended, first.output.stderr).toBe(0);
    expect(await second.ended, second.output.stderr).toBe(0);
    expect(generated(cwd)).toEqual(["US-001", "US-002"]);
  });

  test("H1 C5 a verdict that did not reach prd.json before a crash is not forgotten", async () => {
    const cwd = await small();
    const files = ["prd.json", "prd.written.tmp"];
    const keep = join(dirname(cwd), "kept");
    mkdirSync(keep);
    const agent = `
[ "$LOOP_STORY$LOOP_ROLE" != US-001generator ] || (cd .loop; cp ${files.join(" ")} "$BESIDE/kept")
[ "$LOOP_STORY" != US-002 ] || test -e "$BESIDE/go" || exit 77
${HONEST}`;
    const args = runArgs(agentOf(cwd, agent));
    const paused = await runBacklogJson(args, besideOf(cwd));
    expect(paused.end, paused.stderr).toMatchObject({ status: "error", passed: 1 });
    // as if it had been killed right after the verdict was on record
    for (const name of files) copyFileSync(join(keep, name), join(cwd, ".loop", name));
    expect(passedOf(cwd)).toEqual([]);
    letGo(cwd);
    const again = await runBacklogJson([...args, "--resume"], besideOf(cwd));
    expect(again.end, again.stderr).toMatchObject({ status: "done", passed: 2, iterations: 2 });
    expect(generated(cwd).filter((id) => id === "US-001")).toHaveLength(1);
    expect(passedOf(cwd)).toEqual(["US-001", "US-002"]);
  });
});

describe("C1 C16 flags and exit codes", () => {
  test("C1 --story does that one only", async () => {
    const cwd = await small(THREE);
    const run = await runBacklogJson(runArgs(agentOf(cwd), "--story", "US-003"), besideOf(cwd));
    expect(run.code).toBe(0);
    expect(run.end).toMatchObject({ status: "done", passed: 1, total: 3 });
    expect(generated(cwd)).toEqual(["US-003"]);
  });

  test("C1 --dry-run tells what would be done, and changes nothing", async () => {
    const cwd = await small();
    const before = hashTree(join(cwd, ".loop"));
    const run = await runHere(runArgs(agentOf(cwd), "--dry-run"), besideOf(cwd));
    expect(run.code).toBe(0);
    expect(run.stdout).toContain("US-001");
    expect(run.stdout).toContain("nothing was run");
    expect(hashTree(join(cwd, ".loop"))).toBe(before);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    expect(turnsNoted(cwd)).toEqual([]);
  });

  test("C16 exit 2 after N iterations, and --resume goes on with what is left", async () => {
    const cwd = await small();
    const run = await runBacklogJson(["backlog", "run", "1", "--agent-cmd", agentOf(cwd)], besideOf(cwd));
    expect(run.code).toBe(2);
    expect(run.end).toMatchObject({ status: "max_iterations", passed: 1, iterations: 1 });
    const again = await runBacklogJson(runArgs(agentOf(cwd), "--resume"), besideOf(cwd));
    expect(again.end).toMatchObject({ status: "done", passed: 2 });
  });

  test("C7 C16 exit 3 when what is left is blocked, with the reasons in prd.json", async () => {
    const cwd = await small();
    const judge =
      'if [ "$LOOP_ROLE" = generator ]; then date +%N > "src/f$n.mjs"; echo made; else reject "no sum"; fi';
    const run = await runBacklogJson(runArgs(agentOf(cwd, judge)), besideOf(cwd));
    expect(run.code, run.stderr).toBe(3);
    expect(run.end).toMatchObject({ status: "blocked", passed: 0, blocked: ["US-001"] });
    expect(storiesOf(cwd)[0]?.notes).toMatch(/\[REJECTED\] no sum[\s\S]*\[BLOCKED\]/);
    expect(generated(cwd)).toEqual(["US-001", "US-001"]);
  });

  test("C11 C16 exit 1 when the agent has no access, which costs nothing, and --resume goes on", async () => {
    const cwd = await small();
    const run = await runBacklogJson(runArgs(agentOf(cwd, "exit 77")), besideOf(cwd));
    expect(run.code, run.stderr).toBe(1);
    expect(run.end).toMatchObject({ status: "error", passed: 0, iterations: 0 });
    const again = await runBacklogJson(runArgs(agentOf(cwd), "--resume"), besideOf(cwd));
    expect(again.end, again.stderr).toMatchObject({ status: "done", passed: 2, iterations: 2 });
  });

  test("--budget takes $5 as 5, LOOP_BUDGET stands for it, and with --resume it is added up to the cap", async () => {
    const cwd = await small();
    const budgetOf = async (flags: readonly string[], env: Record<string, string> = {}) => {
      const args = runArgs(agentOf(cwd), "--dry-run", "--json", ...flags);
      return JSON.parse((await runLoop(args, besideOf(cwd, env))).stdout).budgetUsd;
    };
    expect(await budgetOf(["--budget", "$5"])).toBe(5);
    expect(await budgetOf([], { LOOP_BUDGET: "$6" })).toBe(6);
    expect(await budgetOf([])).toBe(25);
    await runLoop(runArgs(agentOf(cwd, "exit 77"), "--budget", "$90"), besideOf(cwd));
    const more = (amount: string) =>
      runLoop(runArgs(agentOf(cwd), "--resume", "--budget", amount), besideOf(cwd));
    const refused = await more("11");
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain("A budget of $101 is too much; a loop can spend at most $100.");
    expect((await more("$10")).code).toBe(0);
    expect(readFileSync(join(cwd, ".loop", "journal.jsonl"), "utf8")).toContain('"budgetUsd":100');
  });

  test("C16 exit 1 for a prd.json that does not parse, before anything runs", async () => {
    const cwd = await small();
    writeFileSync(join(cwd, ".loop", "prd.json"), "{ not json");
    const run = await runHere(runArgs(agentOf(cwd)), besideOf(cwd));
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/prd\.json/);
    expect(turnsNoted(cwd)).toEqual([]);
  });

  test.each<[string, readonly string[], RegExp]>([
    ["a story that is not there", ["--story", "US-999"], /There is no story US-999/],
    ["too many at a time", ["--parallel", "99"], /--parallel 99 is more than/],
    ["no number", ["--parallel", "some"], /--parallel/],
    ["an unknown mode", ["--mode", "dream"], /--mode/],
    [
      "no budget",
      ["--budget", "-3"],
      /--budget "-3" is not an amount of dollars; write it like 5 or 2\.50\./,
    ],
    [
      "a budget over the cap",
      ["--budget", "$100.01"],
      /A budget of \$100\.01 is too much; a loop can spend at most \$100/,
    ],
    ["no command for notices", ["--notify-cmd", " "], /--notify-cmd is empty/],
    ["an unknown flag", ["--fast"], /--fast/],
  ])("C16 exit 64 for %s, in one sentence, and nothing is changed", async (_, flags, message) => {
    const cwd = await small();
    const before = hashTree(join(cwd, ".loop"));
    const run = await runHere(runArgs(agentOf(cwd), ...flags), besideOf(cwd));
    expect(run.code, run.stderr).toBe(64);
    expect(run.stderr).toMatch(message);
    expect(hashTree(join(cwd, ".loop"))).toBe(before);
    expect(turnsNoted(cwd)).toEqual([]);
  });

  test("H2 exit 1 when nobody has accepted the checks", async () => {
    const cwd = makeBacklog({ stories: TWO, check: quick });
    const run = await runHere(runArgs(agentOf(cwd)), besideOf(cwd));
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/not accepted/);
    expect(turnsNoted(cwd)).toEqual([]);
  });

  test("C13 --parallel needs a branch with a commit", async () => {
    const detached = await small();
    git(detached, "checkout", "-q", "--detach");
    const run = await runHere(runArgs(agentOf(detached), "--parallel", "2"), besideOf(detached));
    expect(run.code).toBe(64);
    expect(run.stderr).toMatch(/a branch with a commit must be checked out/);
    const one = await runBacklogJson(runArgs(agentOf(detached)), besideOf(detached));
    expect(one.end, one.stderr).toMatchObject({ status: "done", passed: 2 });
  });

  test("C13 without a commit: one at a time works, several are refused", async () => {
    const cwd = await small();
    rmSync(join(cwd, ".git"), { recursive: true });
    git(cwd, "init", "-q", "-b", "main");
    const several = await runHere(runArgs(agentOf(cwd), "--parallel", "2"), besideOf(cwd));
    expect(several.code).toBe(64);
    const uncommitted = 'if [ "$LOOP_ROLE" = generator ]; then solve; echo made; else pass; fi';
    const one = await runBacklogJson(runArgs(agentOf(cwd, uncommitted)), besideOf(cwd));
    expect(one.end, one.stderr).toMatchObject({ status: "done", passed: 2 });
  });

  test("C5 without git it is said that a backlog needs it", async () => {
    const cwd = await small();
    rmSync(join(cwd, ".git"), { recursive: true });
    const run = await runHere(runArgs(agentOf(cwd)), besideOf(cwd));
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/A backlog needs git/);
    expect(turnsNoted(cwd)).toEqual([]);
  });

  test("C2 exit 64 where there is no backlog", async () => {
    const run = await runHere(["backlog", "run", "--agent-cmd", "true"], { cwd: makeProject() });
    expect(run.code).toBe(64);
    expect(run.stderr).toMatch(/There is no backlog here/);
  });
});
