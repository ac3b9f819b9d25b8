/**
 * What every real agent has to do for a goal, as one table: the built command as a person types it, in a git
 * repository, with the agent's own program and a scripted model. A row is a promise of `loop`; how an agent keeps
 * it differs, and is told by its `Candidate`.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, type TestContext, test } from "vitest";
import type { FailureClass } from "../../../src/core/goal/goal.ts";
import type { EndView } from "../../../src/core/views/goal-view.ts";
import type { Script } from "../claude/scripted-model.ts";
import { kill, leftovers, type RunningLoop, startLoop } from "../cli.ts";
import { CHECK, makeRepository, runJson, SPEC, stateOf, statusOf } from "../goals/goal-cli.ts";
import { promptsOf, report } from "../goals/goal-replies.ts";
import { runHere } from "../here.ts";
import { type AgentModel, type Heard, refusal, resultsSince, startModel } from "./model.ts";
import { commandLine, slowdown } from "./processes.ts";
import {
  expectWorld,
  isWorldMissing,
  isWorldRequired,
  makeWorld,
  type World,
  type WorldName,
  whyWorldMissing,
} from "./worlds.ts";

export interface Candidate {
  readonly world: WorldName;
  /** As it is typed after `--agent`. */
  readonly agent: string;
  /** The command line of its process, which a row kills. */
  readonly process: RegExp;
  /** What the receipt says of these answers of the model's. */
  readonly classes: Readonly<Record<429 | 500 | 401, FailureClass>>;
  /** Its model is told of a denial and goes on; or the turn ends with it. null: it asks for nothing. */
  readonly denied: "told" | "ends" | null;
  /** Tokens in and out of a turn in which the model was asked twice; left out: all of both. */
  readonly tokensOfTwo?: readonly [number | null, number | null];
  /** Makes its conversations look older than they are, where a young one cannot be loaded. */
  readonly age?: (world: World) => void;
  /** It takes the engine's tools over HTTP. */
  readonly takesTools?: true;
  /** How long it tries again by itself before it says that the model is down, where that takes more than seconds. */
  readonly triesAgainMs?: number;
  /** Only where LOOP_TEST_AGENTS=all asks for it. */
  readonly onDemand?: true;
}

