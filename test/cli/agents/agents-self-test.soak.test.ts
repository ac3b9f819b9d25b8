/** `loop agents test`: four real turns with agents that can do it, and with some that cannot. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import { acpWorker, promptsTo } from "../../support/acp/acp-worker.ts";
import { expectSelfTest } from "../../support/agents/self-test.ts";
import {
  expectWorld,
  isWorldMissing,
  isWorldRequired,
  whyWorldMissing,
} from "../../support/agents/worlds.ts";
import { hashTree, leftovers, makeProject, type RunOptions, runLoop, startLoop } from "../../support/cli.ts";
import { until } from "../../support/until.ts";

interface SelfTest {
  readonly version: number;
  readonly agent: string;
  readonly ok: boolean;
  readonly steps: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly needed: boolean;
    readonly detail: string;
    readonly ms: number;
  }[];
}

const ANSWERS = "answers";
const USED = "says what it used";
const GOES_ON = "goes on with a conversation";
const WRITES = "writes a file";
const STOPPED = "is stopped";

/** Its folder for the turns is made where a test can see whether it is gone. */
function place(finish: TestContext["onTestFinished"]): RunOptions & { readonly env: Record<string, string> } {
  const cwd = makeProject(finish);
  const TMPDIR = join(dirname(cwd), "tmp");
  mkdirSync(TMPDIR);
  return { cwd, env: { TMPDIR } };
}

async function selfTest(args: readonly string[], options: RunOptions) {
  const { code, stdout, stderr } = await runLoop(["agents", "test", ...args, "--json"], options);
  const result = JSON.parse(stdout) as SelfTest;
  return { code, stderr, result, failed: result.steps.filter(({ ok }) => !ok) };
}

const leftIn = ({ env }: RunOptions) =>
  readdirSync(env?.TMPDIR ?? "").filter((name) => name.startsWith("loopwright"));

