import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  countsIfEchoed,
  parseClaims,
  parseVerdict,
  statusTemplate,
  verdictTemplate,
} from "../../../src/core/claims/claims.ts";
import type { Claims, Report } from "../../../src/core/goal/goal.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { codeByMicromark } from "../../support/markdown.ts";
import { runs } from "../../support/runs.ts";

const NONCE = "k7f3q9";
const EXPECTED = { nonce: NONCE, criteria: ["tests", "lint", 'no "any" left', "__proto__"] };
const parse = (message: string): Report => parseClaims(message, EXPECTED);

/** A block with these lines, and the nonce of the turn. */
const block = (...lines: string[]): string =>
  ["---LOOP_STATUS---", `NONCE: ${NONCE}`, ...lines, "---END_STATUS---"].join("\n");
const DONE = block("EXIT_SIGNAL: true");
const withKey = (line: string): string => block("EXIT_SIGNAL: true", line);
const prefixed = (prefix: string, text = DONE): string =>
  text
    .split("\n")
    .map((line) => prefix + line)
    .join("\n");
const PROMISE = `<promise nonce="${NONCE}">COMPLETE</promise>`;

const DEFAULTS: Claims = {
  exitSignal: true,
  criteria: {},
  stuckCount: null,
  next: null,
  steps: null,
  checks: null,
  stepDone: true,
};

/** `valid` with these claims, `void` with a reason like this, or `none`. */
type Worth = Partial<Claims> | RegExp | "none";
type Row = readonly [name: string, message: string, worth: Worth];

function table(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    test.each(rows)("%s", (_name, message, worth) => {
      const report = parse(message);
      if (worth === "none") return expect(report).toEqual({ kind: "none" });
      if (!(worth instanceof RegExp)) {
        return expect(report).toEqual({ kind: "valid", claims: { ...DEFAULTS, ...worth } });
      }
      expect(report).toMatchObject({ kind: "void", reason: expect.stringMatching(worth) });
      expect(report).toMatchObject({
        reason: expect.stringMatching(/^The status block does not count: .*\.$/),
      });
    });
  });
}

const SHOWN = /is indented or inside code, a quote or a tag/;
const PARTLY = /a part of it is inside code/;

table("B10 a bare block counts", [
  ["alone", DONE, {}],
  ["after a sentence", `All is done.\n${DONE}`, {}],
  ["after an empty line", `All is done.\n\n${DONE}`, {}],
  ["before a closing sentence", `${DONE}\nThat is all.`, {}],
  ["between empty lines", `\n\n\n${DONE}\n\n\n`, {}],
  ["with an empty line after each line", DONE.replaceAll("\n", "\n\n"), {}],
  ["with lines that end in CR LF", `Done.\n${DONE}\n`.replaceAll("\n", "\r\n"), {}],
  ["with lines that end in CR", `Done.\n${DONE}\n`.replaceAll("\n", "\r"), {}],
  ["with CR LF in one line and LF in the others", DONE.replace("\n", "\r\n"), {}],
  ["with spaces at the end of each line", DONE.replaceAll("\n", "   \n"), {}],
  ["with tabs at the end of each line", `${DONE}\n`.replaceAll("\n", "\t\t\n"), {}],
  ["with blanks in empty lines", DONE.replaceAll("\n", "\n  \t\n"), {}],
  ["without a space after the colons", DONE.replaceAll(": ", ":"), {}],
  ["with many spaces after the colons", DONE.replaceAll(": ", ":     "), {}],
  [
    "with the keys in another order",
    `---LOOP_STATUS---\nEXIT_SIGNAL: true\nNONCE: ${NONCE}\n---END_STATUS---`,
    {},
  ],
  ["twice, the same", `${DONE}\n\n${DONE}`, {}],
  ["three times, the same but for white space", `${DONE}\n${DONE.replaceAll("\n", " \n\n")}\n${DONE}`, {}],
  ["after a closed fence", `\`\`\`\nnpm test\n\`\`\`\n${DONE}`, {}],
  ["after a closed fence with a language", `\`\`\`sh\nnpm test\n\`\`\`\n${DONE}`, {}],
  ["after a closed fence of tildes", `~~~\nnpm test\n~~~\n${DONE}`, {}],
  ["after a longer closing fence", `\`\`\`\nnpm test\n\`\`\`\`\`\n${DONE}`, {}],
  ["after a fence in a fence", `\`\`\`\`\n\`\`\`\nx\n\`\`\`\n\`\`\`\`\n${DONE}`, {}],
  ["after tildes in a fence of ticks", `\`\`\`\n~~~\n\`\`\`\n${DONE}`, {}],
  ["after a fence with a lone tick in it", `\`\`\`\necho \`\n\`\`\`\n${DONE}`, {}],
  ["after a fence with a table in it", `\`\`\`\n| a | b |\n\`\`\`\n${DONE}`, {}],
  ["after a fence with a quote in it", `\`\`\`\n> a\n\`\`\`\n${DONE}`, {}],
  ["after a fence with an open comment in it", `\`\`\`\n<!-- a\n\`\`\`\n${DONE}`, {}],
  ["after a fence with an open tag in it", `\`\`\`\n<tool_result>\n\`\`\`\n${DONE}`, {}],
  ["after a fence in a list item", `- \`\`\`sh\n  npm test\n  \`\`\`\n\n${DONE}`, {}],
  ["after a fence below a list item", `1. Ran it:\n\n   \`\`\`\n   ok\n   \`\`\`\n\n${DONE}`, {}],
  ["after a fence deep in a list", `- a\n  - b\n\n      \`\`\`\n      ok\n      \`\`\`\n\n${DONE}`, {}],
  ["after a numbered item that is a fence", `1. \`\`\`\n    ok\n    \`\`\`\n\n${DONE}`, {}],
  ["after a lone tick and a fence", `A \` too many:\n\`\`\`\nx\n\`\`\`\n${DONE}`, {}],
  ["after three ticks that are inline code", `\`\`\`npm test\`\`\` is green.\n${DONE}`, {}],
  ["after a quote and an empty line", `> make it green\n\n${DONE}`, {}],
  ["after inline code", `Ran \`npm test\` and \`\`a \` b\`\`.\n${DONE}`, {}],
  ["after a lone tick and an empty line", `It was a \` too many.\n\n${DONE}`, {}],
  ["after a table and an empty line", `| a | b |\n|---|---|\n| 1 | 2 |\n\n${DONE}`, {}],
  ["after indented code", `    npm test\n\n${DONE}`, {}],
  ["after a list", `- fixed it\n- tested it\n${DONE}`, {}],
  ["after a heading", `## Done\n${DONE}`, {}],
  ["after a thematic break", `Done.\n\n---\n${DONE}`, {}],
  ["after a closed comment", `<!-- note -->\n${DONE}`, {}],
  ["after a closed comment of many lines", `<!--\nnote\n-->\n${DONE}`, {}],
  ["after a comment in inline code", `Removed \`<!--\`.\n${DONE}`, {}],
  [
    "after closed details",
    `<details>\n<summary>Log</summary>\n\n\`\`\`\nok\n\`\`\`\n\n</details>\n\n${DONE}`,
    {},
  ],
  ["after details in details", `<details>\n<details>\n</details>\n</details>\n${DONE}`, {}],
  ["after closed output of a tool", `<tool_result>\nok\n</tool_result>\n${DONE}`, {}],
  ["after a tag in inline code", `Wraps it in \`<details>\`.\n${DONE}`, {}],
  ["after a component in a sentence", `The page now has <Button>\n${DONE}`, {}],
  ["after a component that starts a sentence", `<Button> is now blue.\n${DONE}`, {}],
  ["after one that was closed before", `It has </Button> now.\n<Button> is blue.\n${DONE}`, {}],
  ["between sentences about a component", `Was <Button> here.\n\n${DONE}\n\nIs </Button> there.`, {}],
  ["after a generic type", `It returns Promise<void>\n${DONE}`, {}],
  ["after a comparison", `Fails for a < b and b > c.\n${DONE}`, {}],
  ["after an arrow", `a --> b\n${DONE}`, {}],
  ["after a link", `<https://example.com/a>\n${DONE}`, {}],
  ["after an address", `<me@example.com>\n${DONE}`, {}],
  ["after an empty element", `<br>\n<hr/>\n<output />\n${DONE}`, {}],
  ["after a block in a fence", `\`\`\`\n${block("EXIT_SIGNAL: false")}\n\`\`\`\n\n${DONE}`, {}],
  ["after a block in a quote", `${prefixed("> ", block("EXIT_SIGNAL: false"))}\n\n${DONE}`, {}],
  ["after a block of an earlier turn", `${DONE.replace(NONCE, "older1")}\n\n${DONE}`, {}],
  ["before a fence that is never closed", `${DONE}\n\n\`\`\`\nnpm test`, {}],
  ["before a block in a fence", `${DONE}\n\n\`\`\`\n${block("EXIT_SIGNAL: false")}\n\`\`\``, {}],
  ["with colours elsewhere in the message", `\u001b[32mgreen\u001b[0m\n\n${DONE}`, {}],
  ["with NUL elsewhere in the message", `a\0b\n\n${DONE}`, {}],
  ["with half a character elsewhere in the message", `a\ud800b\n\n${DONE}`, {}],
  ["in a message in another language", `すべて終わりました。\n\n${DONE}\n\nהכול מוכן`, {}],
  ["that says that it is not the end", block("EXIT_SIGNAL: false"), { exitSignal: false }],
]);

