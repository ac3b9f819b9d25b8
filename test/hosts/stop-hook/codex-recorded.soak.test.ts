/** What happens in Codex only at a terminal, with the payloads that it sent there: steering, Esc, a conversation taken up again. */
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { runHookCommand } from "../../support/claude/hook-command.ts";
import { cleanEnv, LOOP, runLoop } from "../../support/cli.ts";
import { makeRepository } from "../../support/goals/goal-cli.ts";
import { goalsOf, SPEC, typedGoal } from "../../support/goals/goal-in-client.ts";
import { runHere } from "../../support/here.ts";

/** Each hook is a process of its own, and the machine may be busy. */
vi.setConfig({ testTimeout: 120_000 });

const SESSION = "01a1e065-b082-7bf1-809e-b316b44e590f";
const NAMES = {
  stop: "Stop",
  prompt: "UserPromptSubmit",
  start: "SessionStart",
  end: "SessionEnd",
  interrupt: "Interrupt",
} as const;

interface Answered {
  readonly decision?: string;
  readonly reason?: string;
  readonly systemMessage?: string;
  readonly hookSpecificOutput?: { readonly hookEventName: string; readonly additionalContext: string };
}

function makeCodex() {
  const project = makeRepository();
  const env = cleanEnv(project);
  const ask = async (
    event: keyof typeof NAMES,
    fields: object,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answered> => {
    const payload = {
      session_id: SESSION,
      transcript_path: join(project, "no-such-file.jsonl"),
      cwd: project,
      hook_event_name: NAMES[event],
      model: "gpt-5-codex",
      permission_mode: "default",
      ...fields,
    };
    const command = `exec '${process.execPath}' '${LOOP}' hook codex ${event}`;
    const run = await runHookCommand(command, payload, { cwd: project, env: { ...env, ...more } });
    expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: "" });
    return run.stdout === "" ? {} : (JSON.parse(run.stdout) as Answered);
  };
  return {
    project,
    env,
    ask,
    say: (turn: string, prompt: string) => ask("prompt", { turn_id: turn, prompt }),
    stop: (turn: string, said = "ok", more = {}) =>
      ask("stop", { turn_id: turn, stop_hook_active: false, last_assistant_message: said }, more),
    goal: () => goalsOf(project)[0],
  };
}

test("E5 what is typed into a turn that runs reaches the agent there: the loop goes on", async () => {
  const codex = makeCodex();
  const begun = await codex.say("t-1", `$loop ${typedGoal()}`);
  expect(begun.hookSpecificOutput).toMatchObject({ hookEventName: "UserPromptSubmit" });
  expect(begun.hookSpecificOutput?.additionalContext).toMatch(/^\[LOOP\] Goal/);
  expect(await codex.say("t-1", "and mind the tests")).toEqual({});
  expect(codex.goal()?.status).toBe("in_progress");
  expect(await codex.stop("t-1")).toMatchObject({
    decision: "block",
    reason: expect.stringContaining("[LOOP]"),
  });
});

test("E5 B20 Esc pauses the loop at once; it goes on when the person says so, and stays stopped after the conversation", async () => {
  const codex = makeCodex();
  await codex.say("t-1", `$loop ${typedGoal()}`);
  expect(await codex.ask("interrupt", { turn_id: "t-1" })).toEqual({});
  expect(codex.goal()?.status).toBe("paused");
  expect(await codex.say("t-2", "what did you do?")).toEqual({});
  expect((await codex.stop("t-2")).systemMessage).toContain("Go on with: $loop continue");
  const again = await codex.say("t-3", "$loop continue");
  expect(again.hookSpecificOutput?.additionalContext).toContain("[LOOP");
  expect(await codex.ask("end", { reason: "other" })).toEqual({});
  expect(codex.goal()).toMatchObject({ status: "paused", pause: { reason: "its conversation ended" } });
  const resumed = await codex.ask("start", { source: "resume" });
  expect(resumed.systemMessage).toContain("Go on with: $loop continue");
  expect(resumed.hookSpecificOutput).toBeUndefined();
});

test("E5 a turn that a new prompt cut off pauses the loop, also where no Esc was told", async () => {
  const codex = makeCodex();
  await codex.say("t-1", `$loop ${typedGoal()}`);
  expect((await codex.say("t-2", "look at this first")).systemMessage).toContain("$loop continue");
  expect(codex.goal()?.status).toBe("paused");
  expect(await codex.stop("t-2")).toEqual({});
});

test("E5 A20 D2 switched off, run by another, or of nobody's session: the stop is allowed", async () => {
  const codex = makeCodex();
  await codex.say("t-1", `$loop ${typedGoal()}`);
  const off = await codex.stop("t-1", "ok", { LOOP_DISABLE_SCHEDULER: "1" });
  expect(off.decision).toBeUndefined();
  expect(off.systemMessage).toContain("does not run");
  expect(await codex.ask("stop", { session_id: "", turn_id: "t-1", last_assistant_message: "x" })).toEqual(
    {},
  );
  expect((await runHere(["cancel", "--keep"], { cwd: codex.project, env: codex.env })).code).toBe(0);
  const cancelled = await codex.stop("t-1");
  expect(cancelled.decision).toBeUndefined();
  expect(cancelled.systemMessage).toContain("CANCELLED");
  expect(await codex.stop("t-2")).toEqual({});
});

test("E5 D12 a loop that was bound by hand begins with the next stop of its conversation", async () => {
  const codex = makeCodex();
  const words = ["setup-loop", "--session", SESSION, "--check", "done=sh check.sh", "--yes", SPEC];
  expect((await runLoop(words, { cwd: codex.project, env: codex.env })).code).toBe(0);
  expect(await codex.stop("t-1")).toMatchObject({
    decision: "block",
    reason: expect.stringContaining("[LOOP]"),
  });
});
