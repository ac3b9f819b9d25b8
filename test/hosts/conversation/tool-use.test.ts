import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { parsePayload } from "../../../src/hosts/claude-code/hooks/payload.ts";
import { claudeUsedTool } from "../../../src/hosts/claude-code/hooks/to-event.ts";
import { backpropOf, recordTool, type UsedTool } from "../../../src/hosts/conversation/tool-use.ts";
import { ensureLoopDir } from "../../../src/store/folder/loop-dir.ts";
import { readLedger } from "../../../src/store/ledger/ledger.ts";
import { removeTempDirs, tempDir } from "../../store/fixtures/temp-dir.ts";
import { totalsOf } from "../../support/ledger.ts";
import { contextOf, PlayedClient } from "../../support/played-client.ts";

afterEach(removeTempDirs);

const NOW = Date.UTC(2026, 0, 5, 10, 0, 0);
const FAILED =
  " × adds two numbers\nAssertionError: expected 3 to be 4\n\n Test Files  1 failed (1)\n      Tests  1 failed (1)";
const PASSED = " ✓ adds two numbers\n\n Test Files  1 passed (1)\n      Tests  1 passed (1)";

/** As Claude Code tells of a call. */
function hook(event: string, fields: object): UsedTool {
  const base = { session_id: "s-1", tool_name: "Bash", tool_use_id: "toolu_1", duration_ms: 12 };
  const payload = parsePayload({ ...base, hook_event_name: event, ...fields });
  if (payload === null) throw new Error("it is no payload");
  return claudeUsedTool(payload);
}

/** A command that failed: its exit code is the first line. */
function failed(command: string, output: string, code = 1): UsedTool {
  return hook("PostToolUseFailure", { tool_input: { command }, error: `Exit code ${code}\n${output}` });
}

function passed(command: string, stdout: string): UsedTool {
  return hook("PostToolUse", { tool_input: { command }, tool_response: { stdout, stderr: "" } });
}