table("B10 what an agent may say in it", [
  ["a criterion is met", withKey('CRITERIA: {"tests": true}'), { criteria: { tests: true } }],
  [
    "one is and one is not",
    withKey('CRITERIA: {"tests":true,"lint":false}'),
    { criteria: { tests: true, lint: false } },
  ],
  ["no criterion", withKey("CRITERIA: {}"), {}],
  [
    "a criterion that does not exist",
    withKey('CRITERIA: {"tests": true, "docs": true}'),
    { criteria: { tests: true } },
  ],
  ["only such", withKey('CRITERIA: {"docs": true}'), {}],
  ["a name in other letters is another name", withKey('CRITERIA: {"Tests": true}'), {}],
  ["a name with a blank is another name", withKey('CRITERIA: {"tests ": true}'), {}],
  [
    "a name with quotes in it",
    withKey('CRITERIA: {"no \\"any\\" left": true}'),
    { criteria: { 'no "any" left': true } },
  ],
  [
    "a name with an escaped letter",
    withKey('CRITERIA: {"\\u0074ests": true}'),
    { criteria: { tests: true } },
  ],
  ["names of what every object has", withKey('CRITERIA: {"constructor": true, "toString": true}'), {}],
  ["stuck", withKey("STUCK_COUNT: 3"), { stuckCount: 3 }],
  ["not stuck", withKey("STUCK_COUNT: 0"), { stuckCount: 0 }],
  ["very stuck", withKey("STUCK_COUNT: 9999"), { stuckCount: 9999 }],
  ["the step is done", withKey("STEP: done"), {}],
  ["the step is open", withKey("STEP: open"), { stepDone: false }],
  ["steps", withKey('STEPS: ["first", "second"]'), { steps: ["first", "second"] }],
  [
    "steps with blanks around",
    withKey('STEPS: ["  first ", "\\tsecond\\n"]'),
    { steps: ["first", "second"] },
  ],
  ["steps of more than one line", withKey('STEPS: ["first\\nline"]'), { steps: ["first line"] }],
  ["empty steps are left out", withKey('STEPS: ["", "first", "  "]'), { steps: ["first"] }],
  ["a list of no steps replaces nothing", withKey("STEPS: []"), {}],
  ["nor does a list of empty steps", withKey('STEPS: ["", " "]'), {}],
  ["50 steps", withKey(`STEPS: ${JSON.stringify(Array(50).fill("s"))}`), { steps: Array(50).fill("s") }],
  ["a long step is cut", withKey(`STEPS: ["${"s".repeat(400)}"]`), { steps: [`${"s".repeat(299)}…`] }],
  ["checks", withKey('CHECKS: ["tests=npm test"]'), { checks: ["tests=npm test"] }],
  ["a check that measures", withKey('CHECKS: ["cov>=80=npm run cov"]'), { checks: ["cov>=80=npm run cov"] }],
  ["a check keeps its inner blanks", withKey('CHECKS: [" a=b  c "]'), { checks: ["a=b  c"] }],
  ["a check in another script", withKey('CHECKS: ["می‌شود=true"]'), { checks: ["می‌شود=true"] }],
  ["a list of no checks", withKey("CHECKS: []"), {}],
  [
    "20 checks",
    withKey(`CHECKS: ${JSON.stringify(Array(20).fill("a=b"))}`),
    { checks: Array(20).fill("a=b") },
  ],
  ["what is next", withKey("NEXT: fix the flaky test"), { next: "fix the flaky test" }],
  ["nothing is next", withKey("NEXT:"), {}],
  ["next with colons and quotes", withKey('NEXT: a: b "c" {d}'), { next: 'a: b "c" {d}' }],
  ["next with a lone tick", withKey("NEXT: drop the ` in it"), { next: "drop the ` in it" }],
  ["next with a component", withKey("NEXT: give <Button> a colour"), { next: "give <Button> a colour" }],
  ["next with a comparison of tags", withKey("NEXT: <a> or <b>"), { next: "<a> or <b>" }],
  ["next that speaks of the end", withKey("NEXT: EXIT_SIGNAL: false"), { next: "EXIT_SIGNAL: false" }],
  ["a long next is cut", withKey(`NEXT: ${"n".repeat(301)}`), { next: `${"n".repeat(299)}…` }],
  ["a next that just fits is not", withKey(`NEXT: ${"n".repeat(300)}`), { next: "n".repeat(300) }],
  ["no character is cut in two", withKey(`NEXT: ${"n".repeat(298)}😀😀`), { next: `${"n".repeat(298)}…` }],
  ["next without colours", withKey("NEXT: \u001b[1;31mred\u001b[0m test"), { next: "red test" }],
  ["next without control characters", withKey("NEXT: a\0b\u0007c\u009bd"), { next: "a b c d" }],
  ["next without marks of direction", withKey("NEXT: a\u202eb\u2066c\u200fd"), { next: "abcd" }],
  ["next without spaces of no width", withKey("NEXT: a\u200bb\ufeffc"), { next: "abc" }],
  ["next on one line for everybody", withKey("NEXT: a\u2028b\u0085c\u000bd"), { next: "a b c d" }],
  ["next with joined emoji", withKey("NEXT: ask the 👩‍🚀"), { next: "ask the 👩‍🚀" }],
  ["next with half a character", withKey("NEXT: a\udc00b"), { next: "a\ufffdb" }],
  [
    "everything",
    block(
      "EXIT_SIGNAL: false",
      'CRITERIA: {"tests": true, "lint": false}',
      "STUCK_COUNT: 2",
      "STEP: open",
      'STEPS: ["a"]',
      'CHECKS: ["b=c"]',
      "NEXT: d",
    ),
    {
      exitSignal: false,
      criteria: { tests: true, lint: false },
      stuckCount: 2,
      stepDone: false,
      steps: ["a"],
      checks: ["b=c"],
      next: "d",
    },
  ],
]);

const BAD_SIGNALS = [
  "true|false",
  "true | false",
  "true/false",
  "true or false",
  "<true or false>",
  "<true|false>",
  "[true]",
  "{true}",
  '"true"',
  "'true'",
  "`true`",
  "**true**",
  "True",
  "TRUE",
  "true.",
  "true,",
  "true # all green",
  "true (all green)",
  "true false",
  "true\u00a0",
  "\ufefftrue",
  "tru\u0435",
  "ｔｒｕｅ",
  "true\u200b",
  "true\0",
  "\u001b[32mtrue\u001b[0m",
  "yes",
  "1",
  "done",
  "COMPLETE",
  "null",
  "not true",
  "!false",
  "",
];

table(
  "B10 EXIT_SIGNAL is true or false and nothing else",
  BAD_SIGNALS.map(
    (value): Row => [
      JSON.stringify(value),
      block(`EXIT_SIGNAL: ${value}`),
      /EXIT_SIGNAL must be true or false, and is "/,
    ],
  ),
);

