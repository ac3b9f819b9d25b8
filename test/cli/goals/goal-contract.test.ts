/** `loop until` as programs rely on it: exit codes, the stream, the environment, the files, the announcements. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { loopJson, runLoop, startLoop } from "../../support/cli.ts";
import {
  CHECK,
  git,
  idler,
  installClaude,
  makeAgent,
  makeRepository,
  readState,
  runJson,
  SPEC,
  STEP,
  sleeper,
  sleepingPids,
  stateOf,
  statusOf,
  turnsOf,
  untilArgs,
  worker,
  writeShape,
} from "../../support/goals/goal-cli.ts";
import { runHere } from "../../support/here.ts";
import { until } from "../../support/until.ts";

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ID = /^[0-9a-f]{8}$/;
const TREE = /^[0-9a-f]{16,}$/;

describe("B17 the stream of --json", () => {
  test("one object per line, in the order of what happened; the last is loop.end to the letter", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const { code, lines, end, stderr } = await runJson(untilArgs(worker(cwd)), { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const types = lines.map(({ type }) => type).filter((type) => type !== "agent");
    expect(types).toEqual([
      ...["loop.start", "survey", "turn.start", "turn.end", "checks", "loop.result", "notify", "loop.end"],
    ]);
    for (const line of lines.slice(0, -1)) expect(line.at).toMatch(ISO);
    expect(end).toEqual({
      type: "loop.end",
      loop: expect.stringMatching(ID),
      status: "done",
      reason: "every criterion is proved",
      verdict: "SHIP",
      iterations: 1,
      costUsd: null,
      unpriced: 1,
      criteria: [
        {
          name: "done",
          met: true,
          verification: "execution output",
          evidence: {
            exitCode: 0,
            at: expect.stringMatching(ISO),
            tree: expect.stringMatching(TREE),
            tail: "",
          },
        },
      ],
    });
  });

  test("moments in it are ISO 8601, also those of gates and pauses", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const gate = await runJson(untilArgs(worker(cwd)), { cwd, env: { LOOP_SHAPE: "colleague" } });
    const asked = gate.lines.find(({ type }) => type === "gate");
    expect(asked).toMatchObject({
      gate: { kind: "G1", askedAt: expect.stringMatching(ISO), answerBy: null },
    });
    expect(gate.end).toMatchObject({
      status: "paused",
      reason: expect.stringMatching(/^waits for a person \(G1\)/),
    });
    expect(gate.code).toBe(6);
  });

  test("and so are those of ends", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const { lines } = await runJson(untilArgs(worker(cwd)), { cwd });
    expect(lines.find(({ type }) => type === "loop.result")).toMatchObject({
      end: { status: "done", at: expect.stringMatching(ISO) },
      state: { status: "completed" },
    });
  });
});

describe("B17 exit codes, each for a reason of its own", () => {
  test("0 with a price; the cost is the agent's own", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    installClaude(cwd, "touch done.txt", "says fixed 0.25");
    const { code, end } = await runJson(["until", ...CHECK, SPEC], { cwd });
    expect({ code, costUsd: end.costUsd, unpriced: end.unpriced }).toEqual({
      code: 0,
      costUsd: 0.25,
      unpriced: 0,
    });
  });

  test("1 no agent: said before anything is written; an agent that went away since: the same at continue", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const first = await runLoop(["until", ...CHECK, SPEC], { cwd });
    expect(first).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^loop: No agent was found/),
    });
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
    installClaude(cwd, "says no 0");
    await runLoop(["until", ...CHECK, SPEC, "--detach"], { cwd });
    rmSync(join(dirname(cwd), "bin", "claude"));
    const second = await runLoop(["continue"], { cwd });
    expect(second).toMatchObject({ code: 1, stderr: expect.stringMatching(/^loop: No agent was found/) });
  });

  test("2 the budget: a turn that would pass it is not started; continue --budget adds", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    installClaude(cwd, "says later 2");
    const run = await runJson(["until", ...CHECK, SPEC, "--budget", "2"], { cwd });
    expect({ code: run.code, ...run.end }).toMatchObject({
      code: 2,
      status: "paused",
      iterations: 1,
      costUsd: 2,
    });
    expect(run.lines.find(({ type }) => type === "loop.pause")).toMatchObject({
      pause: {
        code: "budget",
        goOn: `loop continue ${run.end.loop} --budget=10`,
        at: expect.stringMatching(ISO),
      },
    });
    installClaude(cwd, "touch done.txt", "says now 3");
    const more = await runJson(["continue", "--budget=3"], { cwd });
    expect({ code: more.code, limits: stateOf(cwd).limits }).toMatchObject({
      code: 0,
      limits: { budgetUsd: 5 },
    });
  });

  test("2 the time, and LOOP_BUDGET is the budget of a run without flags", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = makeAgent(cwd, "sleep 0.6", "report false open");
    const run = await runJson(untilArgs(agent, "--time", "500ms"), { cwd, env: { LOOP_BUDGET: "7.50" } });
    expect({ code: run.code, reason: run.end.reason }).toMatchObject({
      code: 2,
      reason: expect.stringMatching(/ used/),
    });
    expect(stateOf(cwd).limits).toMatchObject({ budgetUsd: 7.5, timeMs: 500 });
  });

  test("3 the iterations, by LOOP_MAX_ITERATIONS; a flag goes before it", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const env = { LOOP_MAX_ITERATIONS: "1", LOOP_HEADLESS: "1" };
    const run = await runJson(untilArgs(idler(cwd)), { cwd, env });
    expect({ code: run.code, iterations: run.end.iterations }).toEqual({ code: 3, iterations: 1 });
    expect(run.end.criteria).toMatchObject([{ name: "done", met: false, evidence: { exitCode: 1 } }]);
    await runHere(["cancel"], { cwd });
    const plan = await loopJson<{ limits: object }>(
      ["until", ...CHECK, SPEC, "--agent-cmd", "cat", "--dry-run", "--iterations", "4"],
      { cwd, env },
    );
    expect(plan.limits).toMatchObject({ iterations: 4 });
  });

  test("4 a breaker, and something that must not be", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const broken = await runJson(untilArgs(makeAgent(cwd, "exit 3")), { cwd });
    expect({ code: broken.code, reason: broken.end.reason }).toEqual({
      code: 4,
      reason: "the same error 3 times in a row",
    });
    await runHere(["cancel"], { cwd });
    writeShape(cwd, "## Must not\n- no secrets: `test -f secret.txt`\n");
    await runHere(["trust", "--yes"], { cwd });
    const evil = await runJson(untilArgs(makeAgent(cwd, "touch secret.txt done.txt", "report true")), {
      cwd,
    });
    expect({ code: evil.code, reason: evil.end.reason }).toEqual({
      code: 4,
      reason: "a must-not condition is true: no secrets",
    });
    expect(evil.end.criteria).toMatchObject([{ met: true }]);
  });

  test("5 a vague spec: the questions, and nothing written; LOOP_SHAPE does not help, --force does", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const { code, stdout, stderr } = await runLoop(["until", "make it better", "--agent-cmd", "cat"], {
      cwd,
    });
    expect({ code, files: existsSync(join(cwd, ".loop")) }).toEqual({ code: 5, files: false });
    expect(stdout).toMatch(/^The spec scores \d of 10:\noutcome/);
    expect(stderr).toMatch(/too vague\..*--force to start anyway:\n {2}- .*\n {2}- Which files/);
    const { lines } = await runJson(["until", "make it better", "--agent-cmd", "cat"], { cwd });
    expect(lines).toMatchObject([
      { type: "loop.vague", total: expect.any(Number), questions: expect.any(Array) },
    ]);
    const env = { LOOP_SHAPE: "tool" };
    const shaped = await runLoop(["until", "make it better", "--agent-cmd", "cat"], { cwd, env });
    expect(shaped.code).toBe(5);
    const plan = await loopJson<object>(
      ["until", "make it better", "--agent-cmd", "cat", "--dry-run", "--force"],
      {
        cwd,
        env,
      },
    );
    expect(plan).toMatchObject({ type: "loop.plan", shape: "colleague", needsPlan: true, criteria: [] });
  });

  test("6 sign-in (exit 77 of the agent) costs nothing and waits for a person", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const run = await runJson(untilArgs(makeAgent(cwd, "exit 77")), { cwd });
    expect({ code: run.code, ...run.end }).toMatchObject({
      code: 6,
      status: "paused",
      iterations: 0,
      costUsd: 0,
    });
    expect(run.end.reason).toMatch(/^the agent has no access to its model/);
  });

  test("64 wrong use is one sentence on stderr and nothing on stdout", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const result = await runLoop(["until", ...CHECK, SPEC, "--iterations", "none", "--json"], { cwd });
    expect(result).toEqual({
      code: 64,
      stdout: "",
      stderr: 'loop: --iterations "none" is not a whole number of 1 or more.\n',
    });
  });

  test("130 a signal: the last line says how it stands, and no process is left", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const run = startLoop([...untilArgs(sleeper(cwd)), "--json"], { cwd }, onTestFinished);
    const pids = await until(() => sleepingPids(cwd), "the agent is in its turn");
    run.signal("SIGINT");
    expect(await run.ended).toBe(130);
    expect(JSON.parse(run.output.stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      type: "loop.end",
      status: "paused",
      reason: "stopped by a person (SIGINT)",
      iterations: 0,
    });
    for (const pid of pids) expect(isAlive(pid), `process ${pid}`).toBe(false);
  });
});

describe("B17 what the agent is given", () => {
  test("its environment, the prompt on stdin and as a file; judges get a nonce of their own", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = makeAgent(
      cwd,
      '[ "$LOOP_ROLE" = judge ] && { verdict PASS; exit; }',
      "touch done.txt",
      "report true",
    );
    const run = await runJson(untilArgs(agent, "--check", "ui=judge: is it there"), {
      cwd,
      env: { LOOP_ID: "outer", LOOP_NONCE: "outer", LOOP_FIRE_ID: "outer-1" },
    });
    expect(run.code).toBe(0);
    const [work, judge, ...others] = turnsOf(cwd);
    expect(others).toEqual([]);
    expect(work?.env).toEqual({
      LOOP_ID: run.end.loop,
      LOOP_FIRE_ID: `${run.end.loop}-2`,
      LOOP_KIND: "work",
      LOOP_ROLE: "generator",
      LOOP_ITERATION: "1",
      LOOP_NONCE: expect.stringMatching(/^[0-9a-f]{16}$/),
      LOOP_PROMPT_FILE: join(cwd, ".loop", "runs", run.end.loop, `${run.end.loop}-2`, "prompt.txt"),
      LOOP_PROJECT: cwd,
    });
    expect(judge?.env).toMatchObject({ LOOP_ID: run.end.loop, LOOP_KIND: "judge", LOOP_ROLE: "judge" });
    expect(judge?.env.LOOP_NONCE).not.toBe(work?.env.LOOP_NONCE);
    expect(work?.prompt).toContain(`> ${SPEC}`);
    expect(work?.prompt).toContain("- done: `sh check.sh` exits 0.");
    expect(run.end.criteria).toMatchObject([
      { name: "ui", met: true, verification: "observation" },
      { name: "done", met: true, verification: "execution output" },
    ]);
  });
});

describe("B8 B17 artifacts", () => {
  test("state.json in the published shape, the same under runs/, receipts one per line, a summary", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const { end } = await runJson(untilArgs(worker(cwd)), { cwd });
    const run = join(cwd, ".loop", "runs", end.loop);
    const state = stateOf(cwd);
    expect(state).toMatchObject({
      spec: SPEC,
      criteria: ["done"],
      criteriaStatus: {
        done: {
          met: true,
          verification: "execution output",
          evidence: { exitCode: 0, at: expect.stringMatching(ISO) },
        },
      },
      exit_signal: true,
      steps: [STEP],
      completedSteps: [STEP],
      remainingSteps: [],
      iteration: 1,
      status: "completed",
      circuitBreaker: { stuckCount: 0, lastUnmet: null, errorCount: 0, lastError: null },
    });
    expect(readState(join(run, "state.json"))).toEqual(state);
    const receipts = readFileSync(join(run, "iterations.jsonl"), "utf8").trimEnd().split("\n");
    expect(receipts.map((line) => JSON.parse(line))).toMatchObject([
      { iteration: 1, kind: "work", step: STEP, filesChanged: 1, files: ["done.txt"], moved: ["done ✓"] },
    ]);
    const summary = readFileSync(join(run, "summary.md"), "utf8");
    expect(summary).toContain("| `done` | `sh check.sh` | execution output | ✓ |");
    const report = await runHere(["report"], { cwd });
    expect(report.stdout.trimEnd()).toBe(summary.trimEnd());
    expect(JSON.stringify(state)).not.toContain(turnsOf(cwd)[0]?.env.LOOP_NONCE);
  });
});

describe("B15 announcements, on stdout for people", () => {
  test("a start, each iteration, its end, the box: to the letter", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const { code, stdout } = await runLoop(untilArgs(worker(cwd)), { cwd });
    expect(code).toBe(0);
    const [first = "", ...lines] = stdout.split("\n");
    expect(first).toMatch(
      /^Goal \w{8}\. Writing state to \.loop\/state\.json and \.loop\/runs\/\w{8}\/\. To end the goal: loop cancel/,
    );
    expect(lines.slice(0, 11)).toEqual([
      "[LOOP] Starting | Shape: Tool (9/10) | Workflow: A | Steps: 1 | Budget: $25",
      "  check done: `sh check.sh` exits 0",
      expect.stringMatching(/^ {2}\d+ files are protected: the checks depend on them$/),
      `[LOOP] Iteration 1/10 | Cost: $0.00/$25 | Step: ${STEP}`,
      "  ✓ done",
      `[LOOP] ✓ ${STEP} complete | Progress: 1/1 | Next: none`,
      "",
      "<loop-complete>",
      "All success criteria satisfied:",
      "- done: ✓",
      "</loop-complete>",
    ]);
    expect(stdout).toMatch(/\n╭─ 🟢 SHIP ─+╮\n│ Verified: execution output ×1 +│\n/);
    expect(stdout).toMatch(/\n# +Step +Time +Tokens +Cost +Files +Checks moved\n1 +Create done\.txt/);
  });

  test("a pause has the reason, the progress and the command; continue says where it stands, not that it starts", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const first = await runLoop(untilArgs(makeAgent(cwd, "report true"), "--iterations", "1"), { cwd });
    const id = stateOf(cwd).id;
    expect(first.stdout).toContain(
      "\n  ✗ done: exit 1\n[LOOP] ↩ The agent claimed to be done, but it is not",
    );
    expect(first.stdout).toContain(
      `\n[LOOP] ⏸ Paused: 1 of 1 iterations are used\nProgress: 0 steps complete, 1 remaining\nResume: loop continue ${id} --iterations=5\n`,
    );
    const again = await runLoop(["continue", "--iterations=1"], { cwd });
    expect(again.code).toBe(3);
    expect(again.stdout).toMatch(
      new RegExp(
        `^\\[LOOP RESUME\\]\nSpec: ${SPEC}\nSteps: 0/1 done\nIteration: 2/2\nUnmet: done\nNext: ${STEP}\n`,
      ),
    );
    expect(again.stdout).not.toContain("[LOOP] Starting");
  });
});

describe("B6 the forms of --check", () => {
  test("exit 0, a measurement, a review that says no, a phrase: each with its evidence", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = makeAgent(
      cwd,
      '[ "$LOOP_ROLE" = judge ] && { [ -f ok.txt ] && verdict PASS || verdict REJECT "errors are swallowed"; exit; }',
      "[ -f done.txt ] && touch ok.txt",
      "touch done.txt",
      "report true",
    );
    const checks = ["--check", "count=ls | wc -l >= 2", "--check", "style=review: errors are handled"];
    const run = await runJson(["until", "`sh check.sh` passes", SPEC, ...checks, "--agent-cmd", agent], {
      cwd,
    });
    expect(run.code).toBe(0);
    const rounds = run.lines.filter(({ type }) => type === "checks");
    expect(rounds[0]?.criteria).toMatchObject([
      { name: "count", met: true, verification: "measurement" },
      {
        name: "style",
        met: false,
        verification: "code review",
        evidence: { tail: expect.stringContaining("swallowed") },
      },
      { name: "sh check.sh passes", met: true, verification: "execution output" },
    ]);
    expect(run.end.criteria.map(({ met }) => met)).toEqual([true, true, true]);
    expect(turnsOf(cwd).map(({ env }) => env.LOOP_KIND)).toEqual(["work", "review", "work", "review"]);
    expect(turnsOf(cwd)[2]?.prompt).toContain("errors are swallowed");
  });

  test("an assumption blocks the end", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const args = untilArgs(worker(cwd), "--check", "load=assume: it holds", "--iterations", "1");
    const run = await runJson(args, { cwd });
    // no further turn is paid for what none could change
    expect(run.code).toBe(6);
    expect(run.end).toMatchObject({
      status: "paused",
      iterations: 1,
      reason: expect.stringMatching(/an assumption blocks the end/),
    });
    expect(run.end.criteria).toMatchObject([
      { name: "load", met: false, verification: "assumption", evidence: { exitCode: null } },
      { name: "done", met: true },
    ]);
  });
});

describe("B21 steps", () => {
  test("--steps gives them by hand, from a file or stdin; one iteration does one", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = makeAgent(
      cwd,
      'if [ "$LOOP_ITERATION" = 2 ]; then touch done.txt; report true; else report false; fi',
    );
    const run = await runJson([...untilArgs(agent), "--steps", "-"], {
      cwd,
      input: "- look\n- [x] gone\n- do it\n",
    });
    expect(run.code).toBe(0);
    expect(stateOf(cwd)).toMatchObject({
      steps: ["look", "do it"],
      completedSteps: ["look", "do it"],
      iteration: 2,
    });
    expect(turnsOf(cwd).map(({ env }) => env.LOOP_ROLE)).toEqual(["generator", "generator"]);
  });

  test("B6 several steps and no check: a planning turn proposes both, and G1 accepts them", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const plan =
      'STEPS: ["make one.txt", "make two.txt"]\nCHECKS: ["one=test -f one.txt", "two=test -f two.txt", "one=true"]';
    const agent = makeAgent(
      cwd,
      `[ "$LOOP_KIND" = plan ] && { report false open '${plan}'; exit; }`,
      "if [ -f one.txt ]; then touch two.txt; report true; else touch one.txt; report false; fi",
    );
    const words =
      "Add one.txt and add two.txt. No new dependencies. All tests pass. Done when both are there.";
    const first = await runLoop(["until", "--yes", "--agent-cmd", agent, words], { cwd });
    expect(first.code).toBe(6);
    expect(first.stderr).toMatch(/^There is no check that can prove the end\. The agent will propose checks/);
    expect(first.stdout).toContain("Steps: planned first");
    expect(first.stdout).toMatch(
      /\nG1: Decomposed into 2 steps\. Proceed\?\n {2}1\. make one\.txt\n {2}2\. make two\.txt\n {2}check proposed by the agent: one: `test -f one\.txt` exits 0\n {2}check proposed by the agent: two: .*\nAnswer: loop approve \w{8} \| loop reject/,
    );
    expect(turnsOf(cwd).map(({ env }) => `${env.LOOP_KIND} ${env.LOOP_ROLE}`)).toEqual(["plan planner"]);
    await runHere(["approve"], { cwd });
    const rest = await runJson(["continue"], { cwd });
    expect(rest.code).toBe(0);
    expect(rest.end).toMatchObject({
      iterations: 2,
      criteria: [
        { name: "one", met: true },
        { name: "two", met: true },
      ],
    });
  });
});

describe("B14 B9 B4 how it is told to run", () => {
  test("--dry-run shows the score and the checks, runs nothing and writes nothing", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = worker(cwd);
    const { code, stdout } = await runLoop([...untilArgs(agent), "--dry-run"], { cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^The spec scores 9 of 10:\n[\s\S]*\nWould start: tool, workflow A, type 2B\n {2}check done: `sh check\.sh` exits 0\n {2}1 step\n$/,
    );
    expect({ turns: turnsOf(cwd), files: existsSync(join(cwd, ".loop")) }).toEqual({
      turns: [],
      files: false,
    });
  });

  test("--detach creates it and returns; continue runs it", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const made = await runJson([...untilArgs(worker(cwd)), "--detach"], { cwd });
    expect(made.lines).toEqual([{ type: "loop.created", loop: expect.stringMatching(ID) }]);
    expect({ turns: turnsOf(cwd), status: (await statusOf(cwd))?.status }).toEqual({
      turns: [],
      status: "in_progress",
    });
    expect((await runJson(["continue"], { cwd })).code).toBe(0);
  });

  test("--prompt-file is a part of the spec and never of a shell", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    writeFileSync(join(dirname(cwd), "issue.md"), "Title: $(touch pwned) `touch pwned`; touch pwned\n");
    const args = untilArgs(worker(cwd), "--prompt-file", "../issue.md", "--steps", "-");
    const run = await runJson(args, { cwd, input: "do it" });
    expect(run.code).toBe(0);
    expect(stateOf(cwd).spec).toBe(`${SPEC}\nTitle: $(touch pwned) \`touch pwned\`; touch pwned`);
    expect(existsSync(join(cwd, "pwned"))).toBe(false);
    expect(turnsOf(cwd)[0]?.prompt).toContain("> Title: $(touch pwned)");
  });

  test("--context: continue resumes, fresh hands over without a memory", async ({ onTestFinished }) => {
    const prompts = [];
    for (const context of ["continue", "fresh"]) {
      const cwd = makeRepository(onTestFinished);
      const run = await runJson(untilArgs(idler(cwd), "--context", context, "--iterations", "2"), { cwd });
      expect(run.code).toBe(3);
      prompts.push(turnsOf(cwd)[1]?.prompt ?? "");
    }
    expect(prompts[0]).toMatch(/^\[LOOP RESUME\]\n/);
    expect(prompts[1]).toMatch(/^(?!\[LOOP RESUME\])/);
    for (const prompt of prompts) expect(prompt).toContain("# The spec, word for word");
  });

  test("B9 proved without a signal: one more turn says so; --yes then ends with a note, --exit-on proof needs none", async ({
    onTestFinished,
  }) => {
    const silent = makeRepository(onTestFinished);
    const yes = await runJson(untilArgs(makeAgent(silent, "touch done.txt"), "--yes"), { cwd: silent });
    expect({ code: yes.code, iterations: yes.end.iterations }).toEqual({ code: 0, iterations: 2 });
    expect(stateOf(silent).end?.notes).toEqual(["the agent never signalled the end"]);
    expect(turnsOf(silent)[1]?.prompt).toContain("Every criterion is proved now.");
    const proof = makeRepository(onTestFinished);
    const once = await runLoop(untilArgs(makeAgent(proof, "touch done.txt"), "--exit-on", "proof"), {
      cwd: proof,
    });
    expect(once.code).toBe(0);
    expect(once.stdout).toContain("  ✓ done\n\n<loop-complete>");
    expect(turnsOf(proof)).toHaveLength(1);
  });

  test("B14 --gate-timeout takes the default answer: approve goes on by itself, reject pauses with 6", async ({
    onTestFinished,
  }) => {
    const env = { LOOP_SHAPE: "colleague" };
    const yes = makeRepository(onTestFinished);
    const flags = ["--gate-timeout", "300ms", "--gate-default"];
    const approved = await runJson(untilArgs(worker(yes), ...flags, "approve"), { cwd: yes, env });
    expect({ code: approved.code, gates: gatesIn(approved.lines) }).toEqual({ code: 0, gates: ["G1", "G3"] });
    const no = makeRepository(onTestFinished);
    const rejected = await runLoop(untilArgs(worker(no), ...flags, "reject"), { cwd: no, env });
    expect(rejected.code).toBe(6);
    expect(rejected.stdout).toMatch(/\nWithout an answer by .*: no\n/);
    expect(rejected.stdout).toContain("[LOOP] ⏸ Paused: nobody answered in time, so the plan was rejected");
    expect(turnsOf(no)).toEqual([]);
  });

  test("B4 --reversibility 1: a second agent looks, and --yes is not the person's yes", async ({
    onTestFinished,
  }) => {
    const cwd = makeRepository(onTestFinished);
    const agent = makeAgent(
      cwd,
      '[ "$LOOP_KIND" = precheck ] && { verdict REJECT "there is no backup"; exit; }',
      "touch done.txt",
      "report true",
    );
    const first = await runLoop(untilArgs(agent, "--reversibility", "1", "--yes"), { cwd });
    expect(first.code).toBe(6);
    expect(first.stdout).toContain(
      "pre-check: This change is hard to undo. Continue?\n  A second agent objects: there is no backup\n",
    );
    expect(turnsOf(cwd).map(({ env }) => `${env.LOOP_KIND} ${env.LOOP_ROLE}`)).toEqual(["precheck judge"]);
    await runHere(["approve", "there", "is", "one"], { cwd });
    const rest = await runJson(["continue"], { cwd });
    expect(rest.code).toBe(0);
    expect(turnsOf(cwd)[1]?.prompt).toContain("A person said yes: there is one");
  });

  test("B4 2A keeps the files from before any work, 2B those after each iteration as well", async ({
    onTestFinished,
  }) => {
    for (const [type, refs] of [
      ["2A", 1],
      ["2B", 2],
    ] as const) {
      const cwd = makeRepository(onTestFinished);
      expect((await runJson(untilArgs(worker(cwd), "--reversibility", type), { cwd })).code).toBe(0);
      const found = git(cwd, "for-each-ref", "refs/loopwright").trim().split("\n");
      expect(found, type).toHaveLength(refs);
    }
  });
});

function gatesIn(lines: readonly Record<string, unknown>[]): unknown[] {
  return lines.filter(({ type }) => type === "gate").map(({ gate }) => (gate as { kind: string }).kind);
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
