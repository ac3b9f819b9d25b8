/** Which agent takes the turns: flags, settings, what is installed; and `--agent-acp` wherever turns are taken. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, type TestContext, test } from "vitest";
import { acpWorker, promptsTo } from "../../support/acp/acp-worker.ts";
import { startModel } from "../../support/agents/model.ts";
import { isWorldMissing, makeWorld, whyWorldMissing } from "../../support/agents/worlds.ts";
import { makeBacklog, readLines, trust } from "../../support/backlog/backlog-cli.ts";
import { create, hashTree, leftovers, makeProject, runLoop, startLoop } from "../../support/cli.ts";
import {
  CHECK,
  installClaude,
  makeRepository,
  runJson,
  SPEC,
  stateOf,
} from "../../support/goals/goal-cli.ts";
import { report } from "../../support/goals/goal-replies.ts";
import { runHere } from "../../support/here.ts";
import { hasTmux, openTerminal } from "../../support/tmux.ts";
import { until } from "../../support/until.ts";

function writeConfig(cwd: string, config: object): void {
  mkdirSync(join(cwd, ".loop"), { recursive: true });
  writeFileSync(join(cwd, ".loop", "config.json"), JSON.stringify(config));
}

/** Stories whose check is a file, which acp-worker.mjs writes. */
const fileStories = (finish: TestContext["onTestFinished"], ...numbers: number[]) =>
  makeBacklog({
    stories: numbers.map((n) => ({ n, dependsOn: [] })),
    check: (n) => `test -f US-00${n}.txt`,
    finish,
  });

describe("--agent-acp, wherever turns are taken (E3)", () => {
  test("E3 loop until: the goal is worked on, proved, and its agent is gone", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    const run = await runJson(["until", "--yes", ...CHECK, "--agent-acp", acpWorker(), SPEC], { cwd });
    expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
    expect(run.end).toMatchObject({ status: "done", iterations: 1 });
    expect(stateOf(cwd).receipts).toMatchObject([
      { files: ["done.txt"], inputTokens: 100, outputTokens: 10 },
    ]);
    expect(leftovers(cwd)).toEqual([]);
  });

  test("E3 loop up: a fire goes to it, and its answer is shown", async ({ onTestFinished }) => {
    const cwd = makeProject(onTestFinished);
    await create(cwd, "5m", "look around");
    const up = startLoop(["up", "--agent-acp", acpWorker()], { cwd });
    await up.line(/I did it\.\n.*✓ ok/);
    up.signal("SIGTERM");
    expect({ code: await up.ended, stderr: up.output.stderr }).toEqual({
      code: 0,
      stderr: "SIGTERM: stopping.\n",
    });
    expect(up.output.stdout).toMatch(/^Agent: acp$/m);
    expect(promptsTo(cwd)).toEqual([expect.stringContaining("look around")]);
    expect(leftovers(cwd)).toEqual([]);
  });

  test.skipIf(!hasTmux)("E3 loop run: here in the terminal, with its answer", async ({ onTestFinished }) => {
    const cwd = makeProject(onTestFinished);
    const { id } = await create(cwd, "5m", "look around", "--no-now");
    const terminal = openTerminal(cwd);
    await terminal.sees(/\$/);
    const before = leftovers(cwd).length;
    terminal.run(`NO_COLOR=1 loop run ${id} --agent-acp '${acpWorker()}'; echo code=$?`);
    await terminal.sees(/I did it\.\n[\s\S]*code=0\n\$$/);
    await until(() => leftovers(cwd).length <= before, "only the terminal is left", 3_000);
  });

  test("E3 loop backlog run: generator and evaluator, each in a conversation of its own", async ({
    onTestFinished,
  }) => {
    const cwd = fileStories(onTestFinished, 1);
    await trust(cwd);
    const { code, stdout, stderr } = await runLoop(["backlog", "run", "--json", "--agent-acp", acpWorker()], {
      cwd,
    });
    expect(readLines(stdout).end, stderr).toMatchObject({ status: "done", passed: 1, iterations: 1 });
    expect([code, promptsTo(cwd).length]).toEqual([0, 2]);
    expect(leftovers(cwd)).toEqual([]);
  });

  test("E3 H2 agents.generator.agentAcp runs only when it was trusted, and trust shows it", async ({
    onTestFinished,
  }) => {
    const cwd = fileStories(onTestFinished, 1);
    await trust(cwd);
    const role = { agentAcp: acpWorker() };
    writeConfig(cwd, { agents: { generator: role, evaluator: role } });
    const refused = await runLoop(["backlog", "run"], { cwd });
    expect([refused.code, promptsTo(cwd)]).toEqual([1, []]);
    expect(refused.stderr).toContain("loop trust");
    const shown = await runHere(["trust", "--yes"], { cwd });
    expect(shown.stdout).toContain("agents.generator\n    runs:   exec ");
    const run = await runLoop(["backlog", "run", "--json"], { cwd });
    expect(readLines(run.stdout).end, run.stderr).toMatchObject({ status: "done", passed: 1 });
  });

  test("E3 B1 loop score --score-with agent: its score, and nothing of it is left", async ({
    onTestFinished,
  }) => {
    const cwd = makeProject(onTestFinished);
    const args = ["score", "--score-with", "agent", "--agent-acp", acpWorker(), "--json", "fix it"];
    const { code, stdout, stderr } = await runLoop(args, { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ total: 10, shape: "tool" });
    await until(() => leftovers(cwd).length === 0, "nothing is left of it", 3_000);
    expect(existsSync(join(cwd, ".loop"))).toBe(false);
  });

  test("E3 B1 without a flag the score is asked of the project's agent", async () => {
    const cwd = makeProject();
    writeConfig(cwd, { agent: "qwen" });
    const { code, stderr } = await runLoop(["score", "--score-with", "agent", "fix it"], { cwd });
    expect([code, stderr]).toEqual([1, expect.stringContaining("`qwen` is not on the PATH")]);
  });

  test("E3 C14 loop backlog plan: its stories, and nothing of it is left", async ({ onTestFinished }) => {
    const cwd = makeRepository(onTestFinished);
    writeFileSync(join(cwd, "SPEC.md"), "Do it.\n");
    const args = ["backlog", "plan", "SPEC.md", "--yes", "--json", "--agent-acp", acpWorker()];
    const { code, stdout, stderr } = await runLoop(args, { cwd });
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: expect.stringContaining("US-001") });
    expect(existsSync(join(cwd, ".loop", "prd.json"))).toBe(true);
    await until(() => leftovers(cwd).length === 0, "nothing is left of it", 3_000);
  });
});