const BAD_NONCES: readonly (readonly [string, string])[] = [
  ["of an earlier turn", "j2d8w1"],
  ["empty", ""],
  ["in capitals", NONCE.toUpperCase()],
  ["cut", NONCE.slice(1)],
  ["with more after it", `${NONCE}x`],
  ["with words after it", `${NONCE} (this turn)`],
  ["in quotes", `"${NONCE}"`],
  ["in ticks", `\`${NONCE}\``],
  ["in angle brackets", `<${NONCE}>`],
  ["a placeholder", "<the nonce of this turn>"],
  ["with a space of no width", `${NONCE}\u200b`],
  ["after a BOM", `\ufeff${NONCE}`],
  ["with a hard space", `${NONCE}\u00a0`],
  ["with a look-alike letter", NONCE.replace("k", "к")],
  ["in colour", `\u001b[1m${NONCE}\u001b[0m`],
  ["with NUL", `${NONCE}\0`],
  ["twice", `${NONCE} ${NONCE}`],
];

table("B10 a nonce that is not this turn's", [
  ...BAD_NONCES.map(
    ([name, nonce]): Row => [
      name,
      `---LOOP_STATUS---\nNONCE: ${nonce}\nEXIT_SIGNAL: true\n---END_STATUS---`,
      /NONCE is not the nonce of this turn/,
    ],
  ),
  ["missing", "---LOOP_STATUS---\nEXIT_SIGNAL: true\n---END_STATUS---", /NONCE is missing/],
  ["missing, with nothing else", "---LOOP_STATUS---\n---END_STATUS---", /NONCE is missing/],
  [
    "outside of the block",
    `NONCE: ${NONCE}\n---LOOP_STATUS---\nEXIT_SIGNAL: true\n---END_STATUS---`,
    /NONCE is missing/,
  ],
  ["in the last of two blocks", `${DONE}\n${DONE.replace(NONCE, "older1")}`, /NONCE is not the nonce/],
  ["beside the right one", withKey("NONCE: older1"), /NONCE appears twice/],
]);

table("B10 values that cannot be read", [
  ["no EXIT_SIGNAL", block('CRITERIA: {"tests": true}'), /EXIT_SIGNAL is missing/],
  ["EXIT_SIGNAL twice", withKey("EXIT_SIGNAL: true"), /EXIT_SIGNAL appears twice/],
  ["EXIT_SIGNAL twice, and it differs", withKey("EXIT_SIGNAL: false"), /EXIT_SIGNAL appears twice/],
  ["NEXT twice", block("EXIT_SIGNAL: true", "NEXT: a", "NEXT: b"), /NEXT appears twice/],
  ["criteria that are cut", withKey('CRITERIA: {"tests": true'), /CRITERIA must be a JSON object/],
  ["criteria in single quotes", withKey("CRITERIA: {'tests': true}"), /CRITERIA must be a JSON object/],
  ["criteria without quotes", withKey("CRITERIA: {tests: true}"), /CRITERIA must be a JSON object/],
  ["criteria with a comma too many", withKey('CRITERIA: {"tests": true,}'), /CRITERIA must be a JSON object/],
  ["criteria with a comment", withKey('CRITERIA: {"tests": true} // ok'), /CRITERIA must be a JSON object/],
  [
    "criteria of the template",
    withKey('CRITERIA: {"tests": <true or false>}'),
    /CRITERIA must be a JSON object/,
  ],
  ["criteria as a list", withKey('CRITERIA: ["tests"]'), /CRITERIA must be a JSON object/],
  ["criteria as a word", withKey("CRITERIA: all"), /CRITERIA must be a JSON object/],
  ["criteria as null", withKey("CRITERIA: null"), /CRITERIA must be a JSON object/],
  ["criteria as true", withKey("CRITERIA: true"), /CRITERIA must be a JSON object/],
  ["criteria left empty", withKey("CRITERIA:"), /CRITERIA must be a JSON object/],
  ["criteria in curly quotes", withKey("CRITERIA: {“tests”: true}"), /CRITERIA must be a JSON object/],
  ["criteria with NUL", withKey('CRITERIA: {"tests\0": true}'), /CRITERIA must be a JSON object/],
  ["criteria over many lines", withKey('CRITERIA: {\n"tests": true\n}'), /is not one of its keys/],
  ["a criterion as text", withKey('CRITERIA: {"tests": "true"}'), /must say true or false of "tests"/],
  ["a criterion as a number", withKey('CRITERIA: {"tests": 1}'), /must say true or false of "tests"/],
  ["a criterion as null", withKey('CRITERIA: {"tests": null}'), /must say true or false of "tests"/],
  [
    "a criterion as an object",
    withKey('CRITERIA: {"tests": {"met": true}}'),
    /must say true or false of "tests"/,
  ],
  ["what is no criterion, as text", withKey('CRITERIA: {"docs": "yes"}'), /must say true or false of "docs"/],
  [
    "a prototype",
    withKey('CRITERIA: {"__proto__": {"tests": true}}'),
    /must say true or false of "__proto__"/,
  ],
  ["a criterion twice", withKey('CRITERIA: {"tests": false, "tests": true}'), /names a criterion twice/],
  [
    "a criterion twice, escaped",
    withKey('CRITERIA: {"tests": false, "\\u0074ests": true}'),
    /names a criterion twice/,
  ],
  ["deep criteria", withKey(`CRITERIA: ${"[".repeat(100_000)}`), /CRITERIA must be a JSON object/],
  ["a negative count", withKey("STUCK_COUNT: -1"), /STUCK_COUNT must be a whole number/],
  ["a broken count", withKey("STUCK_COUNT: 1.5"), /STUCK_COUNT must be a whole number/],
  ["a count in words", withKey("STUCK_COUNT: two"), /STUCK_COUNT must be a whole number/],
  ["a huge count", withKey("STUCK_COUNT: 10000"), /STUCK_COUNT must be a whole number/],
  ["an exponent", withKey("STUCK_COUNT: 1e3"), /STUCK_COUNT must be a whole number/],
  ["a count in other digits", withKey("STUCK_COUNT: ٣"), /STUCK_COUNT must be a whole number/],
  ["a count left empty", withKey("STUCK_COUNT:"), /STUCK_COUNT must be a whole number/],
  ["a step that is half done", withKey("STEP: partly"), /STEP must be done or open/],
  ["the step of the template", withKey("STEP: <done or open>"), /STEP must be done or open/],
  ["the name of a step", withKey("STEP: write the parser"), /STEP must be done or open/],
  ["a step left empty", withKey("STEP:"), /STEP must be done or open/],
  ["steps as text", withKey("STEPS: first, second"), /STEPS must be a JSON list/],
  ["steps as one text", withKey('STEPS: "first"'), /STEPS must be a JSON list/],
  ["steps as an object", withKey('STEPS: {"1": "first"}'), /STEPS must be a JSON list/],
  ["steps as null", withKey("STEPS: null"), /STEPS must be a JSON list/],
  ["steps left empty", withKey("STEPS:"), /STEPS must be a JSON list/],
  ["a step as a number", withKey('STEPS: ["first", 2]'), /STEPS must be a JSON list/],
  ["a step as a list", withKey('STEPS: [["first"]]'), /STEPS must be a JSON list/],
  [
    "a step of the template",
    withKey('STEPS: ["<first step>"]'),
    /STEPS still has the placeholder "<first step>"/,
  ],
  [
    "51 steps",
    withKey(`STEPS: ${JSON.stringify(Array(51).fill("s"))}`),
    /STEPS has 51 entries, and at most 50/,
  ],
  [
    "21 checks",
    withKey(`CHECKS: ${JSON.stringify(Array(21).fill("a=b"))}`),
    /CHECKS has 21 entries, and at most 20/,
  ],
  ["a check too long to be taken whole", withKey(`CHECKS: ["a=${"b".repeat(999)}"]`), /over 1000 characters/],
  ["a check of two lines", withKey('CHECKS: ["a=b\\nrm -rf x"]'), /invisible characters/],
  ["a check with NUL", withKey('CHECKS: ["a=b\\u0000"]'), /invisible characters/],
  ["a check that reads backwards", withKey('CHECKS: ["a=b\\u202ec"]'), /invisible characters/],
  ["a check with a space of no width", withKey('CHECKS: ["a=b\\u200bc"]'), /invisible characters/],
  ["a check with half a character", withKey('CHECKS: ["a=\\ud800"]'), /invisible characters/],
  ["a check of the template", withKey('CHECKS: ["<name=command>"]'), /CHECKS still has/],
  ["a next of the template", withKey("NEXT: <one line>"), /NEXT still has the placeholder "<one line>"/],
  ["more than one fault", block("EXIT_SIGNAL: maybe", "STEP: no"), /EXIT_SIGNAL must be .*; STEP must be /],
]);

