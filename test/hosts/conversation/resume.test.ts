import { describe, expect, test } from "vitest";
import type { LoopId, Task } from "../../../src/core/loop.ts";
import { renderAnswer } from "../../../src/hosts/claude-code/hooks/hook-answer.ts";
import { type Resumed, resumeAnswer } from "../../../src/hosts/conversation/resume.ts";
import { aGoal, aJob } from "../../support/goals/goals.ts";
import { once, START, task } from "../../support/tasks.ts";

function missedTask(prompt: string): Task {
  return { ...task(once(START + 1), { prompt, id: "d00d0001" as LoopId }), status: "missed" };
}

const resume = (about: Partial<Resumed>) =>
  resumeAnswer({ goal: undefined, loops: [], turnId: null, commandName: "/loopwright", ...about });

const PAUSED = aGoal({
  status: "paused",
  pause: {
    code: "interrupted",
    reason: "you stopped\nits turn",
    evidence: [],
    goOn: "loop continue",
    at: START,
  },
});

describe("B20 what a conversation is told when it begins", () => {
  test("nothing where nothing concerns it", () => {
    const loops = [task(once(START + 1)), aGoal({ session: "session:another" })];
    expect(resume({ goal: undefined, loops })).toEqual({ kind: "nothing" });
  });

  test("an active goal: the agent has its state and is not to begin by itself, the person how to stop it", () => {
    const answer = resume({ goal: aGoal(), loops: [] });
    expect(answer).toMatchObject({
      kind: "context",
      message: expect.stringMatching(/b7c1d2e3 goes on.*pause/),
    });
    const text = answer.kind === "context" ? answer.text : "";
    expect(text).toMatch(/^\[LOOP RESUME\]\nSpec: .*\nSteps: 0\/3 done\n/);
    expect(text).toContain("Unmet: tests, lint");
    expect(text).toContain("do not start that turn yourself");
  });

  test("in the middle of a turn that was compacted: all of that turn again, with its nonce", () => {
    const job = aJob({ kind: "work" });
    const answer = resume({ goal: aGoal({ job }), loops: [], turnId: job.id });
    expect(answer).toMatchObject({ kind: "context", text: expect.stringContaining(job.nonce) });
    const other = resume({ goal: aGoal({ job }), loops: [], turnId: null });
    expect(other).toMatchObject({ kind: "context", text: expect.not.stringContaining(job.nonce) });
  });

  test("a stopped goal stays stopped: the agent is told nothing, the person in one line how to go on", () => {
    const answer = resume({ goal: PAUSED, loops: [] });
    expect(answer).toEqual({
      kind: "tell",
      message: "[LOOP] ⏸ Goal b7c1d2e3 is paused: you stopped its turn. Go on with: /loopwright continue",
    });
  });

  test.each(["/loop", "$loop"])("commands are named as this client has them: %s", (commandName) => {
    const loops = [missedTask("say hello")];
    const said = [aGoal(), PAUSED].map((goal) => resume({ goal, loops, commandName }));
    const lines = said.flatMap((answer) => ("message" in answer ? (answer.message ?? "") : "").split("\n"));
    const commands = lines.flatMap((line) =>
      line.match(/(?<= )\S*loop\w*(?= (?:pause|continue|run|delete))/g),
    );
    expect(commands).toEqual(Array.from({ length: 6 }, () => commandName));
  });

  test("A10 what was missed is named, with what to do about it, beside the goal", () => {
    const answer = resume({ goal: PAUSED, loops: [missedTask("say\nhello"), task(once(START + 1))] });
    const lines = answer.kind === "tell" ? answer.message.split("\n") : [];
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/Missed.*d00d0001 say hello\..*run d00d0001.*delete d00d0001/);
  });

  test("a prompt cannot bring colours or lines into the message", () => {
    const answer = resume({ goal: undefined, loops: [missedTask(`a\u001b[31m\n${"x".repeat(500)}`)] });
    const message = answer.kind === "tell" ? answer.message : "";
    expect(message.includes("\u001b") || message.includes("\n")).toBe(false);
    expect(message.length).toBeLessThan(300);
  });
});

describe("D1 answers in the client's form", () => {
  test.each([
    [{ kind: "nothing" } as const, ""],
    [{ kind: "tell", message: "a\nb" } as const, '{"systemMessage":"a\\nb"}'],
    [
      { kind: "context", text: "go on" } as const,
      '{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"go on"}}',
    ],
    [
      { kind: "context", text: "go on", message: "m" } as const,
      '{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"go on"},"systemMessage":"m"}',
    ],
    [
      { kind: "local", text: "list" } as const,
      '{"decision":"block","reason":"list","hookSpecificOutput":{"hookEventName":"Stop","suppressOriginalPrompt":true}}',
    ],
  ])("%j", (answer, text) => {
    expect(renderAnswer("Stop", answer)).toBe(text);
  });

  test("a tool of ours is allowed", () => {
    expect(JSON.parse(renderAnswer("PreToolUse", { kind: "permit" }))).toMatchObject({
      hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" },
    });
  });
});