describe("Ctrl-C while an agent is asked for a score or a plan", () => {
  const HANGS = 'touch "$HOME/../hanging"; sleep 600 & wait';
  const SCORE = ["--score-with", "agent"];

  test.each([
    ["score", ["score", ...SCORE, "fix it"]],
    ["until", ["until", ...SCORE, ...CHECK, SPEC]],
    ["backlog plan", ["backlog", "plan", "SPEC.md", "--yes"]],
  ])("F1 loop %s: 130, and nothing of the agent is left, whatever it is", async (_, words) => {
    for (const agent of [
      ["--agent-cmd", HANGS],
      ["--agent-acp", acpWorker("mute")],
    ]) {
      const cwd = makeRepository();
      writeFileSync(join(cwd, "SPEC.md"), "Do it.\n");
      const isInTurn = () => existsSync(join(dirname(cwd), "hanging")) || promptsTo(cwd).length > 0;
      const run = startLoop([...words, ...agent], { cwd });
      await until(isInTurn, "the agent is in its turn");
      run.signal("SIGINT");
      expect(await run.ended, run.output.stderr).toBe(130);
      expect(leftovers(cwd)).toEqual([]);
    }
  });
});

describe("what is no agent (H5)", () => {
  const COMMANDS = [
    ["until", ...CHECK, SPEC],
    ["up"],
    ["run", "0"],
    ["5m", "look around"],
    ["score", "--score-with", "agent", "fix it"],
    ["backlog", "plan", "SPEC.md", "--yes"],
    ["backlog", "run"],
  ];
  const FLAGS: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ["--agent", "frob"],
      /^loop: --agent: no agent is called "frob"; known: claude, codex, .* --agent-acp '<command>' or --agent-cmd /,
    ],
    [["--agent", "claude,claude"], /^loop: --agent: claude is named twice/],
    [["--agent", "claude,"], /^loop: --agent: no agent is called ""/],
    [["--agent", "pi:acp"], /^loop: --agent: pi has no such driver; known: pi:rpc/],
    [["--agent-acp", ""], /^loop: --agent-acp is empty/],
    [["--agent-cmd", " "], /^loop: --agent-cmd is empty/],
    [["--agent", "pi", "--agent-acp", "x"], /^loop: --agent and --agent-acp cannot be used together/],
    [["--agent-cmd", "x", "--agent-acp", "x"], /^loop: --agent-cmd and --agent-acp cannot be used together/],
  ];

  test.each(COMMANDS.map((command) => [command.slice(0, 2).join(" "), command] as const))(
    "H5 loop %s: wrong flags are refused in a sentence, and nothing is changed",
    async (_, command) => {
      const cwd = command[1] === "run" ? fileStories(onTestFinished, 1) : makeRepository();
      writeFileSync(join(cwd, "SPEC.md"), "Do it.\n");
      const before = hashTree(cwd);
      const said = await Promise.all(FLAGS.map(([flags]) => runLoop([...command, ...flags], { cwd })));
      for (const [index, { code, stdout, stderr }] of said.entries()) {
        const [flags, pattern] = FLAGS[index] ?? [[], /./];
        expect({ flags, code, stdout, stderr }).toEqual({
          flags,
          code: 64,
          stdout: "",
          stderr: expect.stringMatching(pattern),
        });
        expect(stderr.trimEnd().split("\n").length, stderr).toBeLessThanOrEqual(2);
      }
      expect(hashTree(cwd)).toBe(before);
    },
  );

  test.each([
    [{ agent: "frob" }, 'config.json: agent: no agent is called "frob"; known: claude, '],
    [{ agent: [] }, "config.json: agent: no agent is named"],
    [{ agent: 7 }, "config.json: agent: expected the name of an agent, or a list of names"],
    [{ agent: ["pi", "pi"] }, "config.json: agent: pi is named twice"],
    [
      { permissions: { execute: { "npm *": "yes" } } },
      'config.json: permissions: execute "npm *" must be one of ',
    ],
    [{ agents: { generator: { agentAcp: "" } } }, "config.json: agents.generator.agentAcp: it is empty"],
    [
      { agents: { evaluator: { agent: "pi", agentAcp: "x" } } },
      "config.json: agents.evaluator: agent, agentCmd and agentAcp exclude each other",
    ],
  ])("H5 %j in config.json is said with its place, and no turn is taken", async (config, said) => {
    const cwd = makeRepository();
    installClaude(cwd, "touch ../called", "says hello 0");
    writeConfig(cwd, config);
    const { code, stderr } = await runLoop(["until", "--yes", ...CHECK, SPEC], { cwd });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(said) });
    expect(readdirSync(dirname(cwd))).not.toContain("called");
  });

  test.each([
    ["until", ["until", "--yes", ...CHECK, SPEC]],
    ["up", ["up"]],
    ["backlog run", ["backlog", "run"]],
  ])("E3 loop %s: an agent that is not installed is said before anything is written", async (what, words) => {
    const cwd = what === "backlog run" ? fileStories(onTestFinished, 1) : makeRepository();
    if (what === "backlog run") await trust(cwd);
    const { code, stdout, stderr } = await runLoop([...words, "--agent", "codex"], { cwd });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^loop: No agent was found: `codex-acp` or `codex` is not on the PATH\.\n {2}Install Codex/,
    );
    expect(existsSync(join(cwd, ".loop", "journal.jsonl"))).toBe(false);
  });

  test("E3 the flag counts before LOOP_AGENT_CMD, and that before the settings", async () => {
    const cwd = makeRepository();
    writeConfig(cwd, { agent: "qwen" });
    const args = ["until", "--yes", ...CHECK, SPEC];
    const env = { LOOP_AGENT_CMD: "exit 77" };
    const typed = await runJson([...args, "--agent-acp", acpWorker()], { cwd, env });
    expect(typed.end.status).toBe("done");
    const byEnv = await runLoop(["up", "--for", "1s"], { cwd, env });
    expect(byEnv.stdout).toContain("Agent: command\n");
    const bySettings = await runLoop(["up", "--for", "1s"], { cwd });
    expect([bySettings.code, bySettings.stderr]).toEqual([
      1,
      expect.stringContaining("`qwen` is not on the PATH"),
    ]);
  });
});

