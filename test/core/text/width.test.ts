/** The table of widths, held against the package string-width, and columns that line up. */
import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { cut, renderTable, seenWidth } from "../../../src/cli/render/table.ts";
import {
  columnsOf,
  cutTo,
  fitTo,
  renderColumns,
  simplify,
  takeColumns,
} from "../../../src/core/text/width.ts";

/**
 * Letters where the package and terminals disagree when the letter stands alone. A Korean vowel or final without its
 * first letter takes no column in a terminal. The Thai and Lao AM take one, also after a letter of another script.
 */
const DISPUTED = /[\u1160-\u11ff\ud7b0-\ud7ff\u0e33\u0eb3]/;
const FINAL = fc.constantFrom("", "\u11a8", "\u11ab");

/** Letters and sequences as people write them. */
const piece = fc.oneof(
  fc.constantFrom(
    "a",
    "é",
    "e\u0301",
    "✅",
    "「",
    "」",
    "ｱ",
    "ｶﾞ",
    "カ\u3099",
    "漢",
    "한",
    "ｆ",
    "…",
    "─",
    "✔",
    "⚠",
    "☰",
  ),
  fc.constantFrom("👍", "👍🏽", "👨‍👩‍👧", "🇩🇪", "🏴‍☠️", "❤️", "1️⃣", "ก็", "नि", "שָׁ", "a\u0308\u0323"),
  FINAL.map((final) => `\u1112\u1161${final}`),
  fc
    .integer({ min: 0x20, max: 0x2ffff })
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter((letter) => /[^\p{Cn}\p{Cc}\p{Co}]/u.test(letter) && !DISPUTED.test(letter))
    // the package counts a few signs of Indic scripts and the letter after them as one; terminals do not
    .filter((letter) => stringWidth(`${letter}·`) === stringWidth(letter) + 1),
);
const line = fc.array(piece, { maxLength: 12 }).map((pieces) => simplify(pieces.join("·")));

describe("B15 A3 columns of a terminal", () => {
  test("every letter is as wide as string-width says", () => {
    const wrong: string[] = [];
    for (let code = 0x20; code <= 0x2ffff; code++) {
      const letter = String.fromCodePoint(code);
      if (/[\p{Cn}\p{Cc}\p{Co}\p{Cs}]/u.test(letter) || DISPUTED.test(letter)) continue;
      if (columnsOf(letter) !== stringWidth(letter)) wrong.push(`U+${code.toString(16)} ${letter}`);
    }
    expect(wrong).toEqual([]);
  });

  test("every line is as wide as string-width says, with marks, syllables and pictures in it", () => {
    fc.assert(
      fc.property(line, (text) => {
        expect(columnsOf(text)).toBe(stringWidth(text));
        expect(seenWidth(`\u001b[31m${text}\u001b[0m`)).toBe(stringWidth(text));
      }),
      { numRuns: 1_000 },
    );
  });

  test("a text that is cut or filled takes the columns that it was given", () => {
    fc.assert(
      fc.property(line, fc.integer({ min: 1, max: 30 }), (text, columns) => {
        expect(stringWidth(fitTo(text, columns))).toBe(columns);
        expect(stringWidth(cutTo(text, columns))).toBeLessThanOrEqual(columns);
        expect(stringWidth(cut(`\u001b[1m${text}\u001b[0m`, columns))).toBeLessThanOrEqual(columns);
        expect(text.startsWith(takeColumns(text, columns))).toBe(true);
      }),
    );
  });

  test.each(["✅", "「", "ｱ", "é", "e\u0301", "한글", "❤️", "👨‍👩‍👧"])(
    "the column after %s lines up with the other rows",
    (cell) => {
      const rows = [
        [cell, "|"],
        ["a longer cell", "|"],
      ];
      for (const table of [
        renderTable(rows, 80, { colour: false }),
        renderColumns(rows.map((row) => row.map(simplify))),
      ]) {
        const ends = table.split("\n").map((each) => stringWidth(each));
        expect(ends).toEqual([16, 16]);
      }
    },
  );

  test("colours stay whole when a line is cut, and they end with it", () => {
    expect(cut("\u001b[31m「ab」\u001b[0m", 5)).toBe("\u001b[31m「ab…\u001b[0m");
    expect(cut("\u001b[31m「ab」\u001b[0m", 6)).toBe("\u001b[31m「ab」\u001b[0m");
    expect(cut("「」", 3)).toBe("「…");
  });
});
