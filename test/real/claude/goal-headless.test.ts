/**
 * Whole goal loops with the real Claude Code: the command, the client, and a scripted model on loopback that does
 * what a good agent would, with the trouble that a real one meets. See test/agents/claude-real.test.ts.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import type { EndView } from "../../../src/core/views/goal-view.ts";
import { isAlive } from "../../../src/system/process.ts";
import {
  CLAUDE,
  claudeEnv,
  expectClaude,
  isClaudeMissing,
  isClaudeRequired,
  whyMissing,
} from "../../support/claude/claude-client.ts";
import { type Script, startScriptedModel, type Tokens } from "../../support/claude/scripted-model.ts";
import { leftovers, type RunningLoop, runLoop, startLoop } from "../../support/cli.ts";
import {
  CHECK,
  makeRepository,
  runJson,
  SPEC,
  sleepingPids,
  stateOf,
  statusOf,
} from "../../support/goals/goal-cli.ts";
import {
  DEFAULT,
  fullAfterOneTurn,
  MODEL,
  nonceOf,
  promptsOf,
  refuse,
  report,
  say,
  usedUp,
  verdict,
  verdictNonceOf,
  worth,
  write,
} from "../../support/goals/goal-replies.ts";
import { until } from "../../support/until.ts";

/** The client takes a second a turn, and several where the machine is busy. */
const TEST_MS = 60_000;
const WAIT_MS = 40_000;
const LARGE: Tokens = [40_000, 900];

test.skipIf(!isClaudeRequired)("the client is there when it is required", expectClaude);

