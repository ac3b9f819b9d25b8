/** E1 D4 what the plugin puts before the model: short, without a shell in it, and never a claim when it is echoed. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { countsIfEchoed, parseClaims, parseVerdict } from "../../../src/core/claims/claims.ts";
import { NONCE } from "../../support/goals/goals.ts";

const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../../plugins/claude-code/${path}`, import.meta.url)), "utf8");
const SKILL = read("skills/loopwright/SKILL.md");
const COMMAND = read("commands/loop.md");
const CHARACTERS_PER_TOKEN = 3.5;
const MOST_TOKENS = 600;

function frontMatter(text: string): Readonly<Record<string, string>> {
  const [, block = ""] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
  return Object.fromEntries(
    block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
}

describe("the skill", () => {
  test(`E1 costs at most ${MOST_TOKENS} tokens`, () => {
    const tokens = Math.ceil(SKILL.length / CHARACTERS_PER_TOKEN);
    console.log(`SKILL.md: ${SKILL.length} characters, about ${tokens} tokens of ${MOST_TOKENS}`);
    expect(tokens).toBeLessThanOrEqual(MOST_TOKENS);
  });

  test("B10 B19 teaches the protocol", () => {
    for (const word of ["claim", "loop_report", "nonce", "status block", ".loop/", "CronCreate", "Wakeup"])
      expect(SKILL, word).toContain(word);
  });

  test("E1 the model may load it by itself, a person may type it", () => {
    const { name, description = "", ...rest } = frontMatter(SKILL);
    expect(name).toBe("loopwright");
    expect(description.length).toBeLessThanOrEqual(300);
    expect(rest).not.toHaveProperty("disable-model-invocation");
    expect(rest).not.toHaveProperty("user-invocable");
  });
});

describe("the command", () => {
  test("E1 is for people only, and short", () => {
    const { description = "", ...rest } = frontMatter(COMMAND);
    expect(rest).toMatchObject({ "disable-model-invocation": "true" });
    expect(rest["argument-hint"]).toContain("until");
    expect(description.length).toBeLessThanOrEqual(130);
    expect(COMMAND).toContain("loop doctor");
  });
});

describe.each([
  ["SKILL.md", SKILL],
  ["loop.md", COMMAND],
])("%s", (_, text) => {
  test("H5 runs no shell and takes no words into one", () => {
    expect(text).not.toMatch(/!`/);
    expect(text).not.toMatch(/```!/);
    expect(text).not.toMatch(/\$(?:ARGUMENTS|\d|\{)/);
    expect(frontMatter(text)).not.toHaveProperty("allowed-tools");
  });

  test("D4 B10 echoed whole or in part, it claims nothing", () => {
    const isClaim = (message: string) =>
      parseClaims(message, { nonce: NONCE, criteria: ["tests"] }).kind !== "none" ||
      parseVerdict(message, { nonce: NONCE }).kind !== "none";
    expect(countsIfEchoed(text, NONCE)).toBe(false);
    expect(isClaim(text)).toBe(false);
    const lines = text.split("\n");
    for (let from = 0; from < lines.length; from++)
      for (let to = from + 1; to <= lines.length; to++)
        expect(isClaim(lines.slice(from, to).join("\n"))).toBe(false);
    for (let from = 0; from < text.length; from++) expect(isClaim(text.slice(from))).toBe(false);
    for (const word of ["EXIT_SIGNAL", "LOOP_STATUS", "<promise", "<verdict"])
      expect(text).not.toContain(word);
  });
});
