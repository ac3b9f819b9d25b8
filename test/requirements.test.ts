/** Every requirement that code or a test names is explained in docs/requirements.md. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const DOC = readFileSync(join(ROOT, "docs/requirements.md"), "utf8");
const LISTED = [...DOC.matchAll(/^- \*\*([A-J]\d{1,2})\*\* (.+)$/gm)];
/** The gates of a goal have names of the same form. The document says so. */
const GATES = ["G1", "G2", "G3"];

const ID = /(?<![\w-])[A-J]\d{1,2}(?![\w-])/g;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|[\s;{}(,])\/\/.*$/gm;
/** The first text of a test, also of a table of tests: `test.each([…])("…")`. */
const TITLE = /(?:\b(?:test|describe|it)(?:\.\w+)?|\))\(\s*("[^"\n]*"|'[^'\n]*'|`[^`]*`)/g;

function idsIn(text: string): string[] {
  const prose = [...(text.match(COMMENT) ?? []), ...[...text.matchAll(TITLE)].map(([, title = ""]) => title)];
  return prose.flatMap((each) => each.match(ID) ?? []);
}

function namedIn(folder: string): { readonly file: string; readonly id: string }[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.includes("fixtures/"))
    .flatMap((file) =>
      idsIn(readFileSync(join(ROOT, folder, file), "utf8")).map((id) => ({ file: join(folder, file), id })),
    );
}

describe("requirements", () => {
  const listed = LISTED.map(([, id = ""]) => id);

  test("each is listed once, in order, with a sentence", () => {
    const sorted = [...new Set(listed)].sort(
      (a, b) => a.charCodeAt(0) - b.charCodeAt(0) || Number(a.slice(1)) - Number(b.slice(1)),
    );
    expect(listed).toEqual(sorted);
    expect(LISTED.filter(([, , text = ""]) => !/^.{20,}\.$/.test(text)).map(([line]) => line)).toEqual([]);
  });

  test.each(["src", "test"])("each that a comment or a title in %s names is listed", (folder) => {
    const named = namedIn(folder);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ id }) => !listed.includes(id) && !GATES.includes(id))).toEqual([]);
  });

  test("ids are found in titles and comments, and other codes are not taken for them", () => {
    const text = [
      'test("A9 B10 kept", () => {});',
      'test.each(["x"])("C3 picked: %s", () => {});',
      "/** D4 the prompt. */",
      'const story = "E9"; // F1 shown',
      'test("T-001, US-003, 2B, A4-size, xB7 and 0xE5", () => {});',
    ].join("\n");
    expect(idsIn(text).sort()).toEqual(["A9", "B10", "C3", "D4", "F1"]);
  });
});