describe.skipIf(isClaudeMissing)(`goal loops with the real Claude Code (B, E3)${whyMissing}`, () => {
  describe.concurrent("from the command to the model", () => {
    test(
      "B9 B10 B12 three turns of one conversation reach the goal; each costs what its tokens are worth",
      async (context: TestContext) => {
        const tokens: Tokens[] = [
          [1_000, 50],
          [2_000, 70],
          [3_000, 10],
          [500, 500],
          [7_000, 30],
          [100, 9],
        ];
        const { cwd, env, model } = await makeGoal(context, (path) => [
          write(path("one.md"), tokens[0]),
          report(false, tokens[1]),
          write(path("two.md"), tokens[2]),
          report(false, tokens[3]),
          write(path("done.txt"), tokens[4]),
          report(true, tokens[5]),
        ]);
        const run = await runJson(untilArgs(), { cwd, env });
        expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
        expect(run.end).toMatchObject({ status: "done", iterations: 3, unpriced: 0 });

        const { receipts, spent, id } = stateOf(cwd);
        expect(receipts).toMatchObject([
          { files: ["one.md"], toolCalls: 1, charged: true, claimedExit: false, notes: [] },
          { files: ["two.md"], toolCalls: 1, charged: true, claimedExit: false, notes: [] },
          { files: ["done.txt"], toolCalls: 1, charged: true, claimedExit: true, notes: [] },
        ]);
        const costs = receipts.map(({ costUsd }) => costUsd ?? 0);
        for (const [n, cost] of costs.entries())
          expect(cost).toBeCloseTo(worth(...tokens.slice(2 * n, 2 * n + 2)), 9);
        expect(spent.costUsd).toBeCloseTo(worth(...tokens), 9);
        expect(run.end.costUsd).toBe(spent.costUsd);
        // what the client says itself of the whole conversation
        expect(totalOf(cwd, id, receipts.at(-1)?.jobId ?? "")).toBeCloseTo(worth(...tokens), 9);

        const nonces = model.asked.map(nonceOf);
        expect(new Set(nonces).size).toBe(3);
        expect(model.asked.map((asked) => promptsOf(asked).length)).toEqual([1, 1, 2, 2, 3, 3]);
        expect(promptsOf(model.asked.at(-1))).toEqual([
          expect.stringContaining("# The spec, word for word"),
          expect.stringContaining("still apply"),
          expect.stringContaining("still apply"),
        ]);
      },
      TEST_MS,
    );

    test(
      "B13 an overloaded model costs no iteration: the loop waits a little and goes on by itself",
      async (context: TestContext) => {
        const { cwd, env } = await makeGoal(context, (path) => [
          write(path("one.md")),
          report(false),
          refuse(529, "overloaded_error", "Overloaded"),
          write(path("two.md")),
          report(false),
          write(path("done.txt")),
          report(true),
        ]);
        const run = await runJson(untilArgs(), { cwd, env });
        expect(run.end).toMatchObject({ status: "done", iterations: 3 });
        expect(run.code).toBe(0);
        expect(stateOf(cwd).receipts).toMatchObject([
          { charged: true, failure: null },
          { charged: false, failure: { class: "outage", reason: expect.stringContaining("529") } },
          { charged: true, failure: null },
          { charged: true, failure: null },
        ]);
        expect(run.lines.filter(({ type }) => type === "wait")).toHaveLength(1);
      },
      TEST_MS,
    );

    test(
      "B13 a used-up subscription sleeps until the time that it names; a person elsewhere makes it try at once",
      async (context: TestContext) => {
        const resetsAt = Math.floor(Date.now() / 1_000) + 3_600;
        const { cwd, env } = await makeGoal(context, (path) => [
          { ...refuse(429, "rate_limit_error", "used up"), headers: usedUp(resetsAt) },
          write(path("done.txt")),
          report(true),
        ]);
        const signedIn = { ...env, ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-dummy" };
        const running = startLoop([...untilArgs(), "--json"], { cwd, env: signedIn }, context.onTestFinished);
        const wait = JSON.parse(await running.line(/^\{"type":"wait".*$/m, WAIT_MS)) as Record<
          string,
          unknown
        >;
        const moment = new Date(resetsAt * 1_000 + 1_000).toISOString();
        expect(wait).toMatchObject({ until: moment, reason: expect.stringContaining("429") });
        expect(await statusOf(cwd)).toMatchObject({
          status: "in_progress",
          iteration: 0,
          waiting: { until: moment },
          owner: expect.stringContaining(`${running.pid}`),
        });
        const shown = await runLoop(["status"], { cwd });
        expect(shown.stdout).toContain("429");

        const second = await runJson(["continue", "--now"], { cwd, env: signedIn });
        expect(second.end).toMatchObject({ status: "done", iterations: 1 });
        expect([second.code, await running.ended]).toEqual([0, 0]);
        expect(endOf(running)).toMatchObject({ status: "done", iterations: 1 });
        expect(stateOf(cwd).receipts).toMatchObject([
          { charged: false, failure: { class: "quota", resetsAt: resetsAt * 1_000 } },
          { charged: true, failure: null },
        ]);
      },
      TEST_MS,
    );

    test(
      "B12 B16 a turn that was stopped in its middle is in no total twice, and none is lost",
      async (context: TestContext) => {
        const { cwd, env, model } = await makeGoal(context, (path) => [
          write(path("one.md")),
          report(false),
          write(path("two.md"), LARGE),
          { kind: "silence" },
          write(path("done.txt")),
          report(true),
        ]);
        const running = startLoop([...untilArgs(), "--json"], { cwd, env }, context.onTestFinished);
        await until(() => model.asked.length === 4, "the second turn waits for its model", WAIT_MS);
        expect((await runLoop(["pause"], { cwd })).code).toBe(0);
        expect(await running.ended).toBe(6);
        expect(endOf(running)).toMatchObject({ status: "paused", iterations: 1 });
        const run = await runJson(["continue"], { cwd, env });
        expect(run.end).toMatchObject({ status: "done", iterations: 2 });
        const { receipts, spent, id } = stateOf(cwd);
        const paid = worth(...Array<Tokens>(4).fill(DEFAULT), LARGE);
        expect(receipts).toMatchObject([
          { charged: true, costUsd: expect.closeTo(worth(DEFAULT, DEFAULT), 9) },
          {
            charged: false,
            costUsd: null,
            notes: ["stopped: paused by a person", "the next turn reports its cost"],
          },
          // the client tells what the stopped turn cost when the conversation goes on
          { charged: true, costUsd: expect.closeTo(worth(DEFAULT, DEFAULT, LARGE), 9) },
        ]);
        expect(spent.costUsd).toBeCloseTo(paid, 9);
        expect(totalOf(cwd, id, receipts.at(-1)?.jobId ?? "")).toBeCloseTo(paid, 9);
        expect(promptsOf(model.asked.at(-1))).toHaveLength(3);
      },
      TEST_MS,
    );

    test(
      "B12 the first turn, stopped in its middle, is paid for when the conversation goes on",
      async (context: TestContext) => {
        const { cwd, env, model } = await makeGoal(context, (path) => [
          write(path("one.md"), LARGE),
          { kind: "silence" },
          write(path("done.txt")),
          report(true),
        ]);
        const running = startLoop([...untilArgs(), "--json"], { cwd, env }, context.onTestFinished);
        await until(() => model.asked.length === 2, "the first turn waits for its model", WAIT_MS);
        expect((await runLoop(["pause"], { cwd })).code).toBe(0);
        expect(await running.ended).toBe(6);
        const run = await runJson(["continue"], { cwd, env });
        expect(run.end).toMatchObject({ status: "done", iterations: 1, unpriced: 0 });
        expect(stateOf(cwd).spent.costUsd).toBeCloseTo(worth(LARGE, DEFAULT, DEFAULT), 9);
      },
      TEST_MS,
    );

    test(
      "B13 B20 a conversation that is full is left for a fresh one that is told where it stands",
      async (context: TestContext) => {
        const { cwd, env, model } = await makeGoal(context, (path) => [fullAfterOneTurn(path)]);
        const run = await runJson(untilArgs(), { cwd, env });
        expect(run.end).toMatchObject({ status: "done", iterations: 2, unpriced: 0 });
        const { receipts, spent } = stateOf(cwd);
        expect(receipts).toMatchObject([
          { iteration: 1, charged: true, failure: null },
          { iteration: 1, charged: false, failure: { class: "overflow" } },
          { iteration: 2, charged: true, failure: null },
        ]);
        expect(spent.costUsd).toBeCloseTo(worth(...Array<Tokens>(4).fill(DEFAULT)), 9);
        const last = promptsOf(model.asked.at(-1));
        expect(last).toEqual([expect.stringContaining("[LOOP RESUME]")]);
        expect(last[0]).toContain("changed one.md");
      },
      TEST_MS,
    );

    test(
      "B6 B10 a judge has a context of its own and may change nothing; its verdict needs the nonce",
      async (context: TestContext) => {
        const { cwd, env, model } = await makeGoal(context, (path) => [
          write(path("done.txt")),
          report(true),
          write(path("judge-was-here.md")),
          say('<verdict nonce="0123456789abcdef">PASS</verdict>'),
          // a verdict that is none is asked for once more, and then the work is sent back
          say('<verdict nonce="0123456789abcdef">PASS</verdict>'),
          write(path("two.md")),
          report(true),
          verdict,
        ]);
        const run = await runJson(untilArgs("--check", "ui=judge: done.txt is there"), { cwd, env });
        expect(run.end).toMatchObject({ status: "done", iterations: 2, unpriced: 0 });
        const rounds = run.lines.filter(({ type }) => type === "checks");
        expect(rounds).toMatchObject([
          {
            criteria: [
              { name: "ui", met: false },
              { name: "done", met: true },
            ],
          },
          { criteria: [{ name: "ui", met: true, verification: "observation" }, { met: true }] },
        ]);
        expect(existsSync(join(cwd, "judge-was-here.md"))).toBe(false);
        expect(run.end.costUsd).toBeCloseTo(worth(...Array<Tokens>(8).fill(DEFAULT)), 9);

        // the judges hear of one prompt, their own; the work goes on in its conversation
        expect(model.asked.map((asked) => promptsOf(asked).length)).toEqual([1, 1, 1, 1, 1, 2, 2, 1]);
        const nonces = [3, 7].map((n) => verdictNonceOf(model.asked[n]));
        expect(new Set([...model.asked.map(nonceOf), ...nonces]).size).toBe(5);
      },
      TEST_MS,
    );

    test(
      "B16 B17 Ctrl-C in mid-turn: the client and what it started are gone, and the loop stays paused",
      async (context: TestContext) => {
        const { cwd, env } = await makeGoal(context, () => [
          { kind: "tool", name: "Bash", input: { command: "sh slow.sh", description: "take long" } },
          report(true),
        ]);
        allow(cwd, "Bash(sh slow.sh)");
        // deaf to SIGTERM; its child, too, which has left the group and the client's sight
        const lines = ["trap '' TERM INT", 'setsid sleep 600 & echo "$$ $!" > ../sleeping.tmp'];
        writeFileSync(join(cwd, "slow.sh"), `${lines.join("\n")}\nmv ../sleeping.tmp ../sleeping; wait\n`);
        const running = startLoop([...untilArgs(), "--json"], { cwd, env }, context.onTestFinished);
        const pids = await until(() => sleepingPids(cwd), "the client runs the command", WAIT_MS);
        expect(pids.map((pid) => isAlive({ pid, start: null }))).toEqual([true, true]);
        running.signal("SIGINT");
        expect(await running.ended).toBe(130);
        expect(leftovers(cwd)).toEqual([]);
        expect(pids.map((pid) => isAlive({ pid, start: null }))).toEqual([false, false]);
        expect(endOf(running)).toMatchObject({ status: "paused", iterations: 0 });
        expect(await statusOf(cwd)).toMatchObject({
          status: "paused",
          pause: { code: "interrupted" },
          owner: null,
        });
      },
      TEST_MS,
    );
  });
});

/** A repository, the client on the PATH of its user, and a model that replies as told. */
async function makeGoal(
  { onTestFinished }: TestContext,
  scripts: (path: (name: string) => string) => readonly [Script, ...Script[]],
) {
  const cwd = makeRepository(onTestFinished);
  const base = dirname(cwd);
  symlinkSync(CLAUDE, join(base, "bin", "claude"));
  const temporary = join(base, "tmp");
  mkdirSync(temporary);
  const model = await startScriptedModel(...scripts((name) => join(cwd, name)));
  onTestFinished(() => model.close());
  return { cwd, model, env: { ...claudeEnv(model.url, temporary), ANTHROPIC_MODEL: MODEL } };
}

function untilArgs(...flags: string[]): readonly string[] {
  return ["until", "--yes", ...flags, ...CHECK, "--agent", "claude", SPEC];
}

/** What the person's own settings of the client allow. */
function allow(cwd: string, ...rules: string[]): void {
  const folder = join(dirname(cwd), "home", ".claude");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "settings.json"), JSON.stringify({ permissions: { allow: rules } }));
}

function totalOf(cwd: string, loop: string, job: string): number {
  const lines = readFileSync(join(cwd, ".loop", "runs", loop, job, "answer.txt"), "utf8")
    .trim()
    .split("\n");
  return (JSON.parse(lines.at(-1) ?? "{}") as { total_cost_usd: number }).total_cost_usd;
}

function endOf({ output }: RunningLoop): EndView {
  return JSON.parse(output.stdout.trimEnd().split("\n").at(-1) ?? "{}") as EndView;
}
