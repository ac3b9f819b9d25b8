import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LoopId } from "../../../src/core/loop.ts";
import { LoopError } from "../../../src/errors.ts";
import {
  decodeEntry,
  type Entry,
  encodeEntry,
  JOURNAL_VERSION,
  type LoopEntry,
  signAgain,
} from "../../../src/store/journal/entry.ts";
import { Signer } from "../../../src/store/signed/signer.ts";
import { newGoal } from "../fixtures/goals.ts";
import { creation, idOf, newTask } from "../fixtures/tasks.ts";

const AWKWARD = 'line\none\r\n"quoted" \\ \u2028\u2029 \u0000 \ud83d\ude00 lone \ud800 and \udc00 é ~';

function entryOf(prompt: string): LoopEntry {
  const { id, loop, event, effects, outcomes, at, token } = creation(newTask(idOf(1), { prompt }));
  return {
    v: JOURNAL_VERSION,
    w: "a.b.1",
    type: "loop",
    ver: 1,
    id,
    loop,
    event,
    effects,
    outcomes,
    at,
    token,
  };
}

function summed(body: string): string {
  return `${body},"sum":"${crc32(body).toString(16).padStart(8, "0")}"}`;
}

/** As the journal reads it: bytes from the file, up to the newline. */
function decodeBytes(bytes: Buffer): Entry | null {
  const decoded = decodeEntry(bytes.toString("utf8"), SIGNER);
  return typeof decoded === "object" ? decoded : null;
}

const SIGNER = new Signer(Buffer.alloc(32, 1), "0".repeat(32), 1n);
const OTHER = new Signer(Buffer.alloc(32, 2), "0".repeat(32), 1n);
const DAMAGED = "damaged";

describe("one line of the journal", () => {
  test("H1 any JSON comes back as it went in", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, prompt) => {
        const entry = { ...entryOf(prompt), extra: value };
        const line = encodeEntry(entry, SIGNER);
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(decodeBytes(Buffer.from(line.slice(0, -1)))).toMatchObject(JSON.parse(JSON.stringify(entry)));
      }),
    );
  });

  test("newlines, separators and lone surrogates in a prompt stay in one line and come back", () => {
    const line = encodeEntry(entryOf(AWKWARD), SIGNER);
    const bytes = Buffer.from(line);
    expect(bytes.indexOf(0x0a)).toBe(bytes.length - 1);
    expect(decodeBytes(bytes.subarray(0, -1))).toMatchObject({ loop: { prompt: AWKWARD } });
  });

  test("H1 a line with any byte changed is rejected", () => {
    const bytes = Buffer.from(encodeEntry(entryOf(AWKWARD), SIGNER).slice(0, -1));
    for (let at = 0; at < bytes.length; at++) {
      for (const flip of [0x01, 0x20, 0x80, 0xff]) {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ flip;
        expect(decodeBytes(damaged), `byte ${at} ^ ${flip}`).toBeNull();
      }
    }
  });

  test("H1 a line that was cut anywhere is rejected, from either end", () => {
    const bytes = Buffer.from(encodeEntry(entryOf(AWKWARD), SIGNER).slice(0, -1));
    for (let length = 0; length < bytes.length; length++) {
      expect(decodeBytes(bytes.subarray(0, length)), `first ${length} bytes`).toBeNull();
      expect(decodeBytes(bytes.subarray(bytes.length - length)), `last ${length} bytes`).toBeNull();
    }
  });

  test("H1 two lines that ran into each other are rejected", () => {
    const line = encodeEntry(entryOf("x"), SIGNER).slice(0, -1);
    expect(decodeEntry(`${line}${line}`, SIGNER)).toBe(DAMAGED);
    expect(decodeEntry(`${line.slice(0, 40)}${line}`, SIGNER)).toBe(DAMAGED);
  });

  test("a line of a newer format is an error that says what to do", () => {
    const line = encodeEntry({ ...entryOf("x"), v: JOURNAL_VERSION + 1 }, SIGNER).slice(0, -1);
    expect(() => decodeEntry(line, SIGNER)).toThrow(LoopError);
    expect(() => decodeEntry(line, SIGNER)).toThrow(/newer version of loopwright \(format 4;/);
  });

  test.each([
    ["no JSON", "hello"],
    ["an array", "[1"],
    ["no version", '{"type":"seal"'],
    ["an unknown type", '{"v":1,"w":"x","at":0,"type":"nonsense"'],
  ])("H5 %s with a right checksum is no line", (_, body) => {
    expect(decodeEntry(summed(body), null)).toBe(DAMAGED);
  });

  test.each<[string, object]>([
    ["no loop", { loop: null }],
    ["a loop of another id", { loop: newTask(idOf(2)) }],
    ["an id that is a path", { id: "../../x", loop: newTask("../../x" as LoopId) }],
    ["an id that is a number", { id: 12345678, loop: { ...newTask(idOf(1)), id: 12345678 } }],
    ["a version that is text", { loop: { ...newTask(idOf(1)), version: "1" } }],
    ["an unknown status", { loop: { ...newTask(idOf(1)), status: "asleep" } }],
    ["an unknown cadence", { loop: { ...newTask(idOf(1)), cadence: { kind: "lunar" } } }],
    ["no cadence", { loop: { ...newTask(idOf(1)), cadence: null } }],
    ["a goal whose phase is none", { loop: newGoal(idOf(1), { phase: { kind: "done" } as never }) }],
    ["no event", { event: null }],
    ["outcomes that are no list", { outcomes: 5 }],
    ["a snapshot with a loop that is none", { type: "snapshot", lastToken: 0, lease: null, loops: [{}] }],
    ["a snapshot without loops", { type: "snapshot", lastToken: 0, lease: null }],
    ["a lease without a holder", { type: "lease", lease: null }],
    ["a release of nothing", { type: "release", token: null }],
  ])("H2 H5 %s with a right checksum counts as damaged", (_, fields) => {
    const { v, w, at, ...rest } = entryOf("x");
    const entry = { v, w, at, ...rest, ...fields };
    expect(decodeEntry(summed(JSON.stringify(entry).slice(0, -1)), null)).toBe(DAMAGED);
    expect(decodeEntry(summed(JSON.stringify(entryOf("x")).slice(0, -1)), null)).toBeTypeOf("object");
  });

  test("the same helper sums what is a line", () => {
    expect(decodeEntry(summed('{"v":1,"w":"x","at":0,"type":"seal"'), null)).toMatchObject({ type: "seal" });
  });

  test("H2 a line without this folder's signature is foreign, also with a right checksum", () => {
    const line = encodeEntry(entryOf("x"), OTHER).slice(0, -1);
    expect(decodeEntry(line, SIGNER)).toBe("foreign");
    expect(decodeEntry(line, OTHER)).toMatchObject({ type: "loop" });
    expect(decodeEntry(summed(JSON.stringify(entryOf("x")).slice(0, -1)), SIGNER)).toBe("foreign");
    // a signature of another kind of file
    const body = JSON.stringify(entryOf("x")).slice(0, -1);
    const forged = `${summed(body).slice(0, -1)},"sig":"${SIGNER.sign("tasks.json", body)}"}`;
    expect(decodeEntry(forged, SIGNER)).toBe("foreign");
  });

  test("H2 a line that is signed again is the same line", () => {
    const old = summed(JSON.stringify(entryOf("x")).slice(0, -1));
    expect(decodeEntry(signAgain(old, SIGNER) ?? "", SIGNER)).toMatchObject(decodeEntry(old, null) as Entry);
    expect(signAgain(old.replace("x", "y"), SIGNER)).toBeNull();
  });
});
