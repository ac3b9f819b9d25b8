/** The parser of claims beside micromark: what CommonMark calls code is never a claim. */
import { expect, test } from "vitest";
import { parseClaims } from "../../../src/core/claims/claims.ts";
import { codeLines, readCode } from "../../../src/core/claims/code-lines.ts";
import { readOwnLines, splitLines } from "../../../src/core/claims/own-lines.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { codeByMicromark, isEmpty, randomFrom, randomMarkdown } from "../../support/markdown.ts";

const NONCE = "k7f3q9";
const KEYS = [`NONCE: ${NONCE}`, "EXIT_SIGNAL: true"];
const BLOCK = ["---LOOP_STATUS---", ...KEYS, "---END_STATUS---"];
const DONE = BLOCK.join("\n");
const PROMISE = `<promise nonce="${NONCE}">COMPLETE</promise>`;
const CLAIMS = [...BLOCK, DONE, DONE, PROMISE, `<verdict nonce="${NONCE}">PASS</verdict>`];
const FENCE = "```";
const kindOf = (message: string) => parseClaims(message, { nonce: NONCE, criteria: [] }).kind;
const codeIn = (message: string) => codeByMicromark(message, splitLines(message));

test.each<[name: string, message: string]>([
  ["a fence whose end is indented by 4 more", `   ${FENCE}\nx\n      ${FENCE}\n\n${DONE}`],
  ["a fence after the fence of a list item", `- ${FENCE}\n  x\n${FENCE}\n\n${DONE}`],
  ["a fence after the fence of a quote", `> ${FENCE}\n> x\n\n${FENCE}\n\n${DONE}`],
  [
    "a fence after a list item's fence that is never closed",
    `1. a\n\n   ${FENCE}\n   x\n\n${FENCE}\n${DONE}`,
  ],
  ["a fence below a numbered item, less indented", `10. ${FENCE}\n   ok\n   ${FENCE}\n\n${DONE}`],
  ["inline code after a tick in a tag", `a <b c="\`"> \`\n${DONE}\n\``],
  ["inline code after a tick in an address", `a <ab:\`> \`\n${DONE}\n\``],
  [
    "inline code that ends after the block",
    DONE.replace("\n---END", "\nNEXT: a ` b\n---END").concat("\n` c"),
  ],
  ["inline code from one value to the next", DONE.replace("\n---END", "\nNEXT: a `\nSTEP: done `\n---END")],
])("B10 a block in %s is no claim", (_, message) => {
  const lines = splitLines(message);
  const markers = [...codeIn(message)].filter((index) =>
    BLOCK.concat("STEP: done `").includes((lines[index] ?? "").trim()),
  );
  expect(markers).not.toEqual([]);
  expect(kindOf(message)).not.toBe("valid");
});

test.each<[name: string, message: string]>([
  ["a fence whose end is indented by 3", `${FENCE}\nx\n   ${FENCE}\n${DONE}`],
  ["a list item's fence with its own end", `- ${FENCE}\n  x\n  ${FENCE}\n\n${DONE}`],
  ["a list item's fence that ends with the item", `- ${FENCE}\n  x\n  ${FENCE}\n- b\n${DONE}`],
  ["links and inline code", `See [a](http://b "c") and arr[0](\`x\`) with \`d\`.\n${DONE}`],
  ["a comparison and inline code", `It fails for a < b, says \`c\`, and for d > e.\n${DONE}`],
  ["a definition", `[a]: http://b\n\n${DONE}`],
])("B10 a block after %s counts", (_, message) => {
  expect(kindOf(message)).toBe("valid");
});

test("B10 a number starts no list after code of several lines, so the text below is code for micromark", () => {
  const text = "> <script\n\ta\n\tb\n\n01. c\n\n     d";
  expect([...codeIn(text)]).toEqual([1, 2, 6]);
  expect([...readCode(splitLines(text), true)]).toEqual([0, 1, 1, 0, 0, 0, 1]);
});

/** New texts each time. `npm run test:long` tries a million of them, `npm run test:properties` a tenth of that. */
const TEXTS = process.env.LOOP_TEST_LONG
  ? 1_000_000
  : process.env.LOOP_TEST_RUNS === "full"
    ? 100_000
    : 2_000;

test(`B10 the parser agrees with micromark about code in ${TEXTS} random texts`, {
  timeout: 45 * 60_000,
}, () => {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const random = randomFrom(seed);
  const seen = { code: 0, plain: 0 };
  for (let n = 0; n < TEXTS; n++) {
    const isDisputed = n % 2 === 0;
    const text = randomMarkdown(random, CLAIMS, isDisputed);
    const lines = splitLines(text);
    const expected = codeByMicromark(text, lines);
    const own = readOwnLines(text);
    const found = isDisputed ? null : readCode(lines, true);
    for (const [index, line] of lines.entries()) {
      if (isEmpty(line)) continue;
      const isCode = expected.has(index);
      seen[isCode ? "code" : "plain"]++;
      const where = () => `seed ${seed}, line ${index + 1} of ${JSON.stringify(text)}`;
      if (isCode && own.opensOwn(index)) throw new Error(`code counts as plain text: ${where()}`);
      if (found !== null && (found[index] === 1) !== isCode)
        throw new Error(`micromark ${isCode ? "calls it code" : "does not call it code"}: ${where()}`);
    }
  }
  expect(seen.code).toBeGreaterThan(TEXTS / 2);
  expect(seen.plain).toBeGreaterThan(TEXTS / 2);
});

test.each<[name: string, shape: (size: number) => string]>([
  [
    "list items in each other and blank lines",
    (size) => `${"- ".repeat(size / 4)}a\n${"\n".repeat(size / 2)}\`\nb`,
  ],
  ["quotes in each other", (size) => `${">".repeat(size / 2)}\n\`\n${">".repeat(size / 2)} a`],
  [
    "indented lines in nested items",
    (size) => `${"- ".repeat(300)}a\n`.concat(`${" ".repeat(600)}\`\n`.repeat(size / 600)),
  ],
  ["runs of ticks", (size) => "`a``b```c````d\n".repeat(size / 15)],
  [
    "ticks of every length",
    (size) => Array.from({ length: Math.sqrt(size) }, (_, n) => "`".repeat(n)).join("a\n"),
  ],
  ["tags that never end", (size) => `a \`\n${`<a b="<a c='" d="' e='"`.repeat(size / 20)}`],
  ["tags in quotes of tags", (size) => `a \`\n${`<a x="`.repeat(size / 6)}`],
  ["comments that never end", (size) => `a \`\n${"<!-- <? <![CDATA[ <!A ".repeat(size / 22)}`],
  ["links that never end", (size) => `a \`\n${`[a](b "`.repeat(size / 7)}`],
  ["backslashes", (size) => `a \`\n${"\\".repeat(size)}`],
])("H1 the time for %s grows with the length", (_, shape) => {
  const time = (size: number) => {
    const lines = shape(size).split("\n");
    return Math.min(...[1, 2, 3, 4, 5].map(() => cpuMs(() => codeLines(lines))));
  };
  time(10_000);
  const [short, long] = [time(50_000), time(400_000)];
  // 8 times as long: quadratic time would be 64 times
  expect(long).toBeLessThan(Math.max(short, 3) * 24);
});