describe("loop agents test (E3)", () => {
  test("E3 an agent that does all of it: 0, in a folder that is gone after it", async ({
    onTestFinished,
  }) => {
    const options = place(onTestFinished);
    const before = hashTree(options.cwd);
    const { code, stderr, result } = await selfTest(["--agent-acp", acpWorker()], options);
    expect({ code, stderr, ok: result.ok, version: result.version }).toEqual({
      code: 0,
      stderr: "",
      ok: true,
      version: 1,
    });
    expect(result.steps.map(({ name, ok }) => [name, ok])).toEqual(
      [ANSWERS, USED, GOES_ON, WRITES, STOPPED].map((name) => [name, true]),
    );
    for (const { ms } of result.steps) expect(Number.isInteger(ms), `${ms}`).toBe(true);
    expect(promptsTo(options.cwd)).toHaveLength(4);
    expect(hashTree(options.cwd), "the project is not touched").toBe(before);
    expect(leftIn(options)).toEqual([]);
  });

  test("F1 people get a line for each step, and a sentence at the end", async ({ onTestFinished }) => {
    const { code, stdout, stderr } = await runLoop(
      ["agents", "test", "--agent-acp", acpWorker()],
      place(onTestFinished),
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ok {3}answers \(\d+\.\ds\)\nok {3}says what it used: 100 tokens in, 10 out, no cost\nok {3}goes on/,
    );
    expect(stderr).toMatch(
      /^Testing exec .* with four short turns\. [\s\S]*This agent works with loops\.\n$/,
    );
  });

  test("E3 one that says done and writes no file fails, and the other turns are taken", async ({
    onTestFinished,
  }) => {
    const { code, result, failed } = await selfTest(
      ["--agent-acp", acpWorker("idle")],
      place(onTestFinished),
    );
    expect({ code, ok: result.ok, steps: result.steps.length }).toEqual({ code: 1, ok: false, steps: 5 });
    expect(failed).toMatchObject([
      { name: WRITES, needed: true, detail: "hello.txt is missing or does not contain the word" },
    ]);
  });

  test("E3 one that hears no cancel is ended all the same, and nothing of it is left", async ({
    onTestFinished,
  }) => {
    const options = place(onTestFinished);
    const { code, failed } = await selfTest(["--agent-acp", acpWorker("deaf")], options);
    expect({ code, failed }).toEqual({ code: 0, failed: [] });
    expect(leftovers(options.cwd)).toEqual([]);
  });

  test("E3 B13 one that is not logged in is asked once, and the person is told what to do", async ({
    onTestFinished,
  }) => {
    const options = place(onTestFinished);
    const args = ["agents", "test", "--agent-acp", acpWorker("stranger")];
    const { code, stdout, stderr } = await runLoop(args, options);
    expect({ code, lines: stdout.trimEnd().split("\n").length }).toEqual({ code: 1, lines: 1 });
    expect(stdout).toMatch(/^FAIL answers .*: auth: .*Authentication required/);
    expect(stderr).toContain("This agent does not work with loops. Start it once by itself to log in.");
  });

  test("E3 a command has neither usage nor conversation, which loops do without", async ({
    onTestFinished,
  }) => {
    const options = place(onTestFinished);
    const script = join(dirname(options.cwd), "agent.sh");
    writeFileSync(
      script,
      'prompt=$(cat)\ncase $prompt in Write*) echo "$prompt" > hello.txt;; esac\necho "$prompt"\n',
    );
    const args = ["--agent-cmd", 'sh "$HOME/../agent.sh"'];
    const { code, result, failed } = await selfTest(args, options);
    expect({ code, ok: result.ok }).toEqual({ code: 0, ok: true });
    expect(failed.map(({ name, needed }) => [name, needed])).toEqual([
      [USED, false],
      [GOES_ON, false],
    ]);
    const { stdout, stderr } = await runLoop(["agents", "test", ...args], options);
    expect(stdout).toContain("\n--   goes on with a conversation: every turn starts a new conversation");
    expect(stderr).toContain("This agent works with loops, without the steps marked --.");
  });

  test("E3 a command line that does not start is said with what the shell said", async ({
    onTestFinished,
  }) => {
    const { code, failed } = await selfTest(["--agent-acp", "no-such-agent"], place(onTestFinished));
    expect(code).toBe(1);
    expect(failed).toMatchObject([{ name: ANSWERS, detail: expect.stringContaining("no-such-agent") }]);
  });

  test.each([["SIGINT"], ["SIGTERM"]] as const)(
    "F1 %s in the middle of a turn: 130, and nothing is left behind",
    async (signal) => {
      const cwd = makeProject();
      const TMPDIR = join(dirname(cwd), "tmp");
      mkdirSync(TMPDIR);
      const env = { TMPDIR };
      const args = ["agents", "test", "--agent-cmd", 'touch "$HOME/../hanging"; sleep 600 & wait'];
      const run = startLoop(args, { cwd, env });
      await until(() => readdirSync(dirname(cwd)).includes("hanging"), "the agent is in its turn");
      run.signal(signal);
      expect(await run.ended).toBe(130);
      expect(run.output).toEqual({ stdout: "", stderr: expect.stringMatching(/Stopped\.\n$/) });
      expect({ left: leftovers(cwd), files: leftIn({ cwd, env }) }).toEqual({ left: [], files: [] });
    },
  );

  test("F1 SIGINT while an agent that stays is in its turn ends it too", async ({ onTestFinished }) => {
    const options = place(onTestFinished);
    const run = startLoop(
      ["agents", "test", "--agent-acp", acpWorker("deaf", "mute")],
      options,
      onTestFinished,
    );
    await until(() => promptsTo(options.cwd).length > 0, "the agent is in its turn");
    run.signal("SIGINT");
    expect(await run.ended).toBe(130);
    expect({ left: leftovers(options.cwd), files: leftIn(options) }).toEqual({ left: [], files: [] });
  });

  test("E3 without a name it is the agent of the project's settings", async ({ onTestFinished }) => {
    const options = place(onTestFinished);
    mkdirSync(join(options.cwd, ".loop"));
    writeFileSync(join(options.cwd, ".loop", "config.json"), '{"agent": ["qwen", "pi"]}');
    const { code, stderr } = await runLoop(["agents", "test"], options);
    expect([code, stderr]).toEqual([
      1,
      "loop: No agent was found: none of qwen, pi is installed.\n  See: loop agents\n",
    ]);
  });

  test.each([
    [["frob"], 64, /no agent is called "frob"; known: claude, codex, /],
    [[""], 64, /no agent is called ""/],
    [["codex:rpc"], 64, /codex has no such driver; known: codex:acp, codex:stream/],
    [["codex", "--agent", "pi"], 64, /^loop: The agent is named twice\.\n/],
    [["codex", "--agent-acp", "x"], 64, /^loop: The agent is named twice\.\n/],
    [["--agent-cmd", "x", "--agent-acp", "x"], 64, /--agent-cmd and --agent-acp cannot be used together/],
    [["--agent-acp", " "], 64, /--agent-acp is empty/],
    [["codex", "pi"], 64, /Too many arguments/],
    [["codex"], 1, /`codex-acp` or `codex` is not on the PATH\.\n {2}Install Codex \(npm install -g/],
  ])("H5 %j is refused before any turn", async (args, code, said) => {
    const result = await runLoop(["agents", "test", ...args], { cwd: makeProject() });
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: "" });
    expect(result.stderr).toMatch(said);
    expect(result.stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
  });
});

test.skipIf(!isWorldRequired("pi"))("pi is there when it is required", () => expectWorld("pi"));

describe.skipIf(isWorldMissing("pi"))(
  `loop agents test with the real pi (E3)${whyWorldMissing("pi")}`,
  () => {
    test(
      "E3 pi does all that loops need",
      ({ onTestFinished }) => expectSelfTest("pi", "pi", onTestFinished),
      120_000,
    );
  },
);
