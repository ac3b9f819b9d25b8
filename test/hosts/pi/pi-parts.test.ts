/** The parts of the extension for pi that need no pi. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { Loop, LoopId } from "../../../src/core/loop.ts";
import type { PiApi, PiContext } from "../../../src/hosts/pi/api.ts";
import { readRetries, waitForRetry } from "../../../src/hosts/pi/runs/retries.ts";
import { parseAnswers, parseRunEnd, type RunEnd } from "../../../src/hosts/pi/runs/run-end.ts";
import { Runs } from "../../../src/hosts/pi/runs/runs.ts";
import { piFailureOf } from "../../../src/hosts/pi/runs/turn-failure.ts";
import { piUsedTool } from "../../../src/hosts/pi/runs/used-tool.ts";
import { Terminal } from "../../../src/hosts/pi/terminal.ts";
import { COMMANDS, completeArguments } from "../../../src/hosts/pi/typed/completions.ts";
import { expandSlash } from "../../../src/hosts/pi/typed/slash-prompt.ts";
import { cleanEnv, makeProject } from "../../support/cli.ts";
import { every, task } from "../../support/tasks.ts";
import { until } from "../../support/until.ts";

const USAGE = { input: 800, output: 50, cacheRead: 200, cacheWrite: 0, cost: { total: 0.003 } };

function said(text: string, more: object = {}): object {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    stopReason: "stop",
    usage: USAGE,
    model: "m",
    timestamp: 7,
    ...more,
  };
}

const edit = (path: string) => ({ type: "toolCall", name: "edit", arguments: { path } });

describe("E2 how a run of pi ended", () => {
  test("the last message of the agent's is its answer; all answers are counted, and what was edited", () => {
    const calls = [
      { type: "thinking", thinking: "hm" },
      edit("a.ts"),
      edit("a.ts"),
      { type: "toolCall", name: "bash" },
    ];
    const messages = [
      { role: "user", content: "go" },
      said("", { content: calls }),
      { role: "toolResult" },
      said("done"),
    ];
    expect(parseRunEnd(messages)).toEqual({
      ...{ kind: "ok", answer: "done", error: "", toolCalls: 3, edits: { "a.ts": 2 } },
      usage: {
        costUsd: 0.006,
        inputTokens: 2_000,
        outputTokens: 100,
        model: "m",
        cacheReadTokens: 400,
        cacheWriteTokens: 0,
      },
    });
  });

  test.each([
    ["aborted", "aborted"],
    ["error", "error"],
    ["length", "length"],
    ["toolUse", "ok"],
    ["something new", "ok"],
    ["constructor", "ok"],
  ])("a stop reason of %s is %s", (stopReason, kind) => {
    expect(parseRunEnd([said("x", { stopReason })])).toMatchObject({ kind });
  });

  test("B13 a run that was tried again ends as the last attempt did, and both are paid for", () => {
    const failed = said("", { stopReason: "error", errorMessage: "500 no", content: [edit("b.ts")] });
    const then = said("done", { content: [edit("b.ts"), { type: "text", text: "done" }] });
    const ends: (RunEnd | null)[] = [];
    const runs = new Runs({
      ...{ isIdle: () => false, now: () => 0, retries: () => ({ most: 1, firstMs: 0 }) },
      onSettled: (end) => ends.push(end),
    });
    for (const attempt of [failed, then]) {
      runs.start();
      runs.end([attempt]);
    }
    runs.settle();
    expect(ends).toMatchObject([
      {
        ...{ kind: "ok", answer: "done", error: "", toolCalls: 2, edits: { "b.ts": 2 } },
        usage: { costUsd: 0.006, inputTokens: 2_000, outputTokens: 100 },
      },
    ]);
  });

  test("tokens without a price are no free tokens; no answer at all is no end", () => {
    const free = { ...USAGE, cost: { total: 0 } };
    expect(parseRunEnd([said("x", { usage: free })])?.usage).toMatchObject({
      costUsd: null,
      outputTokens: 50,
    });
    expect(parseRunEnd([{ role: "user", content: "go" }])).toBeNull();
    expect(parseAnswers([said("x", { usage: undefined })])).toEqual([]);
  });

  test("whatever a message holds, it is read or passed over", () => {
    fc.assert(
      fc.property(fc.array(fc.anything()), fc.anything(), (messages, odd) => {
        const strange = [...messages, { role: "assistant", content: odd, usage: odd, stopReason: odd }];
        expect(["ok", "aborted", "error", "length"]).toContain(parseRunEnd(strange)?.kind);
      }),
    );
  });
});

describe("B13 what pi says of a request that failed", () => {
  test.each([
    ['429 {"error":{"message":"slow down"}}', "quota"],
    ["429: too much", "quota"],
    ["500 status code (no body)", "outage"],
    ["529 overloaded", "outage"],
    ["OpenAI API error (503): nobody is there", "outage"],
    ["401 no such key", "auth"],
    ["413 too large", "overflow"],
    ["400 what?", "fault"],
    ["Connection error.", "outage"],
    ["there were 429 of them", "outage"],
    ["", "outage"],
  ])("%j is %s", (error, type) => {
    expect(piFailureOf(error)).toMatchObject({ class: type, resetsAt: null });
  });
});

describe("A3 what is offered behind /loop", () => {
  const loops = [
    task(every(60_000), { id: "3f00aaaa" as LoopId, prompt: "look\nat it" }),
    { ...task(every(60_000), { id: "3f00bbbb" as LoopId }), status: "ended" } as Loop,
    { kind: "goal", id: "9e00cccc", spec: "make it green", status: "active" } as Loop,
  ];
  const labels = (typed: string) => completeArguments(typed, loops)?.map(({ label }) => label) ?? null;

  test.each([
    ["", Object.keys(COMMANDS)],
    ["re", ["resume", "reject", "report"]],
    ["show ", ["3f00aaaa"]],
    ["show 3F", ["3f00aaaa"]],
    ["pause ", ["3f00aaaa", "9e00cccc"]],
    ["cancel 9", ["9e00cccc"]],
    ["backlog r", ["run"]],
    // typed in full: Enter is for the line
    ["list", null],
    ["show 3f00aaaa", null],
    // words of the person's
    ["5m ch", null],
    ["check ", null],
    ["pause the music", null],
  ])("%j: %j", (typed, expected) => {
    expect(labels(typed)).toEqual(expected);
  });

  test("what is taken stands in the line whole, and says what it is about", () => {
    expect(completeArguments("delete 3", loops)).toEqual([
      { value: "delete 3f00aaaa", label: "3f00aaaa", description: "look at it" },
    ]);
  });
});

describe("A1 a prompt that is a slash command", () => {
  const commands = [
    { name: "review", source: "prompt", sourceInfo: { path: "/p/review.md" } },
    { name: "skill:tidy", source: "skill", sourceInfo: { path: "/s/tidy/SKILL.md" } },
    { name: "other", source: "extension", sourceInfo: { path: "/e/other.ts" } },
  ];
  const files: Readonly<Record<string, string>> = {
    "/p/review.md": "---\ndescription: x\n---\nReview $1 for $ARGUMENTS, then $" + "{@:2}; not $9.\n",
    "/s/tidy/SKILL.md": "---\nname: tidy\n---\nTidy up.",
    "/e/other.ts": "code",
  };
  const expand = (text: string) => expandSlash(text, commands, (path) => files[path] ?? null);

  test("a template is filled in; what was put in is not looked at again", () => {
    expect(expand('/review src "$1 faults"')).toBe("Review src for src $1 faults, then $1 faults; not .");
  });

  test("a skill is what pi makes of it when it is typed", () => {
    const block =
      '<skill name="tidy" location="/s/tidy/SKILL.md">\nReferences are relative to /s/tidy.\n\nTidy up.\n</skill>';
    expect(expand("/skill:tidy")).toBe(block);
    expect(expand("/skill:tidy the desk\nnow")).toBe(`${block}\n\nthe desk\nnow`);
  });

  test.each(["/other now", "/unknown", "/skill:gone x"])("%s can only be described", (text) => {
    expect(expand(text)).toMatch(/^A scheduled task is due\. [\s\S]*\n\n\//);
    expect(expand(text).endsWith(text)).toBe(true);
  });
});

describe("B13 attempts that pi makes by itself", () => {
  test("the pause doubles; after the last attempt nothing is waited for", () => {
    const retries = { most: 2, firstMs: 1_000 };
    expect([0, 1, 2, 3].map((errors) => waitForRetry(retries, errors))).toEqual([0, 2_500, 3_500, 0]);
  });

  test("the project's settings stand over the person's, and what is odd is not taken", () => {
    const project = makeProject();
    const env = { ...cleanEnv(project), PI_CODING_AGENT_DIR: join(dirname(project), "home", "agent") };
    expect(readRetries(project, env)).toEqual({ most: 3, firstMs: 2_000 });
    put(join(env.PI_CODING_AGENT_DIR, "settings.json"), { retry: { maxRetries: 5, baseDelayMs: 10 } });
    expect(readRetries(project, env)).toEqual({ most: 5, firstMs: 10 });
    put(join(project, ".pi", "settings.json"), { retry: { enabled: false, maxRetries: "many" } });
    expect(readRetries(project, env)).toEqual({ most: 0, firstMs: 10 });
  });

  function put(path: string, value: object): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(value));
  }
});

describe("E2 the runs of pi", () => {
  function follow(isIdle: () => boolean, retryMs = 0) {
    const ends: (string | null)[] = [];
    const runs = new Runs({
      ...{
        isIdle,
        now: () => performance.now(),
        retries: () => ({ most: retryMs === 0 ? 0 : 1, firstMs: retryMs }),
      },
      onSettled: (end) => ends.push(end?.kind ?? null),
    });
    return { runs, ends };
  }

  test("a run is over when pi is idle after its end, not before", async () => {
    let isIdle = false;
    const { runs, ends } = follow(() => isIdle);
    runs.start();
    runs.end([said("x")]);
    expect({ ends, isUnderWay: runs.isUnderWay }).toEqual({ ends: [], isUnderWay: true });
    isIdle = true;
    await until(() => ends.length > 0, "it settled");
    expect({ ends, isUnderWay: runs.isUnderWay }).toEqual({ ends: ["ok"], isUnderWay: false });
  });

  test("pi's own word counts at once, and once", () => {
    const { runs, ends } = follow(() => false);
    runs.start();
    runs.end([said("x")]);
    runs.settle();
    runs.settle();
    expect(ends).toEqual(["ok"]);
  });

  test("B13 an error that is tried again is no end; Esc in between is", async () => {
    const { runs, ends } = follow(() => true, 60_000);
    runs.start();
    runs.end([said("", { stopReason: "error", errorMessage: "500" })]);
    runs.start();
    runs.end([said("x")]);
    await until(() => ends.length > 0, "it settled");
    expect(ends).toEqual(["ok"]);
    runs.start();
    expect(runs.cut()).toBe(false);
    runs.end([said("", { stopReason: "error", errorMessage: "500" })]);
    expect(runs.cut()).toBe(true);
    expect(ends).toEqual(["ok", "aborted"]);
  });
});

describe("E2 when pi is free", () => {
  function open(over: Partial<PiContext> = {}) {
    const seen = { text: "", idle: true, pending: false, told: [] as string[], sent: [] as string[] };
    const listeners: ((data: string) => undefined)[] = [];
    const ui = {
      notify: (message: string) => seen.told.push(message),
      confirm: async () => true,
      select: async () => undefined,
      setStatus: vi.fn(),
      getEditorText: () => seen.text,
      onTerminalInput: (listener: (data: string) => undefined) => {
        listeners.push(listener);
        return () => listeners.splice(0);
      },
    };
    const ctx = {
      ...{ ui, hasUI: true, cwd: "/", sessionManager: { getSessionId: () => "s" }, abort: () => {} },
      isIdle: () => seen.idle,
      hasPendingMessages: () => seen.pending,
      ...over,
    };
    const pi = { sendUserMessage: (text: string) => seen.sent.push(text) } as unknown as PiApi;
    return {
      seen,
      terminal: new Terminal(pi, ctx),
      type: (data: string) => listeners.map((each) => each(data)),
    };
  }

  test("A5 not while a run is under way, a message waits, something is typed or was until just now", () => {
    const { seen, terminal } = open();
    expect(terminal.isFree(0)).toBe(true);
    seen.idle = false;
    expect(terminal.isFree(0)).toBe(false);
    seen.idle = true;
    seen.pending = true;
    expect(terminal.isFree(0)).toBe(false);
    seen.pending = false;
    seen.text = "half a";
    expect(terminal.isFree(1_000)).toBe(false);
    seen.text = "";
    expect(terminal.isFree(1_100)).toBe(false);
    expect(terminal.isFree(2_000)).toBe(true);
  });

  test("A5 not between Enter and the run that it starts, nor while a question or a compaction is open", async () => {
    const { terminal } = open();
    terminal.noteSubmitted(1_000);
    expect(terminal.isFree(1_500)).toBe(false);
    expect(terminal.isFree(9_000)).toBe(true);
    terminal.noteCompacting(10_000, undefined);
    expect(terminal.isFree(11_000)).toBe(false);
    terminal.noteCompacted();
    expect(terminal.isFree(11_000)).toBe(true);
    let answer = (_: string) => {};
    const asked = terminal.ask(() => new Promise<string>((resolve) => (answer = resolve)));
    await until(() => !terminal.isFree(11_000), "the question is open");
    answer("yes");
    expect(await asked).toBe("yes");
    expect(terminal.isFree(11_000)).toBe(true);
  });

  test("Esc is known in the forms in which terminals send it, and not inside of a question", async () => {
    const { terminal, type } = open();
    const escaped = vi.fn();
    terminal.onEscape(escaped);
    for (const data of ["\u001b", "\u001b[27u", "\u001b[27;1u", "\u001b[A", "a", "\u001b[27;5u"]) type(data);
    expect(escaped).toHaveBeenCalledTimes(3);
    await terminal.hold(async () => type("\u001b"));
    expect(escaped).toHaveBeenCalledTimes(3);
  });

  test("D2 once pi has taken the session away, nothing is free, sent or told, and nothing throws", () => {
    const gone = () => {
      throw new Error("This extension ctx is stale");
    };
    const { terminal } = open({ isIdle: gone, hasPendingMessages: gone, abort: gone });
    expect(terminal.isFree(0)).toBe(false);
    terminal.abort();
    const { seen, terminal: closed } = open();
    closed.close();
    closed.say("hello");
    expect({ isFree: closed.isFree(0), isSent: closed.send("x") }).toEqual({ isFree: false, isSent: false });
    expect(seen).toMatchObject({ told: [], sent: [] });
  });
});

describe("D10 a command that pi's agent ran", () => {
  const result = (toolName: string, text: string, isError: boolean) =>
    piUsedTool({
      toolCallId: "1",
      toolName,
      input: { command: "npm test" },
      content: [{ type: "text", text }],
      isError,
    }).ran;

  test.each([
    ["bash", "ok", false, { command: "npm test", exitCode: 0, output: "ok" }],
    ["bash", "no\n\nCommand exited with code 3", true, { exitCode: 3 }],
    ["bash", "Command timed out", true, { exitCode: null }],
    ["read", "ok", false, null],
  ])("%s %j %j", (tool, text, isError, expected) => {
    if (expected === null) expect(result(tool, text, isError)).toBeNull();
    else expect(result(tool, text, isError)).toMatchObject(expected);
  });
});
