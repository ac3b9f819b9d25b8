/** The table of kinds of checks: what is true of every row, and that nothing else knows the rows. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Check, CheckKind, Criterion } from "../../../src/core/checks/check.ts";
import { evidenceOfLook, evidenceOfOutput, noEvidence } from "../../../src/core/checks/evidence.ts";
import {
  bestVerdict,
  commandOf,
  isRunOrMeasured,
  isWeak,
  kindOf,
  kindOfWord,
  parseCheck,
  questionOf,
  renderBareCheck,
  renderCheck,
  renderDemand,
  renderFinding,
  renderTrusted,
  runOf,
  VERIFICATIONS,
  verificationOf,
} from "../../../src/core/checks/kinds.ts";

/** Each kind once, as a person writes it. The compiler asks for a new kind here too. */
const WRITTEN: { readonly [K in CheckKind]: readonly [text: string, check: Check] } = {
  command: ["npm test", { kind: "command", command: "npm test" }],
  measure: [
    "npm run -s cov >= 80",
    { kind: "measure", command: "npm run -s cov", comparison: ">=", target: 80 },
  ],
  judge: ["judge: Is it blue?", { kind: "judge", question: "Is it blue?" }],
  review: ["review: Is it simple?", { kind: "review", question: "Is it simple?" }],
  assumption: ["assume: the quota is enough", { kind: "assumption" }],
};
const ALL = Object.values(WRITTEN);
const TAKEN = { tree: "t1", startedAt: 100, endedAt: 350 };

function named(check: Check): Criterion {
  return { name: "it", check, source: "flag" };
}

describe("every kind of check", () => {
  test.each(ALL)("%s is read as what it is", (text, check) => {
    expect(parseCheck(text)).toEqual(check);
  });

  test.each(ALL)("%s has a word in SHAPE.md that names it and no other", (_text, check) => {
    expect(kindOfWord(verificationOf(check))).toBe(kindOf(check));
  });

  test.each(ALL)("%s has a text for a terminal, a prompt and a table", (_text, check) => {
    expect(renderCheck(named(check))).toMatch(/^it: \S/);
    expect(renderDemand(check)).not.toBe("");
    expect(renderBareCheck(check)).not.toBe("");
    const evidence = noEvidence(verificationOf(check), TAKEN);
    expect(renderFinding(named(check), evidence)).not.toBe("");
    expect(renderFinding(named(check), null)).toBe("never checked");
    expect(renderFinding(named(check), { ...evidence, timedOut: true })).toContain("ran out of time");
  });

  test.each(ALL)("%s needs trust exactly when something happens for it", (_text, check) => {
    expect(renderTrusted(named(check)) === null).toBe(runOf(check).kind === "nothing");
  });

  test.each(ALL)("%s is either run, looked at or blocks the end", (_text, check) => {
    const verification = verificationOf(check);
    const isRun = commandOf(check) !== null;
    const isAsked = questionOf(check) !== null;
    expect([isRun, isAsked, kindOf(check).blocks !== null].filter(Boolean)).toHaveLength(1);
    expect(isRunOrMeasured(verification)).toBe(isRun);
    expect(isWeak(verification)).toBe(isAsked);
  });

  test("is verified in a way of its own, the strongest first", () => {
    expect(VERIFICATIONS).toEqual([
      "execution output",
      "measurement",
      "observation",
      "code review",
      "assumption",
    ]);
  });
});

test.each<[readonly CheckKind[], string]>([
  [[], "RESEARCH"],
  [["command", "measure"], "SHIP"],
  [["command", "judge"], "SHIP"],
  [["command", "review"], "MONITOR"],
  [["command", "review", "assumption"], "RESEARCH"],
])("the weakest of %j decides which verdict is possible: %s", (kinds, verdict) => {
  expect(bestVerdict(kinds.map((kind) => ({ check: WRITTEN[kind][1] })))).toBe(verdict);
});

test("a question may hold a comparison, and is not measured", () => {
  expect(parseCheck("judge: is the coverage >= 80")).toEqual({
    kind: "judge",
    question: "is the coverage >= 80",
  });
});

test("a file of the repository shows what it asks for, and what it wants of a number", () => {
  const shown = ALL.map(([, check]) => renderTrusted(named(check)));
  expect(shown).toEqual([
    { name: "it", command: "npm test" },
    { name: "it >= 80", command: "npm run -s cov" },
    { name: "it", command: "judge: Is it blue?" },
    { name: "it", command: "review: Is it simple?" },
    null,
  ]);
});

describe("evidence", () => {
  const read = (check: Check, exitCode: number | null, tail: string) => {
    const run = runOf(check);
    if (run.kind !== "command") throw new Error("it is not run");
    return evidenceOfOutput(check, run, { exitCode, timedOut: false, tail }, TAKEN);
  };

  test("of a command is its exit code, and how many tests ran where the output tells", () => {
    const [, check] = WRITTEN.command;
    expect(read(check, 0, "# tests 12\n")).toMatchObject({
      met: true,
      exitCode: 0,
      value: null,
      tests: 12,
      tree: "t1",
      at: 350,
      durationMs: 250,
      verification: "execution output",
    });
    expect(read(check, null, "")).toMatchObject({ met: false, exitCode: null });
    expect(read(check, 1, "no summary")).not.toHaveProperty("tests");
  });

  test.each<[exitCode: number, tail: string, met: boolean, value: number | null, note: string | null]>([
    [0, "All files | 82.5 %", true, 82.5, null],
    [0, "\u001b[32m79\u001b[0m", false, 79, null],
    [1, "90", false, 90, null],
    [0, "nothing to see", false, null, "it printed no number"],
    [1, "nothing to see", false, null, null],
  ])("of a measurement: exit %i and %j", (exitCode, tail, met, value, note) => {
    expect(read(WRITTEN.measure[1], exitCode, tail)).toMatchObject({ met, value, note, exitCode });
  });

  test("keeps the last part of a long output, and a clock that was set back gives no time back", () => {
    const long = `${"x".repeat(10_000)}end`;
    const { tail, durationMs } = evidenceOfLook(
      "observation",
      { isYes: true, text: long, note: null },
      { tree: "t1", startedAt: 500, endedAt: 400 },
    );
    expect(tail).toHaveLength(4_000);
    expect(tail.endsWith("end")).toBe(true);
    expect(durationMs).toBe(0);
  });
});

describe("only the table knows the kinds", () => {
  const src = fileURLToPath(new URL("../../../src", import.meta.url));
  const KNOWS =
    /\bcheck\.kind\s*[!=]==\s*"(?:command|measure|judge|review|assumption)"|case "(?:measure|judge|assumption)"|"(?:measure|assumption)"|kind: "(?:judge|review)"/;

  test.each([
    'if (check.kind === "command") run();',
    'switch (kind) { case "judge": }',
    'const check = { kind: "review", question };',
    'kinds.includes("assumption")',
  ])("the rule finds %s", (code) => {
    expect(KNOWS.test(code)).toBe(true);
  });

  test("no other file of the source tells one kind from another", () => {
    const files = readdirSync(src, { recursive: true, encoding: "utf8" })
      .map((path) => path.replaceAll("\\", "/"))
      .filter((path) => path.endsWith(".ts") && !path.startsWith("core/checks/"));
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((path) => KNOWS.test(readFileSync(join(src, path), "utf8")))).toEqual([]);
  });
});
