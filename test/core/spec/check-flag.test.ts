import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderCheck, verificationOf } from "../../../src/core/checks/kinds.ts";
import type { Check } from "../../../src/core/goal/goal.ts";
import { parseCheckFlag } from "../../../src/core/spec/check-flag.ts";
import { runs } from "../../support/runs.ts";

const checkOf = (text: string) => {
  const parsed = parseCheckFlag(text);
  return parsed.kind === "ok" ? parsed.criterion.check : parsed.message;
};

describe("B6 --check 'name=command'", () => {
  test.each([
    "npm test",
    "cmd > out.txt",
    "cmd 2> 5",
    "cmd 2>/dev/null",
    "cmd < in.txt | sort",
    "test $(wc -l < f) -ge 3",
    "test 3 == 3",
    "[ $(wc -l < f) -ge 3 ]",
    'echo "a >= 80"',
    "echo 'a >= 80'",
    "node -e 'process.exit(1 >= 80)'",
    "echo a \\> 5",
    'echo ">" 5 "80"',
    'cmd > "80"',
    "(( a >= 3 ))",
    "echo $(( 3 >= 2 ))",
    "FOO=bar npm test",
    "curl -fsS http://localhost:3000/health?a=b",
    "a && b || c",
    "日本語 テスト",
  ])("%s is a command, as it is", (command) => {
    expect(parseCheckFlag(`tests=${command}`)).toEqual({
      kind: "ok",
      criterion: { name: "tests", check: { kind: "command", command }, source: "flag" },
    });
  });

  test.each<[string, string, string, number]>([
    ["npm run -s cov >= 80", "npm run -s cov", ">=", 80],
    ["cmd <= 80.5", "cmd", "<=", 80.5],
    ["cmd > 5", "cmd", ">", 5],
    ["cmd < 5", "cmd", "<", 5],
    ["grep -c 'a=b' f == 0", "grep -c 'a=b' f", "==", 0],
    ["cmd != 0", "cmd", "!=", 0],
    ["cmd >= -1.5", "cmd", ">=", -1.5],
    ["cmd >= .5", "cmd", ">=", 0.5],
    ["cmd >= 1e3", "cmd", ">=", 1000],
    ["cmd 2>&1 | tail -1   >=   80%", "cmd 2>&1 | tail -1", ">=", 80],
    ["echo 'a >= 3' >= 80", "echo 'a >= 3'", ">=", 80],
    ["wc -l < f > 3", "wc -l < f", ">", 3],
  ])("%s is a measurement", (text, command, comparison, target) => {
    expect(checkOf(`coverage=${text}`)).toEqual({ kind: "measure", command, comparison, target });
  });

  test.each<[string, Check]>([
    ["judge: does it look right?", { kind: "judge", question: "does it look right?" }],
    ["Judge : ok = fine?", { kind: "judge", question: "ok = fine?" }],
    ["review: is it simple?", { kind: "review", question: "is it simple?" }],
    ["assume: the quota is enough", { kind: "assumption" }],
    ["assume:", { kind: "assumption" }],
  ])("%s", (text, check) => {
    expect(checkOf(`x=${text}`)).toEqual(check);
  });

  test("the name is any text before the first =, without the space around it", () => {
    const parsed = parseCheckFlag(" UI renders (Safari) = a=b ");
    expect(parsed).toMatchObject({ criterion: { name: "UI renders (Safari)", check: { command: "a=b" } } });
  });
});

describe("B6 what is wrong with a --check is said exactly", () => {
  test.each([
    ["tests", 'has no "="'],
    ["", 'has no "="'],
    ["=npm test", "the name is empty"],
    [" =npm test", "the name is empty"],
    [`${"x".repeat(61)}=a`, "more than 60 characters"],
    ["a\nb=x", "invisible"],
    ["a\u202eb=x", "invisible"],
    ["__proto__=x", "__proto__"],
    ["tests=", 'no command after "="'],
    ["tests=  ", 'no command after "="'],
    ["tests=a\0b", "NUL"],
    ["ui=judge:", 'no question after "judge:"'],
    ["ui=review:  ", 'no question after "review:"'],
    ["coverage>=80", "no command that prints the number"],
    ["coverage >= 80", "coverage=npm run -s cov >= 80"],
    ["warnings<=3", "warnings=npm run -s cov <= 3"],
    ["x=>= 80", 'no command before ">="'],
    ["x=cmd >=80", "a space on each side"],
    ["x=cmd>= 80", "a space on each side"],
    ["x=cmd <= eighty", '"<="'],
    ["x=cmd >= 80 && other", "at the very end"],
    ["x=cmd >= 5 >= 80", "at the very end"],
    ["x=test 3 > 2", "-gt"],
    ["x=test 3 >= 2", "-ge"],
    ["x=[ 3 > 2 ]", "-gt"],
  ])("%j: %s", (text, part) => {
    const parsed = parseCheckFlag(text);
    expect(parsed).toMatchObject({ kind: "invalid" });
    expect(checkOf(text)).toContain(part);
    expect(checkOf(text)).toMatch(/^[^\n]{1,400}\.$/);
  });

  test("any text has an answer, and a command is never changed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const parsed = parseCheckFlag(text);
        if (parsed.kind !== "ok") return;
        const { check } = parsed.criterion;
        if (check.kind === "command" || check.kind === "measure") {
          expect(text).toContain(check.command);
          expect(check.command).not.toBe("");
        }
      }),
      { numRuns: runs(500) },
    );
  });
});

test.each<[Check, string, string]>([
  [{ kind: "command", command: "npm test" }, "x: `npm test` exits 0", "execution output"],
  [
    { kind: "measure", command: "npm run -s cov", comparison: ">=", target: 80 },
    "x: `npm run -s cov` prints a number >= 80",
    "measurement",
  ],
  [{ kind: "judge", question: "Is it so?" }, "x: a second agent looks (weaker): Is it so?", "observation"],
  [
    { kind: "review", question: "Is it so?" },
    "x: a second agent reads the code (weaker): Is it so?",
    "code review",
  ],
  [{ kind: "assumption" }, "x: no check proves it (assumption); it blocks the end", "assumption"],
])("B6 %j in words", (check, text, verification) => {
  expect(renderCheck({ name: "x", check })).toBe(text);
  expect(verificationOf(check)).toBe(verification);
});
