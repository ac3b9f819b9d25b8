/** What the reader of shell lines tells of each command. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outermostCommands, type ShellCommand, type ShellPart } from "../../../src/core/shell/command.ts";
import { shellPieces } from "../../../src/core/shell/pieces.ts";
import { readShellLine } from "../../../src/core/shell/reader.ts";
import { anyText } from "../../support/any-text.ts";
import { cpuMs } from "../../support/cpu-time.ts";

const commandsOf = (parts: readonly ShellPart[]): ShellCommand[] =>
  parts.flatMap((part) => (part.kind === "command" ? part.command : []));
const only = (line: string): ShellCommand | undefined => commandsOf(readShellLine(line)).at(-1);

describe("words", () => {
  test.each<readonly [string, readonly string[]]>([
    ["npm test", ["npm", "test"]],
    [`echo 'a b' "c $d" e\\ f`, ["echo", "a b", "c $d", "e f"]],
    [`echo "a\\"b\\n" 'c\\d'`, ["echo", 'a"b\\n', "c\\d"]],
    ["echo $'it\\'s\\ta\\x41\\u00e9\\101'", ["echo", "it's\taAéA"]],
    [`echo $"a b"`, ["echo", "a b"]],
    ["echo a$(b)c `d`", ["echo", "a$()c", "$()"]],
    ["echo $((1 + 2))", ["echo", "$()"]],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is shell text
    ["echo ${a:-b c} d", ["echo", "${a:-b c}", "d"]],
    ["npm \\\n  te\\\nst", ["npm", "test"]],
    ["cat <<< word", ["cat"]],
    ["diff <(a) b", ["diff", "$()", "b"]],
    ["[[ -f a && $b < c ]]", ["[[", "-f", "a", "&&", "$b", "<", "c", "]]"]],
    ["for x in a b", ["for", "x", "in", "a", "b"]],
    ["command -v npm", ["command", "-v", "npm"]],
    ["'if' a", ["if", "a"]],
  ])("%s", (line, words) => {
    expect(only(line)?.words).toEqual(words);
  });
});

describe("what stands around the words", () => {
  test.each<readonly [string, Partial<ShellCommand>]>([
    [
      "A=1 B='x y' make",
      {
        assignments: [
          { name: "A", value: "1" },
          { name: "B", value: "x y" },
        ],
      },
    ],
    ["A=(x 'y z')", { assignments: [{ name: "A", value: "x y z" }], words: [] }],
    ["! time -p make", { keywords: ["!", "time"], words: ["make"] }],
    ["if ! make", { keywords: ["if", "!"] }],
    ["make < in > out 2>> log", { inputs: ["in"], outputs: ["out", "log"] }],
    ["make &> all", { outputs: ["all"] }],
    ["exec -a name make -k", { keywords: ["exec"], words: ["make", "-k"] }],
    ["g() { make", { keywords: ["{"], words: ["make"] }],
  ])("%s", (line, expected) => {
    expect(only(line)).toMatchObject(expected);
  });

  test("what follows a command is told, also behind a subshell", () => {
    const ends = (line: string) =>
      readShellLine(line).map((part) =>
        part.kind === "command" ? part.command.end : part.kind === "close" ? `)${part.end}` : "(",
      );
    expect(ends("a && b || c; d | e & f |& g")).toEqual(["&&", "||", ";", "|", "&", "|", ""]);
    expect(ends("(a; b) | c")).toEqual(["(", ";", ")", ")|", ""]);
    expect(ends("case x in y) a;; z) b;& esac")).toEqual([";", ";", ";", ""]);
  });

  test("what a substitution runs stands in front of its command, and belongs to it", () => {
    const parts = readShellLine('echo "$(a $(b))" && c');
    expect(commandsOf(parts).map(({ words }) => words[0])).toEqual(["b", "a", "echo", "c"]);
    const [echo, c] = outermostCommands(parts);
    expect(echo?.inner.map(({ words }) => words[0])).toEqual(["b", "a"]);
    expect(c?.words).toEqual(["c"]);
  });

  test("two parentheses are a subshell where a plain sh would run a program", () => {
    const programs = (line: string) => commandsOf(readShellLine(line)).map(({ words }) => words[0]);
    expect(programs("((npm test))")).toEqual(["npm"]);
    expect(programs("((cd web && npm test) || exit 1)")).toEqual(["cd", "npm", "exit"]);
    expect(programs("((i += 1))")).toEqual(["let"]);
  });
});

describe("any text", () => {
  test("nothing is thrown, and a line of plain words is those words", () => {
    fc.assert(
      fc.property(anyText(60), (text) => {
        readShellLine(text);
        shellPieces(text);
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[b-z][\w./:@%+-]{2,8}x$/), { minLength: 1 }), (words) => {
        expect(only(words.join(" "))?.words).toEqual(words);
      }),
    );
  });

  test.each([
    "$(",
    "`",
    "'",
    '"',
    "(",
    "((",
    "$((",
    "$((1)",
    "(( ;",
    "${",
    "a && ",
    "<<E\n",
    "<<E ",
    "case x in ",
    "[[ ",
    "a=(",
    "<(",
    "\\",
    "$'",
    "f() ",
    "function ",
    "time -",
  ])("%j, many times, takes no long time", (piece) => {
    const text = piece.repeat(50_000);
    const spent = cpuMs(() => {
      readShellLine(text);
      shellPieces(text);
    });
    expect(spent).toBeLessThan(1_000);
  });
});
