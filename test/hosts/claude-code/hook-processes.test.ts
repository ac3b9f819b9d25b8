/** Hooks as the client starts them: processes of their own, many at once. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readLedger } from "../../../src/store/ledger/ledger.ts";
import { PLUGIN } from "../../support/claude/plugin.ts";
import { cleanEnv, create, makeProject } from "../../support/cli.ts";
import { totalsOf } from "../../support/ledger.ts";

const HOOKS = 20;

test("D7 of 20 hooks that run at once no entry is lost, and a hook that is repeated counts once", async () => {
  const project = makeProject();
  await create(project, "--detach", "1h", "look");
  const session = "11111111-2222-4333-8444-555555555555";
  const calls = Array.from({ length: HOOKS }, (_, n) => ({ session, id: `toolu_${n}`, isOk: n % 5 !== 0 }));
  const answers = await Promise.all(
    [...calls, ...calls.slice(0, 3)].map((call) => runToolHook(project, call)),
  );
  expect(answers).toEqual(answers.map(() => ({ code: 0, stdout: "", stderr: "" })));
  const totals = totalsOf(readLedger(join(project, ".loop")), { session });
  expect(totals.toolCalls).toBe(HOOKS);
  expect(totals.failedToolCalls).toBe(HOOKS / 5);
});

interface Call {
  readonly session: string;
  readonly id: string;
  readonly isOk: boolean;
}

function runToolHook(project: string, { session, id, isOk }: Call) {
  const event = isOk ? "PostToolUse" : "PostToolUseFailure";
  const child = spawn(process.execPath, [join(PLUGIN, "bin/hook.cjs"), event], {
    cwd: project,
    env: cleanEnv(project, { CLAUDE_PROJECT_DIR: project, CLAUDE_PID: String(process.pid) }),
  });
  const payload = {
    hook_event_name: event,
    session_id: session,
    tool_name: "Read",
    tool_use_id: id,
    tool_input: { file_path: "a.txt" },
    ...(isOk ? { tool_response: { type: "text" } } : { error: "no such file" }),
    duration_ms: 3,
  };
  child.stdin.end(JSON.stringify(payload));
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (part) => {
    stdout += String(part);
  });
  child.stderr.on("data", (part) => {
    stderr += String(part);
  });
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}
