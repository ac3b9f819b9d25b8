/** JSON with comments: read like `jsonc-parser` reads it, and edited without touching any other byte. */
import fc from "fast-check";
import * as oracle from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { addMember, appendItem, readMember, removeMember } from "../../../src/system/jsonc/edit.ts";
import { JsoncError, parseJsonc, toValue } from "../../../src/system/jsonc/tree.ts";

/** What may stand between two words of such a text. */
const gaps = fc.constantFrom(
  "",
  " ",
  "\n",
  "\r\n  ",
  "\t",
  " // why, {\n",
  '/* a " b */',
  "\n// x\n",
  " /**/ ",
);
const keys = fc.string({ maxLength: 4 }).filter((key) => key !== "__proto__");
const plain = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);

/** A text and its gaps: every comma, bracket and colon has one on both sides. */
const texts = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    plain.map((value) => JSON.stringify(value)),
    tie("object"),
    fc
      .tuple(fc.array(fc.tuple(gaps, tie("value"), gaps), { maxLength: 3 }), gaps, fc.boolean())
      .map(([items, gap, isTrailing]) =>
        join(
          "[]",
          items.map((item) => item.join("")),
          gap,
          isTrailing,
        ),
      ),
  ),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(keys, gaps, gaps, tie("value"), gaps, gaps), {
        maxLength: 4,
        selector: ([key]) => key,
      }),
      gaps,
      fc.boolean(),
    )
    .map(([members, gap, isTrailing]) =>
      join(
        "{}",
        members.map(([key, a, b, value, c, d]) => `${a}${JSON.stringify(key)}${b}:${c}${value}${d}`),
        gap,
        isTrailing,
      ),
    ),
}));
const objects = fc.tuple(gaps, texts.object, gaps).map((parts) => parts.join(""));

function join([open, close]: string, parts: readonly string[], gap: string, isTrailing: boolean): string {
  return `${open}${parts.join(",")}${isTrailing && parts.length > 0 ? "," : ""}${gap}${close}`;
}

/** undefined: the library refuses the text. */
function parseByOracle(text: string): unknown {
  const errors: oracle.ParseError[] = [];
  const value = oracle.parse(text, errors, { allowTrailingComma: true });
  return errors.length > 0 ? undefined : value;
}

function parseByUs(text: string): unknown {
  try {
    return toValue(parseJsonc(text));
  } catch (error) {
    expect(error).toBeInstanceOf(JsoncError);
    return undefined;
  }
}

function commentsOf(text: string): string[] {
  const found: string[] = [];
  oracle.visit(text, { onComment: (from, length) => found.push(text.slice(from, from + length)) });
  return found;
}

describe("E1 E5 JSON with comments", () => {
  test("means what the library says it means", () => {
    fc.assert(
      fc.property(objects, (text) => {
        expect(parseByUs(text)).toEqual(parseByOracle(text));
      }),
      { numRuns: 500 },
    );
  });

  test("is refused when the library refuses it, after any letter is changed", () => {
    const letters = fc.constantFrom("", ",", "}", "]", "{", '"', ":", "/", "1", "x", "\\", "\u00a0", "\n");
    fc.assert(
      fc.property(objects, fc.nat(), letters, (text, at, letter) => {
        const place = at % text.length;
        const changed = text.slice(0, place) + letter + text.slice(place + 1);
        expect(parseByUs(changed)).toEqual(parseByOracle(changed));
      }),
      { numRuns: 1_500 },
    );
  });

  test("a member is added as the library adds it, and no comment is lost", () => {
    fc.assert(
      fc.property(
        objects,
        fc.uniqueArray(keys, { minLength: 1, maxLength: 3 }),
        fc.jsonValue(),
        (text, path, value) => {
          const isThere = path.some((_, depth) => {
            const parent = readMember(text, path.slice(0, depth));
            return (
              (typeof parent !== "object" && parent !== undefined) || parent === null || Array.isArray(parent)
            );
          });
          fc.pre(
            !isThere && readMember(text, path) === undefined && !JSON.stringify(value).includes("__proto__"),
          );
          const added = addMember(text, path, value);
          const edits = oracle.modify(text, path, value, {});
          expect(parseByOracle(added)).toEqual(parseByOracle(oracle.applyEdits(text, edits)));
          expect(commentsOf(added)).toEqual(commentsOf(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  test("a member that was added and removed leaves no trace where the object had other members", () => {
    fc.assert(
      fc.property(objects, fc.jsonValue(), (text, value) => {
        const key = "a key that no text has";
        const added = addMember(text, [key], value);
        const removed = removeMember(added, [key], false);
        if (Object.keys(toValue(parseJsonc(text)) as object).length > 0) expect(removed).toBe(text);
        else expect(parseByOracle(removed)).toEqual({});
        expect(commentsOf(removed)).toEqual(commentsOf(text));
      }),
      { numRuns: 500 },
    );
  });

  test("any member can be removed: the rest keeps its meaning, and comments outside of the member stay", () => {
    fc.assert(
      fc.property(objects, fc.nat(), (text, index) => {
        const top = parseJsonc(text);
        const members = top.kind === "object" ? top.parts : [];
        const member = members[index % Math.max(1, members.length)];
        fc.pre(member !== undefined);
        const { [member.key]: _, ...rest } = toValue(top) as Record<string, unknown>;
        const removed = removeMember(text, [member.key], false);
        expect(parseByUs(removed)).toEqual(rest);
        expect(parseByOracle(removed)).toEqual(rest);
        const around = text.slice(0, member.from) + text.slice(member.to);
        expect(commentsOf(removed)).toEqual(commentsOf(around));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["after a line comment", '{ "a": 1 // c\n}', '{ "a": 1, // c\n  "k": 2\n}'],
    ["after a comma at the end", '{\n  "a": 1,\n}', '{\n  "a": 1,\n  "k": 2,\n}'],
    ["on one line", '{"a":1}', '{"a":1, "k": 2}'],
    ["in an object with only a comment", "{ /* c */ }", '{ /* c */\n  "k": 2\n}'],
    ["with tabs and Windows line ends", '{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"k": 2\r\n}'],
  ])("a member is written like its neighbours: %s", (_, text, expected) => {
    expect(addMember(text, ["k"], 2)).toBe(expected);
  });

  test("a comment about the next member stays when the member before it is removed", () => {
    expect(removeMember('{\n  "ours": 1,\n  // theirs\n  "b": "http://x"\n}', ["ours"], false)).toBe(
      '{\n  // theirs\n  "b": "http://x"\n}',
    );
  });

  test("an item is added to its list, and the list is made where it is missing", () => {
    expect(appendItem('{"a":{"b":[1]}}', ["a", "b"], 2)).toBe('{"a":{"b":[1, 2]}}');
    expect(toValue(parseJsonc(appendItem("{}", ["a", "b"], 2)))).toEqual({ a: { b: [2] } });
    expect(() => appendItem('{"a":{"b":{}}}', ["a", "b"], 2)).toThrow(SyntaxError);
    expect(() => addMember('{"a":1}', ["a", "b"], 2)).toThrow(SyntaxError);
    expect(() => addMember('{"a":1}', ["a"], 2)).toThrow(SyntaxError);
  });
});