table("B10 lines in it that are not ours", [
  ["a sentence", withKey("All tests are green."), /"All tests are green." is not one of its keys/],
  ["a key that does not exist", withKey("SUMMARY: all green"), /"SUMMARY: all green" is not one/],
  ["a key in small letters", block("exit_signal: true"), /"exit_signal: true" is not one/],
  ["a key in capitals and small letters", block("Exit_Signal: true"), /is not one/],
  ["a key with a blank", block("EXIT SIGNAL: true"), /is not one/],
  ["a blank before the colon", block("EXIT_SIGNAL : true"), /is not one/],
  ["a full-width colon", block("EXIT_SIGNAL： true"), /is not one/],
  ["an equals sign", block("EXIT_SIGNAL=true"), /is not one/],
  ["a translated key", block("SEÑAL_DE_SALIDA: true"), /is not one/],
  ["a look-alike key", block("ЕXIT_SIGNAL: true"), /is not one/],
  ["a BOM before a key", block("\ufeffEXIT_SIGNAL: true"), /is not one/],
  ["a hard space before a key", block("\u00a0EXIT_SIGNAL: true"), /is not one/],
  ["an indented key", block(" EXIT_SIGNAL: true"), /is not one/],
  ["a key in a list", block("- EXIT_SIGNAL: true"), /is not one/],
  ["a bold key", block("**EXIT_SIGNAL:** true"), /is not one/],
  ["a key in colour", block("\u001b[1mEXIT_SIGNAL\u001b[0m: true"), /is not one/],
  ["a key of every object", block("constructor: true"), /is not one/],
  ["a quote", withKey("> NEXT: a"), PARTLY],
  [
    "a fence around the keys",
    `---LOOP_STATUS---\n\`\`\`\nNONCE: ${NONCE}\nEXIT_SIGNAL: true\n\`\`\`\n---END_STATUS---`,
    PARTLY,
  ],
  ["a fence that is never closed", withKey("```"), PARTLY],
  ["a comment that is never closed", withKey("<!--"), PARTLY],
  ["the output of a tool", withKey("<tool_result>\nok\n</tool_result>"), PARTLY],
]);

table("B10 markers out of order", [
  ["no end", DONE.replace("\n---END_STATUS---", ""), /its end marker is missing/],
  ["nothing but a start", "---LOOP_STATUS---", /its end marker is missing/],
  ["no start", DONE.replace("---LOOP_STATUS---\n", ""), /its end marker comes before its start marker/],
  ["the end first", `---END_STATUS---\n${DONE}`, /its end marker comes before/],
  ["two ends", `${DONE}\n---END_STATUS---`, /its end marker comes before/],
  ["two starts", `---LOOP_STATUS---\n${DONE}`, /it starts a second time/],
  ["a start after the end", `${DONE}\n---LOOP_STATUS---`, /its end marker is missing/],
  ["a block in a block", withKey(DONE), /it starts a second time/],
  ["a start, given up, and a whole block", `---LOOP_STATUS---\nOops.\n\n${DONE}`, /it starts a second time/],
  ["the end in a fence", DONE.replace("---END", "```\n---END"), PARTLY],
  ["two that differ", `${block("EXIT_SIGNAL: false")}\n${DONE}`, /two blocks of this turn differ/],
  [
    "two that differ, the other way",
    `${DONE}\n${block("EXIT_SIGNAL: false")}`,
    /two blocks of this turn differ/,
  ],
  ["two that differ in what is next", `${withKey("NEXT: a")}\n${withKey("NEXT: b")}`, /differ/],
  ["two of which one cannot be read", `${block("EXIT_SIGNAL: maybe")}\n${DONE}`, /differ/],
  [
    "two that differ and an old one",
    `${DONE.replace(NONCE, "older1")}\n${withKey("NEXT: a")}\n${DONE}`,
    /differ/,
  ],
]);

const MARKERS: readonly (readonly [string, string])[] = [
  ["in small letters", "---loop_status---"],
  ["with a blank for the line below", "---LOOP STATUS---"],
  ["with a hyphen", "---LOOP-STATUS---"],
  ["with two hyphens", "--LOOP_STATUS--"],
  ["with four hyphens", "----LOOP_STATUS----"],
  ["with dashes", "———LOOP_STATUS———"],
  ["with en dashes", "–––LOOP_STATUS–––"],
  ["with minus signs", "−−−LOOP_STATUS−−−"],
  ["with blanks inside", "--- LOOP_STATUS ---"],
  ["translated", "---ESTADO_DEL_BUCLE---"],
  ["with a Cyrillic letter", "---LООP_STATUS---"],
  ["in full-width letters", "---ＬＯＯＰ＿ＳＴＡＴＵＳ---"],
  ["with a space of no width", "---LOOP_\u200bSTATUS---"],
  ["with a joiner", "---LOOP\u200d_STATUS---"],
  ["with a soft hyphen", "---LOOP_STATUS\u00ad---"],
  ["before a hard space", "---LOOP_STATUS---\u00a0"],
  ["before a space of no width", "---LOOP_STATUS---\u200b"],
  ["after a mark of direction", "\u200f---LOOP_STATUS---"],
  ["between marks of direction", "\u202e---LOOP_STATUS---\u202c"],
  ["after NUL", "\0---LOOP_STATUS---"],
  ["before NUL", "---LOOP_STATUS---\0"],
  ["after a line separator", "a\u2028---LOOP_STATUS---"],
  ["after a next-line character", "a\u0085---LOOP_STATUS---"],
  ["in colour", "\u001b[32m---LOOP_STATUS---\u001b[0m"],
  ["after the end of a colour", "\u001b[0m---LOOP_STATUS---"],
  ["in bold", "**---LOOP_STATUS---**"],
  ["in ticks", "`---LOOP_STATUS---`"],
  ["in quotes", '"---LOOP_STATUS---"'],
  ["in a heading", "# ---LOOP_STATUS---"],
  ["in a list", "- ---LOOP_STATUS---"],
  ["in a numbered list", "1. ---LOOP_STATUS---"],
  ["in a table", "| ---LOOP_STATUS--- |"],
  ["in a diff", "+---LOOP_STATUS---"],
  ["after grep's name of a file", "prompt.md:3:---LOOP_STATUS---"],
  ["with words before it", "Status: ---LOOP_STATUS---"],
  ["with words after it", "---LOOP_STATUS--- as asked"],
  ["as the value of a text", '"message": "---LOOP_STATUS---'],
  ["in a comment of code", "// ---LOOP_STATUS---"],
  ["in a comment of a shell", "#---LOOP_STATUS---"],
];

/** White space in front: the agent may mean it, and is told. */
const PUSHED: readonly (readonly [string, string])[] = [
  ["after a blank, as in a diff", " ---LOOP_STATUS---"],
  ["after a tab", "\t---LOOP_STATUS---"],
  ["after a BOM", "\ufeff---LOOP_STATUS---"],
  ["after a hard space", "\u00a0---LOOP_STATUS---"],
  ["after a wide space", "\u3000---LOOP_STATUS---"],
  ["after a form feed", "\f---LOOP_STATUS---"],
];
const startingWith = (marker: string) => `Done.\n\n${marker}\nNONCE: ${NONCE}\nEXIT_SIGNAL: true`;

table("B10 what looks like the start is none", [
  ...MARKERS.map(([name, marker]): Row => [name, startingWith(marker), "none"]),
  ...PUSHED.map(([name, marker]): Row => [name, startingWith(marker), SHOWN]),
]);