/** Agents take seconds to start, and more where the machine is busy. */
const TEST_MS = 120_000;
const WAIT_MS = 60_000;
/** Those that start anew for each turn take as long twenty times. */
const LONG_MS = 300_000;
const CANCEL_MS = 1_000;
const WAITS = /^\{"type":"wait".*$/m;
/** opencode leaves more each time that it starts; others keep a cache of less. */
const LITTER_BYTES = 5_000_000;
/** Gemini refuses to write where a path has double quotes. */
const PREFIX = "loop it's so ";

type Row = readonly [title: string, run: (candidate: Candidate, scene: Scene) => Promise<void>];

const ROWS: readonly Row[] = [
  ["B9 B10 a claim that is not true is sent back, and the second turn reaches the proved end", sentBack],
  ["B13 a used-up quota costs no iteration; told to go on it does", quotaIsFree],
  ["B13 an outage costs no iteration, and the loop goes on by itself", outageIsFree],
  ["B13 a key that is refused costs no iteration and waits for a person", authPauses],
  ["B16 Ctrl-C in mid-turn: within a second all of the agent's processes are gone", cancelled],
  ["E3 an agent that is killed in mid-turn is started anew", killed],
  ["B20 a conversation goes on in a new process", goesOn],
  ["E3 nothing is left of twenty turns", twentyTurns],
];

const REPORTED: Row = [
  "E3 B7 a report by the engine's own tool, over HTTP, is the claim, and no work",
  reportedByTool,
];
const DENIED: Row = ["E3 B13 what nobody allows is denied, and the agent did not do it", denied];

export function describeAgent(candidate: Candidate): void {
  const { world, agent } = candidate;
  test.skipIf(!isWorldRequired(world))(`${world} is there when it is required`, () => expectWorld(world));

  const isLeftOut = candidate.onDemand === true && !isWorldRequired(world);
  const why = isLeftOut ? " (on demand: LOOP_TEST_AGENTS=all)" : whyWorldMissing(world);
  describe.skipIf(isWorldMissing(world) || isLeftOut)(`goals with the real ${agent} (B, E3)${why}`, () => {
    const rows = [
      ...ROWS,
      ...(candidate.denied === null ? [] : [DENIED]),
      ...(candidate.takesTools === undefined ? [] : [REPORTED]),
    ];
    for (const [title, run] of rows)
      test(
        title,
        async (context: TestContext) => {
          const scene = await makeScene(candidate, context);
          await run(candidate, scene);
        },
        run === twentyTurns ? LONG_MS : TEST_MS + (candidate.triesAgainMs ?? 0),
      );
  });
}

interface Scene {
  readonly cwd: string;
  readonly world: World;
  readonly model: AgentModel;
  readonly args: readonly string[];
  path(name: string): string;
  start(): RunningLoop;
}

async function makeScene({ world: name, agent }: Candidate, { onTestFinished }: TestContext): Promise<Scene> {
  const cwd = makeRepository(onTestFinished, PREFIX);
  const model = await startModel({ kind: "silence" });
  onTestFinished(() => model.close());
  const world = makeWorld(name, cwd, model.url);
  const args = ["until", "--yes", ...CHECK, "--agent", agent, SPEC];
  return {
    cwd,
    world,
    model,
    args,
    path: (file) => join(cwd, file),
    start: () => startLoop([...args, "--json"], { cwd, env: world.env }, onTestFinished),
  };
}

async function sentBack({ tokensOfTwo = [2_000, 100] }: Candidate, scene: Scene): Promise<void> {
  const { cwd, world, model, path, args } = scene;
  model.script(world.write(path("one.md")), report(true), ...finishing(scene));
  const run = await runJson(args, { cwd, env: world.env });
  expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
  expect(run.end).toMatchObject({ status: "done", iterations: 2 });
  const [inputTokens, outputTokens] = tokensOfTwo;
  expect(stateOf(cwd).receipts).toMatchObject([
    { files: ["one.md"], toolCalls: 1, claimedExit: true, charged: true, inputTokens, outputTokens },
    { files: ["done.txt"], toolCalls: 1, claimedExit: true, charged: true, inputTokens, outputTokens },
  ]);
  // the model sees the first turn when the second begins, and what its claim was worth
  const prompts = promptsOf(model.heard.at(-1));
  expect(model.heard.map((asked) => promptsOf(asked).length)).toEqual([1, 1, 2, 2]);
  expect(prompts[1]).toContain("done");
  expect(leftovers(cwd)).toEqual([]);
}

/** The runner waits for minutes; a person elsewhere makes it try at once. */
async function quotaIsFree({ classes }: Candidate, scene: Scene): Promise<void> {
  const { cwd, world, model } = scene;
  model.script(refusal(429));
  const running = scene.start();
  await running.line(WAITS, WAIT_MS);
  expect(await statusOf(cwd)).toMatchObject({ status: "in_progress", iteration: 0 });
  model.script(...finishing(scene));
  const second = await runJson(["continue", "--now"], { cwd, env: world.env });
  expect(second.end).toMatchObject({ status: "done", iterations: 1 });
  expect(await running.ended).toBe(0);
  expectFreeFailure(cwd, classes[429]);
}

async function outageIsFree({ classes, triesAgainMs = 0 }: Candidate, scene: Scene): Promise<void> {
  const { cwd, model } = scene;
  model.script(refusal(500));
  const running = scene.start();
  await running.line(WAITS, WAIT_MS + triesAgainMs);
  model.script(...finishing(scene));
  expect(await running.ended).toBe(0);
  expect(endOf(running)).toMatchObject({ status: "done", iterations: 1 });
  expectFreeFailure(cwd, classes[500]);
}

function expectFreeFailure(cwd: string, kind: FailureClass): void {
  expect(stateOf(cwd).receipts).toMatchObject([
    { charged: false, failure: { class: kind } },
    { charged: true, failure: null },
  ]);
}

async function authPauses({ classes }: Candidate, { cwd, world, model, args }: Scene): Promise<void> {
  model.script(refusal(401));
  const run = await runJson(args, { cwd, env: world.env });
  expect(run.code).toBe(6);
  expect(run.end).toMatchObject({ status: "paused", iterations: 0 });
  expect(stateOf(cwd)).toMatchObject({
    pause: { code: "auth" },
    receipts: [{ charged: false, failure: { class: classes[401] } }],
  });
}

async function cancelled(_candidate: Candidate, { cwd, model, start }: Scene): Promise<void> {
  const running = start();
  await model.asks(1);
  const begin = performance.now();
  running.signal("SIGINT");
  const code = await running.ended;
  const tookMs = performance.now() - begin;
  expect({ code, left: leftovers(cwd) }).toEqual({ code: 130, left: [] });
  expect(tookMs).toBeLessThan(CANCEL_MS * slowdown());
  expect(model.heard[0]?.isCut).toBe(true);
  expect(endOf(running)).toMatchObject({ status: "paused", iterations: 0 });
}

async function killed({ process: pattern }: Candidate, scene: Scene): Promise<void> {
  const { cwd, model, start } = scene;
  const running = start();
  await model.asks(1);
  const agents = leftovers(cwd).filter((pid) => pattern.test(commandLine(pid)));
  expect(agents).not.toEqual([]);
  model.script(...finishing(scene));
  for (const pid of agents) kill(pid);
  expect(await running.ended).toBe(0);
  expect(endOf(running)).toMatchObject({ status: "done" });
  const { receipts } = stateOf(cwd);
  expect(receipts[0]).toMatchObject({ failure: { class: "fault" }, charged: true });
  expect(receipts.at(-1)).toMatchObject({ failure: null, files: ["done.txt"] });
  // what could not be known of a conversation that died so may cost a turn, but no iteration
  expect(receipts.filter(({ charged }) => charged)).toHaveLength(2);
  expect(leftovers(cwd)).toEqual([]);
}

async function goesOn({ age }: Candidate, scene: Scene): Promise<void> {
  const { cwd, world, model, path, start } = scene;
  model.script(world.write(path("one.md")), report(false), { kind: "silence" });
  const running = start();
  await model.asks(3);
  expect((await runHere(["pause"], { cwd })).code).toBe(0);
  expect(await running.ended).toBe(6);
  expect(leftovers(cwd)).toEqual([]);
  age?.(world);
  model.script(...finishing(scene));
  const run = await runJson(["continue"], { cwd, env: world.env });
  expect(run.end).toMatchObject({ status: "done", iterations: 2 });
  const last = model.heard.at(-1);
  expect(promptsOf(last)[0]).toContain("# The spec, word for word");
  expect(last?.messages.some(({ role, text }) => role === "assistant" && /That is it/.test(text))).toBe(true);
}

async function twentyTurns({ agent }: Candidate, scene: Scene): Promise<void> {
  const { cwd, world, model, path } = scene;
  const turns = 20;
  const scripts = Array.from({ length: turns }, (_, n): readonly Script[] => [
    world.write(path(`${n}.md`)),
    report(n === turns - 1),
  ]).flat();
  model.script(...(scripts as [Script, ...Script[]]));
  const count = ["--check", `count=ls -- *.md | wc -l >= ${turns}`, "--iterations", `${turns}`];
  const args = ["until", "--yes", ...count, "--agent", agent, "Write twenty notes. No new dependencies."];
  const run = await runJson(args, { cwd, env: world.env });
  expect(run.end).toMatchObject({ status: "done", iterations: turns });
  expect(leftovers(cwd)).toEqual([]);
  expect(bytesIn(join(dirname(cwd), "tmp"))).toBeLessThan(LITTER_BYTES);
}

async function denied({ denied: how }: Candidate, scene: Scene): Promise<void> {
  const { cwd, world, model, args, path } = scene;
  const asked = world.ask("touch forbidden.md");
  model.script(asked, ...(how === "told" ? [report(false)] : []), ...finishing(scene));
  const run = await runJson(args, { cwd, env: world.env });
  expect(existsSync(path("forbidden.md"))).toBe(false);
  if (how === "told") {
    expect(run.end).toMatchObject({ status: "done", iterations: 2 });
    expect(promptsOf(model.heard.at(-1))[1]).toContain("not allowed to use");
    return;
  }
  expect(run.code).toBe(6);
  expect(stateOf(cwd)).toMatchObject({ pause: { code: "denied" }, iteration: 0 });
}

async function reportedByTool(_candidate: Candidate, scene: Scene): Promise<void> {
  const { cwd, world, model, args, path } = scene;
  const claim = { exit_signal: true, criteria: { done: true }, next: "none" };
  const call = world.mcp("loopwright", "loop_report", claim);
  model.script(world.write(path("done.txt")), call, { kind: "text", text: "I have reported it." });
  const run = await runJson(args, { cwd, env: world.env });
  expect(run.end).toMatchObject({ status: "done", iterations: 1 });
  expect(resultsSince(model.heard.at(-1) as Heard).at(-1)).toContain("as a claim");
  expect(stateOf(cwd).receipts).toMatchObject([{ claimedExit: true, toolCalls: 1, failure: null }]);
}

/** One turn to the proved end. */
function finishing({ world, path }: Scene): readonly [Script, Script] {
  return [world.write(path("done.txt")), report(true)];
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

function endOf({ output }: RunningLoop): EndView {
  return JSON.parse(output.stdout.trimEnd().split("\n").at(-1) ?? "{}") as EndView;
}
