/** The programs that our reader finds in a shell line, held against `unbash`. */
import fc from "fast-check";
import { forEachChild, parse, type SyntaxNode } from "unbash";
import { describe, expect, test } from "vitest";
import { readShellLine } from "../../../src/core/shell/reader.ts";

/** Of these, our reader makes a command although the shell starts no program for them. */
const OUR_OWN: ReadonlySet<string> = new Set(["for", "select", "case", "[[", "let"]);
/** Our reader looks behind these. */
const BEHIND: ReadonlySet<string> = new Set(["exec", "command", "builtin"]);

function programsOf(line: string): string[] {
  return readShellLine(line)
    .flatMap((part) => (part.kind === "command" ? (part.command.words[0] ?? []) : []))
    .filter((program) => !OUR_OWN.has(program))
    .sort();
}

function programsByOracle(line: string): string[] {
  const script = parse(line);
  expect(script.errors ?? [], line).toEqual([]);
  const found: string[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Command") {
      const words = [node.name, ...node.suffix].flatMap((word) =>
        word !== undefined && "value" in word && typeof word.value === "string" ? word.value : [],
      );
      const program = words.find((word) => !BEHIND.has(word));
      if (program !== undefined && !OUR_OWN.has(program)) found.push(program);
    }
    forEachChild(node, visit);
  };
  visit(script);
  return found.sort();
}