function logOf(dir: string): string {
  const path = join(dir, "history", "backprop-log.md");
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

describe("D10 a failing test command raises a flag", () => {
  test.each<readonly [string, UsedTool, "directive" | "green" | "as before"]>([
    ["a run that failed", failed("npx vitest run", FAILED), "directive"],
    ["a run that passed", passed("npx vitest run", PASSED), "green"],
    ["a run whose failure a pipe hides", passed("npx vitest run | tail", FAILED), "directive"],
    ["a command that is no run", failed("cat report.txt", FAILED), "as before"],
    ["a command that went well", passed("ls", "a\nb"), "as before"],
    [
      "another tool",
      hook("PostToolUse", { tool_name: "Write", tool_input: { command: "npx vitest run" } }),
      "as before",
    ],
    ["a call without input", hook("PostToolUse", { tool_input: null, tool_response: null }), "as before"],
    ["input of another kind", hook("PostToolUseFailure", { tool_input: ["x"], error: "" }), "as before"],
  ])("%s", (_, { ran }, expected) => {
    const dir = ensureLoopDir(tempDir());
    const directive = backpropOf(dir, ran, NOW);
    if (expected === "directive") expect(directive).toMatch(/^\[LOOP BACKPROP\] .*vitest/);
    else expect(directive).toBe(expected === "green" ? null : "as before");
    expect(logOf(dir) === "").toBe(expected !== "directive");
  });

  test("every failure is logged with its time, and the third of a category is systemic", () => {
    const dir = ensureLoopDir(tempDir());
    const said = [1, 2, 3].map(() => backpropOf(dir, failed("npx vitest run", FAILED).ran, NOW) ?? "");
    expect(said.map((text) => text.includes("Systemic: 3"))).toEqual([false, false, true]);
    const log = logOf(dir);
    expect(log.match(/<!-- category: /g)).toHaveLength(3);
    expect(log).toContain("2026-01-05T10:00:00.000Z");
  });

  test("H4 a log that leads out of the project is not written", () => {
    const dir = ensureLoopDir(tempDir());
    const outside = tempDir();
    mkdirSync(join(outside, "history"));
    symlinkSync(join(outside, "history"), join(dir, "history"));
    expect(backpropOf(dir, failed("npx vitest run", FAILED).ran, NOW)).toContain("[LOOP BACKPROP]");
    expect(existsSync(join(outside, "history", "backprop-log.md"))).toBe(false);
  });

  test("the next turn of the goal starts with it, once, unless the tests are green again by then", async () => {
    const client = new PlayedClient();
    await client.addGoal();
    await client.submit("hello");
    await client.stop();
    const fails = {
      tool_name: "Bash",
      tool_use_id: "t1",
      tool_input: { command: "npx vitest run" },
      error: `Exit code 1\n${FAILED}`,
    };
    await client.ask("PostToolUseFailure", fails);
    expect(contextOf(await client.report(false))).toMatch(/^\[LOOP BACKPROP\]/);
    expect(contextOf(await client.report(false))).not.toContain("[LOOP BACKPROP]");
    await client.ask("PostToolUseFailure", fails);
    await client.use("t2", {
      tool_name: "Bash",
      tool_input: { command: "npx vitest run" },
      tool_response: { stdout: PASSED },
    });
    expect(contextOf(await client.report(false))).not.toContain("[LOOP BACKPROP]");
    await client.close();
  });

  test("a test run of the person's own turn, or of a sub-agent, raises none", async () => {
    const client = new PlayedClient();
    const fails = {
      tool_name: "Bash",
      tool_use_id: "t1",
      tool_input: { command: "npx vitest run" },
      error: `Exit code 1\n${FAILED}`,
    };
    await client.submit("run the tests");
    await client.ask("PostToolUseFailure", fails);
    expect(client.record()?.directive).toBeNull();
    await client.addGoal();
    await client.stop();
    await client.ask("PostToolUseFailure", { ...fails, agent_id: "a1" });
    expect(client.record()?.directive).toBeNull();
    await client.close();
  });
});

describe("D7 every call of a tool is in the ledger", () => {
  test("with its loop, how it went and how long it took; the same call counts once", () => {
    const dir = ensureLoopDir(tempDir());
    recordTool(dir, "s-1", passed("ls", ""), "a0000000", NOW);
    recordTool(dir, "s-1", passed("ls", ""), "a0000000", NOW + 1);
    recordTool(dir, "s-1", { ...failed("ls", ""), id: "toolu_2", durationMs: null }, null, NOW);
    const fold = readLedger(dir);
    expect(totalsOf(fold)).toMatchObject({ toolCalls: 2, failedToolCalls: 1 });
    expect(totalsOf(fold, { loop: "a0000000" })).toMatchObject({ toolCalls: 1, failedToolCalls: 0 });
    expect(totalsOf(fold, { session: "s-1" })).toMatchObject({ toolCalls: 2 });
  });

  test("a call without a name or an id is none", () => {
    const dir = ensureLoopDir(tempDir());
    recordTool(dir, "s-1", hook("PostToolUse", { tool_name: "" }), null, NOW);
    recordTool(dir, "s-1", hook("PostToolUse", { tool_use_id: "" }), null, NOW);
    expect(existsSync(join(dir, "ledger.jsonl"))).toBe(false);
  });
});

test("J7 the directive after a failing test, and its log, have no secret", () => {
  vi.stubEnv("DEPLOY_TOKEN", "q8Zr41xW-secret");
  onTestFinished(() => void vi.unstubAllEnvs());
  const dir = ensureLoopDir(tempDir());
  const output = FAILED.replace("expected 3", "expected q8Zr41xW-secret");
  const directive = backpropOf(dir, failed("TOKEN=q8Zr41xW-secret npx vitest run", output).ran, NOW);
  expect(directive).toContain("[masked: DEPLOY_TOKEN]");
  expect(`${directive}${logOf(dir)}`).not.toContain("q8Zr41xW");
});