describe("several in the settings (E3)", () => {
  const TWICE = "if [ -f one ]; then touch done.txt; else touch one; fi";

  test("E3 one that is not installed is passed over, which is said once; receipts name who worked", async () => {
    const cwd = makeRepository();
    writeConfig(cwd, { agent: ["codex", "claude"] });
    installClaude(cwd, TWICE, "says fixed 0.10");
    const { code, stdout, stderr } = await runLoop(["until", "--yes", ...CHECK, SPEC], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.match(/not installed/g)).toHaveLength(1);
    expect(stdout).toContain("  · codex: not installed; claude takes the turn\n");
    expect(stateOf(cwd).receipts).toMatchObject([{ takenBy: "claude" }, { takenBy: "claude" }]);
  });

  test("E3 loop up: the same, over several fires", async () => {
    const cwd = makeProject();
    writeConfig(cwd, { agent: ["codex", "claude"] });
    installClaude(cwd, "says fixed 0.10");
    await create(cwd, "--exact", "1s", "look around");
    const up = startLoop(["up"], { cwd });
    await up.line(/✓ ok[\s\S]*✓ ok/);
    up.signal("SIGTERM");
    expect(await up.ended).toBe(0);
    expect(up.output.stdout.match(/codex: not installed; claude takes the turn/g)).toHaveLength(1);
  });

  test.skipIf(isWorldMissing("pi"))(
    `E3 ["claude", "pi"] without claude: the real pi does the work${whyWorldMissing("pi")}`,
    async ({ onTestFinished }) => {
      const cwd = makeRepository(onTestFinished);
      const model = await startModel({ kind: "silence" });
      onTestFinished(() => model.close());
      const world = makeWorld("pi", cwd, model.url);
      model.script(world.write(join(cwd, "done.txt")), report(true));
      writeConfig(cwd, { agent: ["claude", "pi"] });
      const { code, stdout, stderr } = await runLoop(["until", "--yes", ...CHECK, SPEC], {
        cwd,
        env: world.env,
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout.match(/claude: not installed; pi takes the turn/g)).toHaveLength(1);
      expect(stateOf(cwd).receipts).toMatchObject([{ takenBy: "pi", files: ["done.txt"] }]);
    },
    120_000,
  );
});