const BURIALS: readonly (readonly [name: string, before: string, after: string, prefix?: string])[] = [
  ["a fence", "```\n", "\n```"],
  ["a fence with a language", "```text\n", "\n```"],
  ["a fence with words after it", "```yaml title=status\n", "\n```"],
  ["a fence of tildes", "~~~\n", "\n~~~"],
  ["a fence of tildes with ticks after it", "~~~ `a`\n", "\n~~~"],
  ["a long fence", "``````\n", "\n``````"],
  ["a fence that a shorter one does not close", "````\n```\n", "\n```\n````"],
  ["a fence that another character does not close", "```\n~~~\n", "\n~~~\n```"],
  ["a fence that one with a language does not close", "```\n```js\n", "\n```"],
  ["a fence that is never closed", "```\n", ""],
  ["a fence of tildes that is never closed", "~~~\n", "\n```"],
  ["an indented fence", "   ```\n", "\n   ```"],
  ["a deeply indented fence", "      ```\n", "\n      ```"],
  ["a fence after a tab", "\t```\n", "\n\t```"],
  ["a deeply indented fence with empty lines", "      ```\n\n", "\n\n      ```"],
  ["a fence in a list", "- ```\n", "\n  ```"],
  ["a fence in a numbered list", "12. ```\n", "\n    ```"],
  ["a fence after code that shows a fence", "    ```\n```\n", "\n```"],
  ["a fence after code that shows a fence after a tab", "\t```\n```\n", "\n```"],
  ["a fence after a tag that holds a fence", "<!--\n```\n-->\n```\n", "\n```"],
  ["a fence that starts in a sentence's comment", "see <!-- a\n```\n-->\n", "\n```"],
  ["a fence that starts in a comment, with empty lines", "see <!-- a\n```\n-->\n\n", "\n```"],
  ["a fence that is never closed, with empty lines", "```\n\n", ""],
  ["a fence in colour", "\u001b[2m```\u001b[0m\n", "\n\u001b[2m```\u001b[0m"],
  ["a fence in colour with empty lines", "\u001b[2m```\u001b[0m\n\n", "\n\n\u001b[2m```\u001b[0m"],
  ["a second fence", "```\na\n```\n\n```\n", "\n```"],
  ["a quote", "", "", "> "],
  ["a quote without blanks", "", "", ">"],
  ["a quote in a quote", "", "", "> > "],
  ["an indented quote", "", "", "  > "],
  ["a deeply indented quote", "", "", "      > "],
  ["a quote in a list", "", "", "- > "],
  ["a quote in colour", "", "", "\u001b[2m>\u001b[0m "],
  ["the rest of a quote", "> The agent wrote:\n", ""],
  ["the rest of a quote in a list", "- > The agent wrote:\n", ""],
  ["a fence in a quote", "> ```\n", "\n> ```", "> "],
  ["four spaces", "", "", "    "],
  ["one space", "", "", " "],
  ["three spaces", "", "", "   "],
  ["a tab", "", "", "\t"],
  ["a hard space", "", "", "\u00a0"],
  ["an indentation and empty lines", "Like this:\n\n", "\n\nBye.", "    "],
  ["inline code over many lines", "I would write `\n", "\n` then"],
  ["inline code of two ticks", "I would write ``\n", "\n`` then"],
  ["inline code after inline code", "I `would` write `\n", "\n` then"],
  ["inline code after an escaped tick", "Not \\` but `\n", "\n` then"],
  ["inline code that is never closed", "I would write `\n", ""],
  ["a table", "| status |\n|---|\n", "\n| end |"],
  ["a table without outer bars", "a | b\n---|---\n", ""],
  ["a comment", "<!--\n", "\n-->"],
  ["a comment after words", "Done. <!-- hidden\n", "\n-->"],
  ["a comment that is never closed", "<!--\n", ""],
  ["a second comment", "<!-- a --> <!-- b\n", "\n-->"],
  ["a comment that shows its end in code", "<!-- `-->`\n", "\n-->"],
  ["details", "<details>\n", "\n</details>"],
  ["details with a summary", "<details><summary>Status</summary>\n\n", "\n\n</details>"],
  ["open details", "<details open>\n", "\n</details>"],
  ["details in capitals", "<DETAILS>\n", "\n</DETAILS>"],
  ["details that are never closed", "<details>\n", ""],
  ["details in capitals that are never closed", "<DETAILS>\n\n", ""],
  ["details after details", "<details>\n<details>\n</details>\n", "\n</details>"],
  ["preformatted text", "<pre>\n", "\n</pre>"],
  ["a quote in HTML", "<blockquote>\n", "\n</blockquote>"],
  ["code in HTML", "<pre><code>\n", "\n</code></pre>"],
  ["the result of a tool", "<tool_result>\n", "\n</tool_result>"],
  ["the result of a tool with a name", '<tool_result id="1" name="Bash">\n', "\n</tool_result>"],
  ["the result of a tool after words", "It printed: <tool_result>\n", "\n</tool_result>"],
  ["the result of a tool with words after it", "<tool_result> ok\n", "\n</tool_result>"],
  ["the result of a tool that is never closed", "<tool_result>\n", ""],
  ["the result of a tool in a list", "- <tool_result>\n", "\n</tool_result>"],
  ["results of functions", "<function_results>\n<result>\n", "\n</result>\n</function_results>"],
  ["results of functions with a prefix", "<x:function_results>\n", "\n</x:function_results>"],
  ["calls of functions", "<function_calls>\n", "\n</function_calls>"],
  ["a reminder of the system", "<system-reminder>\n", "\n</system-reminder>"],
  ["output of a command", "<local-command-stdout>\n", "\n</local-command-stdout>"],
  ["output of a shell", "<bash-stdout>\n", "\n</bash-stdout>"],
  ["standard output", "<stdout>\n", "\n</stdout>"],
  ["any tag that is closed", "<observation>\n", "\n</observation>"],
  ["any tag in any tag", "<a>\n<b>\n</b>\n", "\n</a>"],
  ["a tag after a tag", "<a>\n</a><stdout>\n", "\n</stdout>"],
];

/** As a person would put the text there. */
const bury = ([, before, after, prefix = ""]: (typeof BURIALS)[number], text: string): string =>
  before + prefixed(prefix, text) + after;

/** Too far from a block to tell the agent that it was one. */
const UNSEEN = ["a quote in a list", "a quote in colour"];

table(
  "B10 B9 a block that is shown is not said",
  BURIALS.map((burial): Row => {
    const [name] = burial;
    return [`in ${name}`, `Done.\n\n${bury(burial, DONE)}`, UNSEEN.includes(name) ? "none" : SHOWN];
  }),
);

table("B10 a block that is spoken of is none", [
  ["nothing at all", "", "none"],
  ["blanks", " \n\t\n", "none"],
  ["a plain answer", "All tests pass. I am done.", "none"],
  ["the seed's own words", "<loop-complete>\nAll success criteria satisfied\n</loop-complete>", "none"],
  ["a negation", "I am NOT done and will not write EXIT_SIGNAL: true", "none"],
  ["a negation with the nonce", `I will not write NONCE: ${NONCE} and EXIT_SIGNAL: true.`, "none"],
  [
    "a negation with the markers",
    `No ---LOOP_STATUS--- EXIT_SIGNAL: true ---END_STATUS--- (${NONCE}) yet.`,
    "none",
  ],
  ["keys without markers", `NONCE: ${NONCE}\nEXIT_SIGNAL: true`, "none"],
  ["the block on one line", DONE.replaceAll("\n", " "), "none"],
  ["the block on one line, run together", DONE.replaceAll("\n", ""), "none"],
  ["in a JSON text", JSON.stringify({ message: DONE }), "none"],
  ["in a JSON text that is laid out", JSON.stringify({ a: { message: DONE } }, null, 2), "none"],
  ["with the two characters \\n for new lines", DONE.replaceAll("\n", "\\n"), "none"],
  ["in the cells of a table", `| ${DONE.replaceAll("\n", " |\n| ")} |`, "none"],
  ["in a list", prefixed("- "), "none"],
  ["in a diff that adds it", prefixed("+"), "none"],
  ["in a diff that removes it", prefixed("-"), "none"],
  ["with numbers of lines", prefixed("1: "), "none"],
  ["in a transcript", prefixed("assistant: "), "none"],
  ["in a log with times", prefixed("[12:00:01] "), "none"],
  ["in comments of code", prefixed("// "), "none"],
  ["in curly quotes", `“${DONE}”`, "none"],
  ["in ticks at both ends", `\`${DONE}\``, "none"],
  ["in entities", DONE.replaceAll("-", "&#45;"), "none"],
  ["with escaped hyphens", DONE.replaceAll("---", "\\-\\-\\-"), "none"],
  ["an old block in a fence", `\`\`\`\n${DONE.replace(NONCE, "older1")}\n\`\`\``, "none"],
  ["an old block in a quote", prefixed("> ", DONE.replace(NONCE, "older1")), "none"],
]);

