/**
 * The engine's tools in the real Claude Code, headless and from the command as a user types it: what the model says
 * through them counts as what it could have written, and no more.
 */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import { loadPrd } from "../../../src/store/files/prd-file.ts";
import { makeBacklog, trust } from "../../support/backlog/backlog-cli.ts";
import {
  CLAUDE,
  claudeEnv,
  expectClaude,
  isClaudeMissing,
  isClaudeRequired,
  whyMissing,
} from "../../support/claude/claude-client.ts";
import {
  type Asked,
  type Reply,
  type Script,
  type ScriptedModel,
  slow,
  startScriptedModel,
} from "../../support/claude/scripted-model.ts";
import { create, leftovers, listOf, runLoop, startLoop } from "../../support/cli.ts";
import { CHECK, makeRepository, runJson, SPEC, stateOf, statusOf } from "../../support/goals/goal-cli.ts";
import { report, say, verdict, write } from "../../support/goals/goal-replies.ts";
import { until } from "../../support/until.ts";

/** The client takes a second a turn, and several where the machine is busy. */
const TEST_MS = 60_000;
const WAIT_MS = 40_000;

test.skipIf(!isClaudeRequired)("the client is there when it is required", expectClaude);

describe.skipIf(isClaudeMissing)(`tools over HTTP in the real Claude Code (E3)${whyMissing}`, () => {
  test(
    "B7 B10 a claim by loop_report needs no nonce and no block in the answer; saying so is no work",
    async (context) => {
      const { cwd, env, model } = await claudeIn(context, makeRepository(context.onTestFinished), (path) => [
        tool("loop_report", { exit_signal: true, criteria: { done: true } }),
        say("I am done."),
        write(path("done.txt")),
        tool("loop_report", { exit_signal: true, criteria: { done: true } }),
        say("Now I am."),
      ]);
      const run = await runJson(["until", "--yes", ...CHECK, "--agent", "claude", SPEC], { cwd, env });
      expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
      expect(run.end).toMatchObject({ status: "done", iterations: 2 });
      expect(stateOf(cwd).receipts).toMatchObject([
        { claimedExit: true, toolCalls: 0 },
        { claimedExit: true, toolCalls: 1 },
      ]);
      expect(resultsOf(model.asked.at(-1)).at(-1)).toContain("as a claim");
      // the others are behind the search of the client: they cost nothing in each request
      expect(ours(model)).toEqual(["loop_report"]);
      expect(leftovers(cwd)).toEqual([]);
    },
    TEST_MS,
  );

  test(
    "A15 A17 a fire of a self-paced task is given Wakeup, and what it schedules is seen at once",
    async (context) => {
      const { cwd, env, model } = await claudeIn(context, makeRepository(context.onTestFinished), () => [
        tool("Wakeup", { delaySeconds: 1_200, reason: "the build takes that long" }),
        // found by its name, as the client's search would find it
        tool("CronCreate", { cron: "0 9 * * *", prompt: "look again" }),
        say("I have looked."),
      ]);
      await create(cwd, "auto", "watch the release");
      const up = startLoop(["up", "--agent", "claude"], { cwd, env }, context.onTestFinished);
      await up.line(/(✓ ok|✗ failed)/, WAIT_MS);
      up.signal("SIGTERM");
      expect(await up.ended).toBe(0);
      expect(ours(model)).toEqual(["Wakeup"]);
      const { tasks } = await listOf(cwd);
      expect(tasks.map(({ prompt }) => prompt).sort()).toEqual(["look again", "watch the release"]);
      const next = tasks.find(({ prompt }) => prompt === "watch the release")?.nextFireAt;
      expect(Date.parse(next ?? "") - Date.now()).toBeGreaterThan(1_100_000);
      expect(leftovers(cwd)).toEqual([]);
    },
    TEST_MS,
  );

  test(
    "H1 B10 a turn whose runner was killed goes on without the tools, and its last message counts",
    async (context) => {
      const words = slow("I go on. Now.", {
        words: 1,
        calls: [{ name: "mcp__loopwright__loop_report", input: { exit_signal: true } }],
      });
      const { cwd, env, model } = await claudeIn(context, makeRepository(context.onTestFinished), (path) => [
        write(path("done.txt")),
        words,
        report(true),
      ]);
      const begin = ["until", "--json", "--yes", ...CHECK, "--agent", "claude", SPEC];
      const runner = startLoop(begin, { cwd, env }, context.onTestFinished);
      await model.asks(2);
      runner.signal("SIGKILL");
      await runner.ended;
      const next = startLoop(["continue", "--json"], { cwd, env }, context.onTestFinished);
      await until(async () => (await statusOf(cwd))?.owner != null, "another has taken over", WAIT_MS);
      words.release();
      expect(await next.ended, next.output.stderr).toBe(0);
      expect(stateOf(cwd).receipts).toMatchObject([{ charged: true, claimedExit: true, failure: null }]);
      expect(resultsOf(model.asked.at(-1)).at(-1)).not.toContain("as a claim");
      expect(model.asked).toHaveLength(3);
    },
    TEST_MS,
  );

  test(
    "C5 C6 an evaluator gives its verdict by loop_verdict, and a generator cannot",
    async (context) => {
      const stories = [1, 2].map((n) => ({ n, dependsOn: [] }));
      const cwd = makeBacklog({ stories, finish: context.onTestFinished });
      const make = (n: number, comment = ""): Reply => {
        const solution = readFileSync(join(dirname(cwd), "solutions", `US-00${n}.mjs`), "utf8");
        const input = { file_path: join(cwd, `src/f${n}.mjs`), content: `${comment}${solution}` };
        return { kind: "tool", name: "Write", input };
      };
      const { env, model } = await claudeIn(context, cwd, () => [
        tool("loop_verdict", { verdict: "PASS" }),
        ...[make(1), say("made f1")],
        ...[tool("loop_verdict", { verdict: "REJECT", reason: "f1 has no comment" }), say("I have said it.")],
        ...[make(1, "// f1\n"), say("made f1 again")],
        ...[tool("loop_verdict", { verdict: "PASS" }), say("It is good now.")],
        // the second story: by tool and by tag it says two things, and then one
        ...[make(2), say("made f2")],
        ...[tool("loop_verdict", { verdict: "REJECT", reason: "no" }), verdict],
        ...[make(2, "// f2\n"), say("made f2 again")],
        ...[tool("loop_verdict", { verdict: "PASS" }), verdict],
      ]);
      await trust(cwd);
      const run = await runLoop(["backlog", "run", "--agent", "claude"], { cwd, env });
      expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: expect.any(String) });
      expect(resultsOf(model.asked[1])).toEqual([expect.stringContaining("No such tool available")]);
      const [first, second] = loadPrd(cwd)?.prd.stories ?? [];
      expect([first, second]).toMatchObject(Array(2).fill({ passes: true, rejections: 1 }));
      expect(first?.notes).toContain("[REJECTED] f1 has no comment");
      expect(second?.notes).toContain("[REJECTED] the evaluator said both PASS and REJECT");
      expect(leftovers(cwd)).toEqual([]);
    },
    TEST_MS,
  );
});

const tool = (name: string, input: object): Reply => ({
  kind: "tool",
  name: `mcp__loopwright__${name}`,
  input,
});

/** The tools of ours that the model was told of in its first request, in the order of their names. */
function ours({ asked }: ScriptedModel): readonly string[] {
  const names = asked[0]?.tools.filter((name) => name.startsWith("mcp__loopwright__")) ?? [];
  return names.map((name) => name.slice("mcp__loopwright__".length)).sort();
}

function resultsOf(asked: Asked | undefined): readonly string[] {
  return asked?.messages.flatMap(({ results }) => results) ?? [];
}

/** The client on the PATH of the user of a repository, and a model that replies as told. */
async function claudeIn(
  { onTestFinished }: TestContext,
  cwd: string,
  scripts: (path: (name: string) => string) => readonly [Script, ...Script[]],
) {
  const base = dirname(cwd);
  symlinkSync(CLAUDE, join(base, "bin", "claude"));
  const temporary = join(base, "tmp");
  mkdirSync(temporary);
  const model = await startScriptedModel(...scripts((name) => join(cwd, name)));
  onTestFinished(() => model.close());
  return { cwd, model, env: claudeEnv(model.url, temporary) };
}
