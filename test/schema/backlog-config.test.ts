/** C2: the backlog's keys of `.loop/config.json`. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  BACKLOG_DEFAULTS,
  backlogConfigSchema,
  backlogShape,
  commandsOfRoles,
  parseBacklogConfig,
} from "../../src/schema/backlog-config.ts";

const NO_ROLES = { generator: {}, evaluator: {}, planner: {} };
const NO_DEPTHS = { quick: {}, standard: {}, thorough: {} };

test("C2 an empty file is the defaults, of the SPEC", () => {
  expect(backlogConfigSchema.parse({})).toEqual({
    mode: "implement",
    maxIterations: 20,
    evalRetries: 2,
    skipEval: false,
    branchPrefix: "loop/",
    scopeBudgets: {
      explore: { maxFilesToRead: 15, maxLinesToWrite: 0, maxFilesToModify: 0 },
      implement: { maxFilesToRead: 40, maxLinesToWrite: 800, maxFilesToModify: 20 },
      fix: { maxFilesToRead: 30, maxLinesToWrite: 200, maxFilesToModify: 8 },
    },
    agents: NO_ROLES,
    depths: NO_DEPTHS,
  });
  expect(parseBacklogConfig(BACKLOG_DEFAULTS)).toEqual({ kind: "ok", config: backlogConfigSchema.parse({}) });
});

test("C2 what is said holds, what is not said keeps its default, also inside of a budget", () => {
  const given = {
    mode: "fix",
    scopeBudgets: { fix: { maxFilesToModify: 3 } },
    agents: { planner: { agentCmd: "my-agent", model: "opus" } },
    depths: { quick: { model: "claude-haiku-4-5" } },
    maxTasks: 7,
  };
  expect(parseBacklogConfig(given)).toMatchObject({
    kind: "ok",
    config: {
      mode: "fix",
      maxIterations: 20,
      scopeBudgets: {
        fix: { maxFilesToRead: 30, maxLinesToWrite: 200, maxFilesToModify: 3 },
        explore: { maxLinesToWrite: 0 },
      },
      agents: { ...NO_ROLES, planner: { agentCmd: "my-agent", model: "opus" } },
      depths: { ...NO_DEPTHS, quick: { model: "claude-haiku-4-5" } },
    },
  });
});

describe("H5 a fault is one sentence that begins with its place", () => {
  test.each<[unknown, string]>([
    [null, "expected an object, found null"],
    [[], "expected an object, found a list"],
    [{ mode: "plan" }, "mode: expected explore, implement or fix"],
    [{ mode: null }, "mode: expected explore, implement or fix"],
    [{ maxIterations: 0 }, "maxIterations: expected a whole number from 1 to 1000"],
    [{ maxIterations: 1.5 }, "maxIterations: expected a whole number from 1 to 1000"],
    [{ evalRetries: "2" }, "evalRetries: expected a whole number from 1 to 100"],
    [{ skipEval: "yes" }, "skipEval: expected true or false, found text"],
    [{ branchPrefix: "" }, "branchPrefix: it is empty"],
    [{ branchPrefix: "-x" }, "branchPrefix: expected the start of a branch's name such as loop/"],
    [{ branchPrefix: "a b/" }, "branchPrefix: expected the start of a branch's name such as loop/"],
    [{ branchPrefix: "a/../b" }, "branchPrefix: expected the start of a branch's name such as loop/"],
    [{ scopeBudgets: [] }, "scopeBudgets: expected an object, found a list"],
    [{ scopeBudgets: { fx: {} } }, 'scopeBudgets: there is no setting "fx" here'],
    [
      { scopeBudgets: { fix: { maxFilesToRead: -1 } } },
      "scopeBudgets.fix.maxFilesToRead: expected a whole number from 0 to 1000000",
    ],
    [
      { scopeBudgets: { fix: { maxFilesRead: 1 } } },
      'scopeBudgets.fix: there is no setting "maxFilesRead" here',
    ],
    [{ agents: { judge: {} } }, 'agents: there is no setting "judge" here'],
    [
      { agents: { planner: { agent: "hal" } } },
      'agents.planner.agent: no agent is called "hal"; known: claude, codex, gemini, opencode, copilot, qwen, pi',
    ],
    [{ agents: { planner: { agentCmd: " " } } }, "agents.planner.agentCmd: it is empty"],
    [
      { agents: { planner: { agent: "claude", agentCmd: "x" } } },
      "agents.planner: agent, agentCmd and agentAcp exclude each other",
    ],
    [
      { agents: { generator: { model: "--yolo" } } },
      "agents.generator.model: expected the name of a model such as opus or claude-sonnet-4-5",
    ],
    [{ depths: { deep: {} } }, 'depths: there is no setting "deep" here'],
    [{ depths: { quick: { model: 3 } } }, "depths.quick.model: expected text, found 3"],
  ])("%j", (content, message) => {
    expect(parseBacklogConfig(content)).toEqual({ kind: "invalid", message });
  });

  test("anything at all has an answer", () => {
    const keys = fc.constantFrom(...Object.keys(backlogShape));
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(keys, fc.jsonValue())), (content) => {
        const result = parseBacklogConfig(content);
        if (result.kind === "invalid") expect(result.message).toMatch(/^[^\n]+[^.\n]$/);
        else expect(parseBacklogConfig(result.config)).toEqual(result);
      }),
    );
  });
});

test("H2 what the roles would run is named", () => {
  const { agents } = backlogConfigSchema.parse({
    agents: { planner: { agentCmd: "plan-it" }, generator: { agentCmd: "do-it" } },
  });
  expect(commandsOfRoles({ agents })).toEqual([
    { name: "agents.generator", command: "do-it" },
    { name: "agents.planner", command: "plan-it" },
  ]);
});

test("F9 it stands in a strict object, and in a JSON Schema", () => {
  const whole = z.strictObject({ ...backlogShape, maxTasks: z.int().default(50) });
  expect(whole.parse({ mode: "fix", maxTasks: 3 })).toMatchObject({
    mode: "fix",
    maxTasks: 3,
    evalRetries: 2,
  });
  expect(whole.safeParse({ modes: "fix" }).success).toBe(false);
  expect(z.toJSONSchema(whole, { io: "input" })).toMatchObject({
    properties: { mode: { enum: expect.any(Array) } },
  });
});
