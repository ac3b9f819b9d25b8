/**
 * What the adapters of native streams have to do with the real agents, as one table: the adapter itself, the agent's
 * own program, and a scripted model in the place of the vendor.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { StreamAgentOptions } from "../../../src/agents/stream/stream-agent.ts";
import type { FailureClass } from "../../../src/core/goal/goal.ts";
import type { Agent, Conversation, Turn, TurnEnd, TurnFate } from "../../../src/ports/agent.ts";
import { makeControl, makeTurn, makeWatcher, type TestControl } from "../../fixtures/agents/project.ts";
import { type AgentModel, refusal, startModel } from "../../support/agents/model.ts";
import { commandLine } from "../../support/agents/processes.ts";
import {
  expectWorld,
  isWorldMissing,
  isWorldRequired,
  makeWorld,
  type World,
  type WorldName,
  whyWorldMissing,
} from "../../support/agents/worlds.ts";
import type { Script } from "../../support/claude/scripted-model.ts";
import { cleanEnv, kill, leftovers, makeProject } from "../../support/cli.ts";
import { until } from "../../support/until.ts";

export interface StreamCandidate {
  readonly world: WorldName;
  readonly create: (options: StreamAgentOptions) => Agent;
  /** As it is called on the PATH. */
  readonly program: string;
  /** Of the process that a row kills. */
  readonly process: RegExp;
  /** What is said of a command that is not one of the checks: told to the model, not offered to it, or run. */
  readonly otherCommand: "denied" | "absent" | "run";
  readonly tellsCost: boolean;
  /** Left out: it cannot be held to one. */
  readonly answerSchema?: object;
  /** What these answers of the model's are. */
  readonly errors: Readonly<Record<401 | 429 | 500, FailureClass>>;
}

const TEST_MS = 120_000;
const WAIT_MS = 60_000;
/** From the signal to the end of the turn, on a machine that has other things to do too. */
const CANCEL_MS = 1_000;
/** Gemini refuses to write where a path has double quotes. */
const PREFIX = "loop it's so ";
const GENERATOR = { LOOP_KIND: "work", LOOP_ROLE: "generator" };
const said = (text: string): Script => ({ kind: "text", text, tokens: [100, 10] });

interface Scene {
  readonly project: string;
  readonly model: AgentModel;
  readonly world: World;
  readonly agent: Agent;
  run(turn?: Partial<Turn>, control?: TestControl): Promise<TurnEnd>;
  reconcile(turn: Partial<Turn>): Promise<TurnFate>;
}

export function describeStream(candidate: StreamCandidate): void {
  const { world } = candidate;
  test.skipIf(!isWorldRequired(world))(`${world} is there when it is required`, () => expectWorld(world));

  describe.skipIf(isWorldMissing(world))(
    `the real ${world}, by its stream (E3)${whyWorldMissing(world)}`,
    () => {
      test(
        "E3 a turn that writes a file: answer, use, cost, what it did, what was shown",
        () => writes(candidate),
        TEST_MS,
      );
      test(
        "E3 a conversation goes on, and each turn is charged for its own",
        () => goesOn(candidate),
        TEST_MS,
      );
      test(
        "E3 who works runs the checks, and other commands as far as it may",
        () => runs(candidate),
        TEST_MS,
      );
      test("E3 who judges writes nothing", () => judges(candidate), TEST_MS);
      const { answerSchema } = candidate;
      if (answerSchema !== undefined)
        test("E3 the model is held to the schema of the answer", () => heldToSchema(candidate, answerSchema));
      test.each(Object.entries(candidate.errors))(
        "B13 an answer of %s is %s",
        (status, type) => refused(candidate, Number(status), type),
        TEST_MS,
      );
      test(
        "E3 a turn that is cancelled ends within a second, and nothing is left",
        () => cancelled(candidate),
        TEST_MS,
      );
      test(
        "E3 an agent that is killed in mid-turn is a failed turn that can go on",
        () => killed(candidate),
        TEST_MS,
      );
    },
  );
}

async function open(candidate: StreamCandidate, ...scripts: [Script, ...Script[]]): Promise<Scene> {
  const project = makeProject(onTestFinished, PREFIX);
  const model = await startModel(...scripts);
  onTestFinished(() => model.close());
  const world = makeWorld(candidate.world, project, model.url);
  const agent = candidate.create({
    executable: world.programs[candidate.program] ?? "",
    projectDir: project,
    env: cleanEnv(project, world.env),
  });
  const whole = (turn: Partial<Turn>) => makeTurn({ env: GENERATOR, ...turn });
  return {
    project,
    model,
    world,
    agent,
    run: (turn = {}, control = makeControl()) => agent.run(whole(turn), control),
    reconcile: (turn) => agent.reconcile(whole(turn), makeControl()),
  };
}