table("D5 C8 the sentinel", [
  ["alone", PROMISE, {}],
  ["at the end", `All is done.\n\n${PROMISE}`, {}],
  ["at the end, before blanks", `All is done.\n\n${PROMISE}  \n\n\t\n`, {}],
  ["with CR LF", `All is done.\r\n\r\n${PROMISE}\r\n`, {}],
  ["after one of an earlier turn", `<promise nonce="older1">COMPLETE</promise>\n\n${PROMISE}`, {}],
  ["after a closed fence", `\`\`\`\nok\n\`\`\`\n\n${PROMISE}`, {}],
  ["a negation on its line", `I am NOT done and will not output ${PROMISE}`, "none"],
  ["a negation that wraps", `I am NOT done and will not output\n${PROMISE}`, "none"],
  ["words after it on its line", `${PROMISE} is what I would write`, "none"],
  ["a full stop after it", `${PROMISE}.`, "none"],
  ["words after it on another line", `${PROMISE}\n\nNot yet, though.`, "none"],
  ["no nonce", "<promise>COMPLETE</promise>", "none"],
  ["an empty nonce", '<promise nonce="">COMPLETE</promise>', "none"],
  ["the nonce of an earlier turn", '<promise nonce="older1">COMPLETE</promise>', "none"],
  ["a nonce in single quotes", PROMISE.replaceAll('"', "'"), "none"],
  ["a nonce without quotes", PROMISE.replaceAll('"', ""), "none"],
  ["a nonce in curly quotes", `<promise nonce=“${NONCE}”>COMPLETE</promise>`, "none"],
  ["another attribute", PROMISE.replace(">", ' done="no">'), "none"],
  ["other words in it", PROMISE.replace("COMPLETE", "NOT COMPLETE"), "none"],
  ["words in small letters", PROMISE.replace("COMPLETE", "complete"), "none"],
  ["nothing in it", PROMISE.replace("COMPLETE", ""), "none"],
  ["a placeholder in it", PROMISE.replace("COMPLETE", "…"), "none"],
  ["over three lines", PROMISE.replace("COMPLETE", "\nCOMPLETE\n"), "none"],
  ["another tag", PROMISE.replaceAll("promise", "Promise"), "none"],
  ["in ticks", `\`${PROMISE}\``, "none"],
  ["in bold", `**${PROMISE}**`, "none"],
  ["indented by one", ` ${PROMISE}`, "none"],
  ["after a BOM", `\ufeff${PROMISE}`, "none"],
  ["in colour", `\u001b[1m${PROMISE}\u001b[0m`, "none"],
  ["in entities", PROMISE.replaceAll("<", "&lt;"), "none"],
  ["beside a block that says no", `${block("EXIT_SIGNAL: false")}\n\n${PROMISE}`, { exitSignal: false }],
  ["beside a block that is void", `${block("EXIT_SIGNAL: maybe")}\n\n${PROMISE}`, /EXIT_SIGNAL must be/],
  ["beside a block of an earlier turn", `${DONE.replace(NONCE, "older1")}\n\n${PROMISE}`, /NONCE is not/],
  ["after a block in a fence", `\`\`\`\n${block("EXIT_SIGNAL: false")}\n\`\`\`\n\n${PROMISE}`, {}],
  ...BURIALS.map((burial): Row => [`in ${burial[0]}`, bury(burial, PROMISE), "none"]),
]);

describe("C6 a verdict", () => {
  const say = (word: string, nonce = NONCE) => `<verdict nonce="${nonce}">${word}</verdict>`;
  const why = (text: string) => `<rejection_reason>${text}</rejection_reason>`;
  const [PASS, REJECT] = [say("PASS"), say("REJECT")];
  const read = (message: string) => parseVerdict(message, { nonce: NONCE });

  test.each<[name: string, message: string, kind: "pass" | "reject", reason: string | null]>([
    ["PASS", PASS, "pass", null],
    ["REJECT", REJECT, "reject", null],
    ["in an answer", `I looked at it.\n\n${PASS}\n\nBye.`, "pass", null],
    ["after a heading", `**Verdict**\n${REJECT}`, "reject", null],
    ["with blanks and CR LF", `a\r\n${PASS}  \t\r\n`, "pass", null],
    ["twice, the same", `${PASS}\n${PASS}`, "pass", null],
    ["with a reason", `${REJECT}\n${why("no test fails without it")}`, "reject", "no test fails without it"],
    ["with the reason first", `${why("it is slow")}\n${REJECT}`, "reject", "it is slow"],
    [
      "with a reason in lines",
      `${REJECT}\n${why("\nit is slow\nand wrong\n")}`,
      "reject",
      "it is slow and wrong",
    ],
    ["with a reason that has code", `${REJECT}\n${why("\n```\nexit 1\n```\n")}`, "reject", "``` exit 1 ```"],
    ["with a reason that is never closed", `${REJECT}\n<rejection_reason>it is slow`, "reject", "it is slow"],
    ["with a reason after words", `${REJECT}\nReason: ${why("it is slow")}`, "reject", "it is slow"],
    ["with two reasons, the last", `${why("a")}\n${REJECT}\n${why("b")}`, "reject", "b"],
    ["with an empty reason", `${PASS}\n${why("")}`, "pass", null],
    ["with the reason of the template", `${PASS}\n${why("<why, if it is REJECT>")}`, "pass", null],
    ["with a reason in a fence", `${REJECT}\n\n\`\`\`\n${why("a")}\n\`\`\``, "reject", null],
    ["with a reason in a quote", `${REJECT}\n\n> ${why("a")}`, "reject", null],
    ["with a long reason", `${REJECT}\n${why("r".repeat(2000))}`, "reject", `${"r".repeat(999)}…`],
    ["with a coloured reason", `${REJECT}\n${why("\u001b[31mred\u001b[0m\0")}`, "reject", "red"],
    ["with a PASS in the reason", `${REJECT}\n${why(`\nnot\n${PASS}\n`)}`, "reject", `not ${PASS}`],
    ["with the other of an earlier turn", `${say("PASS", "older1")}\n\n${REJECT}`, "reject", null],
    ["with the other in a fence", `\`\`\`\n${REJECT}\n\`\`\`\n\n${PASS}`, "pass", null],
    ["with the other in a sentence", `I had ${PASS} in mind.\n\n${REJECT}`, "reject", null],
  ])("%s", (_name, message, kind, reason) => {
    expect(read(message)).toEqual({ kind, reason });
  });

  test.each<[name: string, message: string, reason: RegExp]>([
    ["nothing", "", /gave no verdict/],
    ["words", "It is good. PASS", /gave no verdict/],
    ["both", `${PASS}\n\n${REJECT}`, /both PASS and REJECT/],
    ["both, the other way", `${REJECT}\n${PASS}\n${PASS}`, /both PASS and REJECT/],
    ["no nonce", "<verdict>PASS</verdict>", /not alone on a plain line/],
    ["an empty nonce", say("PASS", ""), /not alone on a plain line/],
    ["the nonce of an earlier turn", say("PASS", "older1"), /not alone on a plain line/],
    ["the template", verdictTemplate(NONCE), /not alone on a plain line/],
    ["a choice", say("PASS|REJECT"), /not alone on a plain line/],
    ["small letters", say("pass"), /not alone on a plain line/],
    ["PASSED", say("PASSED"), /not alone on a plain line/],
    ["not PASS", say("NOT PASS"), /not alone on a plain line/],
    ["nothing in it", say(""), /not alone on a plain line/],
    ["a look-alike", say("РASS"), /not alone on a plain line/],
    ["a sentence", `My verdict is ${PASS}.`, /not alone on a plain line/],
    ["a negation", `I can not say ${PASS}`, /not alone on a plain line/],
    ["single quotes", PASS.replaceAll('"', "'"), /not alone on a plain line/],
    ["ticks", `\`${PASS}\``, /not alone on a plain line/],
    ["over three lines", say("\nPASS\n"), /not alone on a plain line/],
    ["an indentation", ` ${PASS}`, /not alone on a plain line/],
    ["colour", `\u001b[32m${PASS}\u001b[0m`, /not alone on a plain line/],
    ["a status block", DONE, /gave no verdict/],
    ["a sentinel", PROMISE, /gave no verdict/],
    ...BURIALS.map((burial): [string, string, RegExp] => [
      `in ${burial[0]}`,
      bury(burial, PASS),
      /not alone on a plain line/,
    ]),
  ])("%s is none", (_name, message, reason) => {
    expect(read(message)).toEqual({ kind: "none", reason: expect.stringMatching(reason) });
  });

  test("none counts where no nonce is expected", () => {
    expect(parseVerdict(say("PASS", ""), { nonce: "" }).kind).toBe("none");
  });
});