/** Each with the programs that it starts, in the order of the alphabet. */
const CORPUS: readonly (readonly [string, string])[] = [
  ["npm test", "npm"],
  ["echo $'it\\'s' && make", "echo make"],
  ["time -p make", "make"],
  ["coproc make", "make"],
  ["coproc WORK { make; }", "make"],
  ["coproc WORK (make all)", "make"],
  ["function g { npm test; }", "npm"],
  ["function g() { npm test; }; g", "g npm"],
  ["g() (npm test)", "npm"],
  ["echo $((1+$(node q.js)))", "echo node"],
  ["((n = $(node q.js) + 1)) && make", "make node"],
  ["for ((i = 0; i < $(count); i++)); do make; done", "count make"],
  ["for f in a $(list) b; do make $f; done | tee log", "list make tee"],
  ["select x in a b; do echo $x; done", "echo"],
  ["while read -r line; do make $line; done < <(list)", "list make read"],
  ["until ready; do sleep 1; done", "ready sleep"],
  ["if a; then b; elif c; then d; else e; fi", "a b c d e"],
  ['case "$(mode)" in fast|quick) make;; (slow) npm test;; *) exit 1;; esac; ls', "exit ls make mode npm"],
  ["case $x in a) case $y in b) make;; esac;; c) (npm test);; esac", "make npm"],
  ["echo $(case x in x) make;; esac)", "echo make"],
  ["cat <<EOF && make\n$(list) `other`\nnpm test\nEOF\nls", "cat list ls make other"],
  ["cat <<'EOF'\n$(list)\nEOF\nls", "cat ls"],
  ["cat <<-EOF\n\tnpm test\n\tEOF\nls", "cat ls"],
  ["git commit -m \"$(cat <<'EOF'\nDon't skip it\n\nnpm test\nEOF\n)\"", "cat git"],
  ["[[ $a < b && -f $(which x) ]] && make", "make which"],
  ["[ -f a ] || make", "[ make"],
  ["a=(x $(list)) make", "list make"],
  ["declare -a files=(a b); make", "declare make"],
  ["FOO=$(list) BAR='a b' make", "list make"],
  ["diff <(a) >(b c)", "a b diff"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is shell text
  ['echo ${x:-$(make)} "${y:+`ls`}"', "echo ls make"],
  ['echo "a $(b "c $(d)")"', "b d echo"],
  ["echo `ls \\`pwd\\``", "echo ls pwd"],
  ["! make && { npm test; } 2>&1 | tail -5 &", "make npm tail"],
  ["(cd a && (make; npm test)) || exit 1", "cd exit make npm"],
  ["make |& tee log; ls # npm test", "ls make tee"],
  ["make > out.txt 2>&1 < in.txt; npm test &> log", "make npm"],
  ["exec make; command npm test; builtin cd x", "cd make npm"],
  ["npm \\\n  test && ma\\\nke", "make npm"],
  ["'make' && \"npm\" test && \\ls", "ls make npm"],
  ["if ((i > 3)); then make; fi", "make"],
  ["echo $'a\\tb' $\"c $(d)\" e#f", "d echo"],
];

describe("the programs in a shell line", () => {
  test.each(CORPUS)("%s", (line, programs) => {
    expect(programsOf(line)).toEqual(programs.split(" "));
    expect(programsByOracle(line)).toEqual(programs.split(" "));
  });

  const program = fc.constantFrom("make", "npm", "node", "./run.sh", "a-b", "tests/x");
  const argument = fc.constantFrom(
    "test",
    "-x",
    "--flag=1",
    "'a; make'",
    '"b && npm"',
    "$'c\\'d'",
    "$HOME",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is shell text
    "${x:-y z}",
    "$((1 + 2))",
    "a\\ b",
    "x=1",
    "2>&1",
    "> out",
    "< in",
    "<<< word",
    "e#f",
    "{a,b}",
    "*.ts",
  );
  // A space behind each parenthesis: two in a row may be arithmetic, and there the oracle is not sure either.
  const depthIdentifier = fc.createDepthIdentifier();
  const { list } = fc.letrec<{ list: string; compound: string; simple: string; inner: string }>((tie) => ({
    inner: fc.oneof(
      { maxDepth: 4, depthIdentifier },
      argument,
      tie("list").map((text) => `$( ${text})`),
      tie("list").map((text) => `"a $( ${text}) b"`),
      tie("list").map((text) => `$((1 + $( ${text})))`),
      tie("list").map((text) => `<( ${text})`),
      tie("list").map((text) => `\${x:-$( ${text})}`),
    ),
    simple: fc
      .tuple(fc.constantFrom("", "A=1 ", "B='x y' "), program, fc.array(tie("inner"), { maxLength: 3 }))
      .map(([assignment, name, words]) => [`${assignment}${name}`, ...words].join(" ")),
    compound: fc.oneof(
      { maxDepth: 4, depthIdentifier },
      tie("simple"),
      tie("list").map((text) => `( ${text})`),
      tie("list").map((text) => `{ ${text}; }`),
      tie("list").map((text) => `{ time -p ${text}; }`),
      tie("simple").map((text) => `{ ! ${text}; }`),
      tie("simple").map((text) => `{ coproc ${text}; }`),
      tie("list").map((text) => `function f { ${text}; }`),
      tie("list").map((text) => `g() { ${text}; }`),
      tie("list").map((text) => `for i in a b; do ${text}; done`),
      tie("list").map((text) => `for ((i = 0; i < 3; i++)); do ${text}; done`),
      fc.tuple(tie("list"), tie("list")).map(([a, b]) => `while ${a}; do ${b}; done`),
      fc.tuple(tie("list"), tie("list"), tie("list")).map(([a, b, c]) => `if ${a}; then ${b}; else ${c}; fi`),
      fc.tuple(tie("list"), tie("list")).map(([a, b]) => `case $x in a | b) ${a};; (c) ${b};; esac`),
      tie("list").map((text) => `[[ -f a && $b < c ]] && ${text}`),
    ),
    list: fc
      .array(fc.tuple(tie("compound"), fc.constantFrom(" && ", " || ", "; ", " | ", "\n")), {
        minLength: 1,
        maxLength: 3,
      })
      .map((parts) =>
        parts.map(([text, joint], i) => (i === parts.length - 1 ? text : text + joint)).join(""),
      ),
  }));

  test("for any line that the shell can read, both find the same", () => {
    fc.assert(
      fc.property(list, (line) => {
        expect(programsOf(line)).toEqual(programsByOracle(line));
      }),
      { numRuns: 300 },
    );
  });
});