async function writes(candidate: StreamCandidate): Promise<void> {
  const scene = await open(candidate, said("never"));
  const file = join(scene.project, "out.txt");
  scene.model.script(scene.world.write(file, "made\n", [100, 10]), said("It is written."));
  const control = makeWatcher();
  const turn = { text: "write out.txt" };
  const end = await scene.run(turn, control);
  // whoever comes after a runner that died reads the same from what the agent left
  expect(await scene.reconcile(turn)).toEqual({ kind: "ended", end });
  expect(end).toMatchObject({
    kind: "ok",
    answer: "It is written.",
    usage: { inputTokens: 200, outputTokens: 20 },
    conversation: { id: expect.any(String) },
    activity: { toolCalls: 1, edits: { "out.txt": 1 }, denials: [] },
  });
  expect(readFileSync(file, "utf8")).toBe("made\n");
  if (candidate.tellsCost) expect(costOf(end)).toBeCloseTo((200 * 3 + 20 * 15) / 1e6, 8);
  else expect(costOf(end)).toBeNull();
  expect(control.events).toContainEqual({ type: "file", path: "out.txt" });
  expect(control.events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("")).toContain(
    "written.",
  );
}

async function goesOn(candidate: StreamCandidate): Promise<void> {
  const scene = await open(candidate, said("I know it."));
  const first = await scene.run({ text: "remember the blue door" });
  const conversation = conversationOf(first);
  const second = await scene.run({ text: "which door", conversation, token: 8, id: "aabbccdd-2" });
  expect(second).toMatchObject({ kind: "ok", usage: { inputTokens: 100, outputTokens: 10 } });
  const last = JSON.stringify(scene.model.heard.at(-1)?.messages);
  expect(last).toContain("remember the blue door");
  expect(last).toContain("which door");
  if (candidate.tellsCost) {
    expect(costOf(second)).toBeCloseTo(0.00045, 8);
    expect(conversationOf(second).costUsd).toBeCloseTo(0.0009, 8);
  }
}

async function runs(candidate: StreamCandidate): Promise<void> {
  const scene = await open(candidate, said("never"));
  const { run } = scene.world;
  scene.model.script(run("touch checked"), run("touch other"), said("That is all."));
  const end = await scene.run({ commands: ["touch checked"] });
  expect(end).toMatchObject({ kind: "ok", answer: "That is all." });
  expect(existsSync(join(scene.project, "checked"))).toBe(true);
  expect(existsSync(join(scene.project, "other"))).toBe(candidate.otherCommand === "run");
  const denials = end.kind === "ok" ? end.activity?.denials : [];
  expect(denials).toHaveLength(candidate.otherCommand === "denied" ? 1 : 0);
}

async function judges(candidate: StreamCandidate): Promise<void> {
  const scene = await open(candidate, said("never"));
  const file = join(scene.project, "out.txt");
  scene.model.script(scene.world.write(file), scene.world.run("touch other"), said("It may not."));
  await scene.run({ env: { LOOP_KIND: "judge", LOOP_ROLE: "judge" } });
  await scene.model.asks(1);
  expect([existsSync(file), existsSync(join(scene.project, "other"))]).toEqual([false, false]);
}

async function heldToSchema(candidate: StreamCandidate, answerSchema: object): Promise<void> {
  const answer = JSON.stringify({ nonce: "n", reason: "seen", verdict: "PASS" });
  const scene = await open(candidate, said(answer));
  expect(await scene.run({ answerSchema })).toMatchObject({ kind: "ok", answer });
  expect(JSON.stringify(scene.model.heard[0]?.json)).toContain(JSON.stringify(answerSchema).slice(1, -1));
}

async function refused(candidate: StreamCandidate, status: number, type: FailureClass): Promise<void> {
  const scene = await open(candidate, refusal(status));
  const end = await scene.run();
  expect(end).toMatchObject({ kind: "failed", answer: "", failure: { class: type } });
}

async function cancelled(candidate: StreamCandidate): Promise<void> {
  const scene = await open(candidate, { kind: "silence" });
  const control = makeControl();
  const end = scene.run({}, control);
  await scene.model.asks(1);
  const since = performance.now();
  control.abort();
  expect(await end).toMatchObject({ kind: "cancelled" });
  expect(performance.now() - since).toBeLessThan(CANCEL_MS);
  expect(leftovers(scene.project)).toEqual([]);
}

async function killed(candidate: StreamCandidate): Promise<void> {
  const scene = await open(candidate, { kind: "silence" });
  const running = scene.run({ text: "remember the blue door" });
  await scene.model.asks(1);
  const isAgent = (pid: number) => candidate.process.test(commandLine(pid));
  const pids = await until(
    () => {
      const found = leftovers(scene.project).filter(isAgent);
      return found.length > 0 && found;
    },
    "the agent's process is found",
    WAIT_MS,
  );
  for (const pid of pids) kill(pid);
  const end = await running;
  expect(end).toMatchObject({ kind: "failed", failure: { class: "fault" }, answer: "" });
  expect(leftovers(scene.project)).toEqual([]);
  scene.model.script(said("Here again."));
  const conversation = end.kind === "failed" ? end.conversation : null;
  const next = await scene.run({ conversation, token: 8, id: "aabbccdd-2" });
  // it may have had no time to write anything down
  if (next.kind === "failed")
    expect(next).toMatchObject({ failure: { class: "overflow" }, conversation: null });
  else expect(next).toMatchObject({ kind: "ok", answer: "Here again." });
}

function costOf(end: TurnEnd): number | null {
  if (end.kind === "cancelled") throw new Error("it was cancelled");
  return end.usage?.costUsd ?? null;
}

function conversationOf(end: TurnEnd): Conversation {
  if (end.kind !== "ok" || end.conversation === null)
    throw new Error(`no conversation: ${JSON.stringify(end)}`);
  return end.conversation;
}