test("B10 D5 nothing counts where no nonce is expected", () => {
  const expected = { nonce: "", criteria: [] };
  expect(parseClaims("---LOOP_STATUS---\nNONCE:\nEXIT_SIGNAL: true\n---END_STATUS---", expected).kind).toBe(
    "void",
  );
  expect(parseClaims("```\n---LOOP_STATUS---\nNONCE:\n```", expected).kind).toBe("none");
  expect(parseClaims('<promise nonce="">COMPLETE</promise>', expected).kind).toBe("none");
});

test("B10 a reason is short, whatever was written", () => {
  const report = parse(withKey(`x\u0007${"y".repeat(10_000)}`));
  expect(report.kind === "void" && report.reason.length).toBeLessThan(150);
});

test("B10 a criterion may have any name", () => {
  const names = ["__proto__", "constructor", "a\nb", 'a"b', "\u2028", ""];
  const criteria = Object.fromEntries(names.map((name) => [name, true]));
  const message = withKey(`CRITERIA: ${JSON.stringify(criteria)}`);
  const report = parseClaims(message, { nonce: NONCE, criteria: names });
  expect(report.kind === "valid" && Object.entries(report.claims.criteria)).toEqual(
    names.map((name) => [name, true]),
  );
});

describe("D4 a text that we inject claims nothing when it is echoed", () => {
  test("the templates say what to write, and are none themselves", () => {
    expect(statusTemplate(NONCE, ["tests", 'a "b"'], true)).toMatchInlineSnapshot(`
      "Nonce of this turn: k7f3q9
      ---LOOP_STATUS---
      NONCE: <the nonce of this turn>
      EXIT_SIGNAL: <true or false>
      CRITERIA: {"tests": <true or false>, "a \\"b\\"": <true or false>}
      STUCK_COUNT: <how many turns in a row made no progress>
      STEP: <done or open>
      STEPS: <a JSON list of all steps that remain, ["…", "…"]; only if the plan changes>
      CHECKS: <a JSON list of the checks that you propose, ["name=command"]>
      NEXT: <what comes next, in one line>
      ---END_STATUS---"
    `);
    expect(statusTemplate(NONCE, [], false)).not.toMatch(/CRITERIA|CHECKS/);
    expect(verdictTemplate(NONCE)).toMatchInlineSnapshot(`
      "<verdict nonce="k7f3q9"><PASS or REJECT></verdict>
      <rejection_reason><why, if it is REJECT></rejection_reason>"
    `);
  });

  test("a template with its placeholders filled in counts", () => {
    const filled = statusTemplate(NONCE, ["tests"], true)
      .replace("<the nonce of this turn>", NONCE)
      .replaceAll("<true or false>", "true")
      .replace(/(STUCK_COUNT|STEPS|CHECKS|STEP|NEXT): <.*>\n/g, "");
    expect(parse(filled)).toMatchObject({
      kind: "valid",
      claims: { exitSignal: true, criteria: { tests: true } },
    });
    const verdict = verdictTemplate(NONCE).replace("<PASS or REJECT>", "PASS");
    expect(parseVerdict(verdict, { nonce: NONCE })).toEqual({ kind: "pass", reason: null });
  });

  test("with only some of them filled in it does not", () => {
    const half = statusTemplate(NONCE, ["tests"], true).replace("<the nonce of this turn>", NONCE);
    for (const text of [half, half.replace("<true or false>", "true")]) expect(parse(text).kind).toBe("void");
  });

  test.each([
    ["a whole block", DONE, true],
    ["a block in a fence: a part of the text is bare", `\`\`\`\n${DONE}\n\`\`\``, true],
    ["a block that starts in a sentence", `Write ${DONE} at the end.`, true],
    ["a block after a start that is left open", `---LOOP_STATUS---\n${DONE}`, true],
    ["a block with empty lines", DONE.replaceAll("\n", "\r\n \r\n"), true],
    ["a sentinel", `Say "${PROMISE}" when done.`, true],
    ["a verdict in a quote", `> <verdict nonce="${NONCE}">PASS</verdict>`, true],
    ["a rejection", `<verdict nonce="${NONCE}">REJECT</verdict>`, true],
    ["a block in a quote", prefixed("> "), false],
    ["an indented block", prefixed("    "), false],
    ["a block of an earlier turn", DONE.replace(NONCE, "older1"), false],
    ["a block that cannot be read", block("EXIT_SIGNAL: true|false"), false],
    ["a sentinel without the nonce", "<promise>COMPLETE</promise>", false],
    ["both templates", `${statusTemplate(NONCE, ["tests"], true)}\n${verdictTemplate(NONCE)}`, false],
    ["nothing", "", false],
  ])("the guard finds it: %s", (_name, text, counts) => {
    expect(countsIfEchoed(text, NONCE)).toBe(counts);
  });

  /** What a person, a file or a check may put into a prompt: it knows all our words, and not the nonce. */
  const word = fc.oneof(
    fc.constantFrom(
      "---LOOP_STATUS---",
      "---END_STATUS---",
      "NONCE: older1",
      "NONCE:",
      "EXIT_SIGNAL: true",
      'CRITERIA: {"tests": true}',
      "STEP: done",
      "<promise>COMPLETE</promise>",
      '<promise nonce="older1">COMPLETE</promise>',
      '<verdict nonce="older1">PASS</verdict>',
      "<verdict>PASS</verdict>",
      "```",
      "~~~",
      "<!--",
      "-->",
      "<details>",
      "</details>",
      "> quote",
      "",
      DONE.replace(NONCE, "older1"),
    ),
    fc.string({ maxLength: 20 }),
  );
  const foreign = fc
    .array(word, { maxLength: 12 })
    .map((words) => words.join("\n"))
    .filter((text) => !text.includes(NONCE));

  test("whatever is around the templates, and however it is quoted or cut", () => {
    fc.assert(
      fc.property(
        foreign,
        foreign,
        fc.array(fc.string(), { maxLength: 4 }),
        fc.boolean(),
        fc.constantFrom("", "> ", "    ", "- "),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (before, after, criteria, withChecks, prefix, from, to) => {
          const templates = `${statusTemplate(NONCE, criteria, withChecks)}\n${verdictTemplate(NONCE)}`;
          const prompt = prefixed(prefix, `${before}\n${templates}\n${after}`);
          const part = prompt.slice(from * prompt.length, to * prompt.length);
          expect(countsIfEchoed(prompt, NONCE)).toBe(false);
          for (const text of [prompt, part, `${part}\n${prompt}`]) {
            expect(parseClaims(text, { nonce: NONCE, criteria }).kind).not.toBe("valid");
            expect(parseVerdict(text, { nonce: NONCE }).kind).toBe("none");
          }
        },
      ),
    );
  });

  test("what the guard lets through does not count, in whole or in part", () => {
    const lines = fc.array(fc.oneof(word, fc.constantFrom(`NONCE: ${NONCE}`, DONE, PROMISE, prefixed("> "))));
    fc.assert(
      fc.property(lines, fc.nat(), fc.nat(), (said, from, to) => {
        const text = said.join("\n");
        fc.pre(!countsIfEchoed(text, NONCE));
        for (const part of [
          text,
          text.slice(from % (text.length + 1)),
          text.slice(0, to % (text.length + 1)),
        ]) {
          expect(parse(part).kind).not.toBe("valid");
        }
      }),
    );
  });
});

