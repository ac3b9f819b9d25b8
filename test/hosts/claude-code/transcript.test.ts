/** What a stop reads of the client's transcript: lines in the form that the real client was measured to write. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import {
  isSomeoneQueued,
  readTranscript,
  type TranscriptLine,
  transcriptLength,
  wasInterrupted,
} from "../../../src/hosts/claude-code/usage/transcript.ts";
import { removeTempDirs, tempDir } from "../../store/fixtures/temp-dir.ts";

afterEach(removeTempDirs);

const PROMPT = "0b6c1111-2222-4333-8444-555566667777";
const NOTE = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>";

function queue(operation: string, content?: string): TranscriptLine {
  return { type: "queue-operation", operation, ...(content === undefined ? {} : { content }) };
}

function interrupted(text = "[Request interrupted by user]", promptId = PROMPT): TranscriptLine {
  return { type: "user", promptId, message: { role: "user", content: [{ type: "text", text }] } };
}

function write(...lines: readonly unknown[]): string {
  const path = join(tempDir(), "transcript.jsonl");
  writeFileSync(
    path,
    lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
  );
  return path;
}

describe("D3 a person waits when what they typed has not reached the agent", () => {
  const in_ = (content: string) => queue("enqueue", content);
  const out = queue("dequeue");
  test.each<readonly [string, boolean, readonly TranscriptLine[]]>([
    ["nothing was queued", false, []],
    ["text was queued", true, [in_("wait")]],
    ["a slash command was queued", true, [in_("/loopwright pause")]],
    ["it ran as a turn of its own", false, [in_("wait"), out]],
    ["one of two ran", true, [in_("wait"), in_("/loopwright pause"), out]],
    ["both ran", false, [in_("wait"), in_("/loopwright pause"), out, out]],
    ["it was taken in between two tools", false, [in_("wait"), queue("remove", "wait")]],
    ["the second of two was taken in", true, [in_("/x"), in_("wait"), queue("remove", "wait")]],
    ["all went back to the input", false, [in_("a"), in_("b"), queue("popAll", "a\nb")]],
    ["something new after that", true, [in_("a"), queue("popAll", "a"), in_("b")]],
    ["only a wake-up is queued", false, [in_(NOTE)]],
    ["text behind a wake-up", true, [in_(NOTE), in_("wait")]],
    ["text behind a wake-up was taken in", false, [in_(NOTE), in_("wait"), queue("remove", "wait")]],
    ["text before a wake-up ran", false, [in_("wait"), in_(NOTE), out]],
    ["something left that came before these lines", false, [out, queue("remove", "old"), queue("popAll")]],
    ["something left before, and text came", true, [out, in_("wait")]],
    ["an operation that nobody knows", true, [in_("wait"), queue("shuffle")]],
    [
      "a picture was queued",
      true,
      [{ type: "queue-operation", operation: "enqueue", content: [{ type: "image" }] }],
    ],
    ["lines of another kind", false, [{ type: "user", operation: "enqueue", content: "wait" }]],
  ])("%s: %s", (_, expected, lines) => {
    expect(isSomeoneQueued(lines)).toBe(expected);
    expect(isSomeoneQueued(readTranscript(write(...lines), 0))).toBe(expected);
  });

  test("what is known to have had its turn does not wait, also before the client has written that down", () => {
    const queued = { type: "queue-operation", operation: "enqueue", content: "hello" };
    const begun = { type: "queue-operation", operation: "dequeue" };
    expect(isSomeoneQueued([queued], 1)).toBe(false);
    expect(isSomeoneQueued([queued, begun], 1)).toBe(false);
    expect(isSomeoneQueued([queued, queued], 1)).toBe(true);
    expect(isSomeoneQueued([queued, begun, queued], 1)).toBe(true);
  });

  test("as many as came in and did not leave are waiting, in any order of operations", () => {
    const step = fc.constantFrom("in", "out", "all");
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let count = 0;
        const lines = steps.map((each, index) => {
          count = each === "in" ? count + 1 : each === "all" ? 0 : Math.max(0, count - 1);
          return each === "in" ? in_(`text ${index}`) : each === "out" ? out : queue("popAll");
        });
        expect(isSomeoneQueued(lines)).toBe(count > 0);
      }),
    );
  });
});

describe("D2 an interruption is a line of the client's own", () => {
  test.each<readonly [string, boolean, TranscriptLine]>([
    ["Esc while the model answers", true, interrupted()],
    ["Esc while a tool runs", true, interrupted("[Request interrupted by user for tool use]")],
    ["of another prompt", false, interrupted(undefined, "another")],
    ["quoted in what a person wrote", false, interrupted("what is [Request interrupted by user]?")],
    [
      "a person's text that is no list of parts",
      false,
      { ...interrupted(), message: { content: "[Request interrupted by user]" } },
    ],
    [
      "in the result of a tool",
      false,
      {
        type: "user",
        promptId: PROMPT,
        message: { content: [{ type: "tool_result", text: "[Request interrupted by user]" }, null] },
      },
    ],
    [
      "a part whose text is none",
      false,
      { ...interrupted(), message: { content: [{ type: "text", text: 5 }] } },
    ],
    ["said by the model", false, { ...interrupted(), type: "assistant" }],
  ])("%s: %s", (_, expected, line) => {
    expect(wasInterrupted(readTranscript(write(line), 0), PROMPT)).toBe(expected);
  });
});

describe("H5 a transcript is input from outside", () => {
  test("none, or one that is not there or cannot be read, has no lines and no length", () => {
    for (const path of [null, join(tempDir(), "missing.jsonl")]) {
      expect(readTranscript(path, 0)).toEqual([]);
      expect(transcriptLength(path)).toBe(0);
    }
    expect(readTranscript(tempDir(), 0)).toEqual([]);
  });

  test("only what comes after the offset counts", () => {
    const path = write(queue("enqueue", "before"));
    const offset = transcriptLength(path);
    expect(isSomeoneQueued(readTranscript(path, offset))).toBe(false);
    appendFileSync(path, `${JSON.stringify(queue("enqueue", "après: ü"))}\n`);
    expect(readTranscript(path, offset)).toMatchObject([{ content: "après: ü" }]);
    expect(readTranscript(path, offset * 100)).toEqual([]);
  });

  test("a line that is cut at either end, or is no JSON, is left out", () => {
    const whole = JSON.stringify(queue("enqueue", "wait"));
    const path = write('{"type":"queue-operation",', whole);
    appendFileSync(path, whole.slice(0, -5));
    expect(readTranscript(path, 0)).toHaveLength(1);
    expect(readTranscript(path, 3)).toHaveLength(1);
    expect(readTranscript(write('"type":"queue-operation"', whole), 0)).toHaveLength(1);
  });

  test("of a long one only the end is read", () => {
    const long = JSON.stringify({ type: "assistant", text: "x".repeat(300_000) });
    const path = write(queue("enqueue", "long ago"), long, long, long, long, queue("enqueue", "now"));
    expect(readTranscript(path, 0)).toMatchObject([{ content: "now" }]);
  });
});
