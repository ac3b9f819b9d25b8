import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseTypedLine, splitWords } from "../../src/core/typed-line.ts";

const COMMANDS = new Set(["list", "delete", "clear", "pause", "until", "score", "reject", "run", "?"]);

function parse(text: string) {
  return parseTypedLine(text, COMMANDS);
}

describe("A1 an interval and a prompt", () => {
  test.each<readonly [string, readonly string[]]>([
    ["5m check the deploy", ["--", "5m check the deploy"]],
    ["  check it every 20m \n", ["--", "check it every 20m"]],
    ["--no-now 5m check", ["--no-now", "--", "5m check"]],
    ["--exact 45s ping", ["--exact", "--", "45s ping"]],
    ['--cron "0 9 * * 1-5" greet', ["--cron", "0 9 * * 1-5", "--", "greet"]],
    ["--cron='0 9 * * 1-5' greet", ["--cron", "0 9 * * 1-5", "--", "greet"]],
    [
      "--tz Europe/Paris --cron '0 9 * * *' greet",
      ["--tz", "Europe/Paris", "--cron", "0 9 * * *", "--", "greet"],
    ],
    ["--expect 'npm test' 5m go on", ["--expect", "npm test", "--", "5m go on"]],
    ["--in session 5m go on", ["--in", "session", "--", "5m go on"]],
    ["--prompt-file todo.md", ["--prompt-file", "todo.md"]],
    ["--no-now --no-jitter", ["--no-now", "--no-jitter"]],
    ["--cron", ["--cron"]],
    ["5m --weird prompt", ["--", "5m --weird prompt"]],
    ["5m don't touch \"src\" or 'lib'", ["--", "5m don't touch \"src\" or 'lib'"]],
    ["5m /review the last commit", ["--", "5m /review the last commit"]],
    ["5m first line\n  second: `x`\n\n- third", ["--", "5m first line\n  second: `x`\n\n- third"]],
    ["10m 每隔一小时检查部署", ["--", "10m 每隔一小时检查部署"]],
    ["toutes les 5 minutes : vérifie l'état", ["--", "toutes les 5 minutes : vérifie l'état"]],
    ["- a list\n- of things", ["--", "- a list\n- of things"]],
    ["", []],
    [" \n\t ", []],
  ])("%j is %j", (text, argv) => {
    expect(parse(text)).toEqual({ command: null, argv });
  });

  test("a prompt in any language, with any quotes and line breaks, is never changed", () => {
    const prompt = fc
      .string({ unit: "grapheme", minLength: 1 })
      .map((text) => text.trim())
      .filter((text) => text !== "" && !text.startsWith("--") && parse(text).command === null);
    fc.assert(
      fc.property(
        prompt,
        fc.constantFrom("", "--no-now ", '--cron "0 9 * * *" ', "--tz=UTC  "),
        (text, flags) => {
          const { command, argv } = parse(`${flags}${text}`);
          expect(command).toBeNull();
          expect(argv.slice(-2)).toEqual(["--", text]);
          expect(argv.slice(0, -2).filter((word) => word.startsWith("--"))).toHaveLength(
            flags === "" ? 0 : 1,
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("an interval in front changes nothing of what follows, also where that is a command's word", () => {
    fc.assert(
      fc.property(fc.constantFrom(...COMMANDS), fc.string(), (word, more) => {
        const text = `5m ${word} ${more}`.trim();
        expect(parse(text)).toEqual({ command: null, argv: ["--", text] });
      }),
    );
  });
});

describe("A3 commands", () => {
  test.each<readonly [string, string | null, readonly string[]]>([
    ["list", "list", ["list"]],
    ["?", "?", ["?"]],
    [" delete  a1b2 ", "delete", ["delete", "a1b2"]],
    ["delete a1b2 --json", "delete", ["delete", "a1b2", "--json"]],
    ["reject b7c1 --reason 'not like this'", "reject", ["reject", "b7c1", "--reason", "not like this"]],
    ["reject b7c1 it's wrong", "reject", ["reject", "b7c1", "it's", "wrong"]],
    ["Pause", "pause", ["pause"]],
    ["LIST", "list", ["list"]],
    ["Delete A1B2", "delete", ["delete", "A1B2"]],
    ["listing", null, ["--", "listing"]],
    ["Clear the cache every hour", null, ["--", "Clear the cache every hour"]],
    ["Run all tests every 5m", null, ["--", "Run all tests every 5m"]],
    ["list\nall", "list", ["list", "all"]],
  ])("%j is the command %j: %j", (text, command, argv) => {
    expect(parse(text)).toEqual({ command, argv });
  });
});

describe("B16 until has what must become true, what to do, and flags", () => {
  test.each<readonly [string, readonly string[]]>([
    ["", []],
    ["npm test passes", ["npm test passes"]],
    ['"npm test passes" fix the flaky tests', ["npm test passes", "fix the flaky tests"]],
    ["'npm test passes' fix it", ["npm test passes", "fix it"]],
    ['"npm test passes"', ["npm test passes"]],
    ['tests pass "fix the parser"', ["tests pass", "fix the parser"]],
    ['"a is green" fix it --budget 5 --yes', ["a is green", "fix it", "--budget", "5", "--yes"]],
    ["npm test passes --budget 5", ["npm test passes", "--budget", "5"]],
    ["--yes npm test passes", ["--yes", "npm", "test", "passes"]],
    ["--check 'tests=npm test' fix it", ["--check", "tests=npm test", "fix", "it"]],
    ['fix it --check tests="npm test"', ["fix it", "--check", "tests=npm test"]],
    ['fix it --check=tests="npm test"', ["fix it", "--check=tests=npm test"]],
    ["it's green and the others' too", ["it's green and the others' too"]],
    ["it's green and the others' too --budget 5", ["it's green and the others' too", "--budget", "5"]],
    ["it's green --budget 5", ["it's green", "--budget", "5"]],
    ["'tis green --budget 5", ["'tis green", "--budget", "5"]],
    ["'it's green' fix it", ["it's green", "fix it"]],
    ['"npm test passes" don\'t touch "src"', ["npm test passes", 'don\'t touch "src"']],
    ['all tests pass, the "auth" ones too', ['all tests pass, the "auth" ones too']],
    ['all tests pass, rename it "auth"', ['all tests pass, rename it "auth"']],
    ['"tests pass" first\n\n  second  line', ["tests pass", "first\n\n  second  line"]],
    ["tests pass\n- and  this", ["tests pass\n- and  this"]],
    ["a -- b", ["a -- b"]],
    ['"--yes is documented" do it', ["--yes is documented", "do it"]],
    ["所有测试通过 “ok”", ["所有测试通过 “ok”"]],
  ])("until %j is %j", (text, argv) => {
    expect(parse(`until ${text}`)).toEqual({ command: "until", argv: ["until", ...argv] });
  });

  test("Until with a capital is no prompt", () => {
    expect(parse("Until tests pass").argv).toEqual(["until", "tests pass"]);
  });

  test("what is typed without quotes around it and without flags is one word, unchanged", () => {
    const spec = fc.string({ unit: "grapheme" }).filter((text) => !/(^|\s)(?:--[a-z]|["'])/.test(text));
    fc.assert(
      fc.property(spec, (text) => {
        const trimmed = text.trim();
        expect(parse(`until ${text}`).argv).toEqual(trimmed === "" ? ["until"] : ["until", trimmed]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("a flag is never swallowed by apostrophes before it", () => {
    const word = fc.stringMatching(/^[a-z]{1,3}['"]?[a-z]{0,3}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), (words) => {
        const text = words.join(" ");
        expect(parse(`until ${text} --budget 5`).argv).toEqual(["until", text, "--budget", "5"]);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("A1 words in quotes", () => {
  test.each<readonly [string, readonly string[]]>([
    ["", []],
    ["a  b\tc\nd", ["a", "b", "c", "d"]],
    ['"a b" c', ["a b", "c"]],
    ["'a b' \"c d\"", ["a b", "c d"]],
    ['""', [""]],
    ["don't won't", ["don't", "won't"]],
    ['say "hi', ["say", '"hi']],
    ['a"b c"d', ['a"b', 'c"d']],
    ['"it\'s" \'a "b"\'', ["it's", 'a "b"']],
    ["$(touch x) `y` ; \\ *", ["$(touch", "x)", "`y`", ";", "\\", "*"]],
    ["k='v w' x", ["k=v w", "x"]],
  ])("%j is %j", (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  test("words without quotes or spaces come back as they are", () => {
    const word = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !/[\s"']/.test(text));
    fc.assert(
      fc.property(fc.array(word), fc.constantFrom(" ", "\n", "  "), (words, space) => {
        expect(splitWords(words.join(space))).toEqual(words);
      }),
    );
  });

  test("what is put in quotes comes back as one word", () => {
    const text = fc.string({ unit: "grapheme" }).filter((each) => !each.includes('"'));
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        expect(splitWords(texts.map((each) => `"${each}"`).join(" "))).toEqual(texts);
      }),
    );
  });
});