describe("B10 properties", () => {
  const text = fc.string({ maxLength: 40 });
  const line = fc.string({ maxLength: 40 }).map((said) =>
    said
      .replace(/[^\x20-\x7e]|^<.*>$/g, "")
      .replace(/\s+/g, " ")
      .trim(),
  );
  const claims = fc.record({
    exitSignal: fc.boolean(),
    criteria: fc.dictionary(text, fc.boolean(), { maxKeys: 5 }),
    stuckCount: fc.option(fc.nat(9999)),
    next: fc.option(line.filter((said) => said !== "")),
    steps: fc.option(
      fc.array(
        line.filter((said) => said !== ""),
        { minLength: 1, maxLength: 5 },
      ),
    ),
    checks: fc.option(
      fc.array(
        line.filter((said) => said !== ""),
        { minLength: 1, maxLength: 5 },
      ),
    ),
    stepDone: fc.boolean(),
  });
  const render = (said: Claims): string =>
    block(
      `EXIT_SIGNAL: ${said.exitSignal}`,
      `CRITERIA: ${JSON.stringify(said.criteria)}`,
      ...(said.stuckCount === null ? [] : [`STUCK_COUNT: ${said.stuckCount}`]),
      `STEP: ${said.stepDone ? "done" : "open"}`,
      ...(said.steps === null ? [] : [`STEPS: ${JSON.stringify(said.steps)}`]),
      ...(said.checks === null ? [] : [`CHECKS: ${JSON.stringify(said.checks)}`]),
      ...(said.next === null ? [] : [`NEXT: ${said.next}`]),
    );
  /** Prose without anything that Markdown or we would take for more than words. */
  const prose = fc.array(fc.stringMatching(/^[a-zA-Z0-9 .,:;!?'"()\u00e9\u4e2d-]{0,60}$/), { maxLength: 8 });

  test("what was said is what is read, whatever prose is around it", () => {
    fc.assert(
      fc.property(claims, prose, prose, (said, before, after) => {
        const message = [...before, render(said), ...after].join("\n");
        const criteria = Object.keys(said.criteria);
        // a tick in one value and a tick in another make code of what is between them
        const lines = message.split("\n");
        const start = lines.indexOf("---LOOP_STATUS---");
        fc.pre([...codeByMicromark(message, lines)].every((index) => index < start));
        expect(parseClaims(message, { nonce: NONCE, criteria })).toEqual({ kind: "valid", claims: said });
      }),
    );
  });

  test("a block that is shown is not valid, whatever prose is around it", () => {
    fc.assert(
      fc.property(claims, prose, prose, fc.constantFrom(...BURIALS), (said, before, after, burial) => {
        const message = [...before, "", bury(burial, render(said)), ...after].join("\n");
        expect(parse(message).kind).not.toBe("valid");
      }),
    );
  });

  test("any fence hides it, however long and deep", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("`", "~"),
        fc.integer({ min: 3, max: 12 }),
        fc.nat(9),
        fc.nat(3),
        (char, length, indent, more) => {
          const fence = (count: number) => " ".repeat(indent) + char.repeat(count);
          expect(parse(`${fence(length)}\n${DONE}\n${fence(length + more)}`).kind).toBe("void");
          expect(parse(`${fence(length)}\nx\n${fence(length + more)}\n\n${DONE}`).kind).toBe("valid");
        },
      ),
    );
  });

  test("a valid block of which one character is changed says the same or nothing of the end", () => {
    fc.assert(
      fc.property(
        fc.nat(DONE.length - 1),
        fc.string({ minLength: 1, maxLength: 1, unit: "binary" }),
        (at, char) => {
          const report = parse(DONE.slice(0, at) + char + DONE.slice(at + 1));
          if (report.kind === "valid") expect(report.claims).toEqual(DEFAULTS);
        },
      ),
    );
  });

  test("another nonce never counts", () => {
    fc.assert(
      fc.property(claims, fc.string(), (said, nonce) => {
        fc.pre(nonce !== NONCE);
        const message = `${render(said)}\n\n${PROMISE}`;
        expect(parseClaims(message, { nonce, criteria: [] }).kind).not.toBe("valid");
      }),
    );
  });

  test("no text makes it throw, and what it lets through is fit to be shown", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.constantFrom(
        "\n",
        "\r",
        "`",
        "```\n",
        "> ",
        "<!--",
        "</x>",
        "\n---LOOP_STATUS---\n",
        "\n---END_STATUS---\n",
      ),
      fc.constantFrom(
        `NONCE: ${NONCE}\n`,
        "EXIT_SIGNAL: true\n",
        "NEXT: ",
        'STEPS: ["',
        '"]\n',
        PROMISE,
        "\u001b[",
      ),
      fc.constantFrom("<rejection_reason>", `\n<verdict nonce="${NONCE}">PASS</verdict>\n`, "\ud800", "\0"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const message = pieces.join("");
        const report = parse(message);
        const { reason } = parseVerdict(message, { nonce: NONCE });
        const next = report.kind === "valid" ? report.claims.next : null;
        const why = report.kind === "void" ? report.reason : null;
        for (const shown of [reason, next, why]) {
          expect(shown ?? "").not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029\u202e]/u);
          expect((shown ?? "").length).toBeLessThanOrEqual(1000);
        }
        expect(parse(message)).toEqual(report);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("H1 a huge message is read in a time that grows with its length", () => {
  const fill = (piece: string) => (size: number) => piece.repeat(Math.ceil(size / piece.length));
  const inKey =
    (before: string, piece: string, after = "") =>
    (size: number) =>
      withKey(before + fill(piece)(size) + after);

  test.each<[name: string, shape: (size: number) => string]>([
    ["starts", fill("---LOOP_STATUS---\n")],
    ["ends and starts", fill("---LOOP_STATUS---\n---END_STATUS---\n")],
    ["blocks", fill(`${DONE}\n`)],
    ["fences", fill("```\n")],
    ["fences of two kinds", fill("```\n~~~\n")],
    ["one long fence", fill("`")],
    [
      "fences that grow",
      (size) => Array.from({ length: Math.sqrt(2 * size) }, (_, n) => "`".repeat(n)).join("\n"),
    ],
    ["one deep quote", fill(">")],
    ["quotes", fill("> > > a\n")],
    ["inline code", fill("` `` ")],
    ["escaped ticks", fill("\\`")],
    ["tags that are never finished", fill("<a ")],
    ["names without an end", fill("<a")],
    ["tags that are never closed", fill("<div>\n")],
    ["tags in tags", fill("<details>")],
    ["tags of many names", (size) => Array.from({ length: size / 9 }, (_, n) => `<t${n}>`).join("\n")],
    ["comments in comments", fill("<!--")],
    ["comments", fill("<!-- -->\n")],
    ["hyphens", fill("-")],
    ["items in items", fill("- ")],
    ["bars", fill("|-")],
    ["blanks before a word", (size) => `${fill(" ")(size)}x`],
    ["blanks between words", inKey("NEXT: a", " ", "b")],
    ["empty lines", fill("\n")],
    ["CR", fill("\r")],
    ["broken colours", fill("\u001b[1")],
    ["deep criteria", inKey("CRITERIA: ", "[")],
    ["a criterion with a long name", inKey('CRITERIA: {"', '\\"', '": true}')],
    ["a long next", inKey("NEXT: ", "x ")],
    ["sentinels", fill(`${PROMISE}\n`)],
    ["reasons", fill("<rejection_reason>")],
    ["reasons in lines", fill("<rejection_reason>\n")],
  ])("%s", (_name, shape) => {
    const message = (size: number) => `${shape(size)}\n\n${DONE}\n<verdict>`;
    const measure = (text: string): number =>
      cpuMs(() => {
        parse(text);
        parseVerdict(text, { nonce: NONCE });
        countsIfEchoed(text, NONCE);
      });
    const small = message(25_000);
    const smallMs = Math.max(5, Math.min(measure(small), measure(small), measure(small)));
    // Twenty times as long: about 20 times the time if it is linear, 400 times if it is not.
    expect(measure(message(500_000)) / smallMs).toBeLessThan(120);
  });

  test("five megabytes take a moment", () => {
    const message = `${fill("```\n> a <b> `c`\n")(5_000_000)}\n${DONE}`;
    expect(cpuMs(() => parse(message))).toBeLessThan(5_000);
  });
});
