/** `scripts/function-lengths.mjs`, on text that is easily misread. */
import { expect, test } from "vitest";
import { functionLengths } from "../scripts/function-lengths.mjs";

const of = (text: string) =>
  functionLengths(new Map([["a.ts", text]])).map(({ name, line, length }) => `${name} ${line} ${length}`);

test("every form of a function is counted from its first line to its last", () => {
  const text = [
    "export async function one(",
    "  a: string,",
    "): Promise<void> {",
    "}",
    "const two = () =>",
    "  1;",
    "class Three {",
    "  #field = () => {",
    "  };",
    "  constructor() {}",
    "  get four(): number { return 1;",
    "  }",
    "}",
    "list.map((each) => {",
    "  return each; });",
    "const five = { six() {",
    "} };",
  ].join("\n");
  expect(of(text)).toEqual([
    "one 1 4",
    "two 5 2",
    "#field 8 2",
    "four 11 2",
    "(anonymous) 14 2",
    "six 16 2",
    "constructor 10 1",
  ]);
});

test("a function inside another counts for itself and as a part of the other", () => {
  expect(of("function outer() {\n  function inner() {\n  }\n}\n")).toEqual(["outer 1 4", "inner 2 2"]);
});

test("braces in strings, templates, expressions and comments are not taken for the end of a function", () => {
  const text = [
    "/** The comment before it is not a part of it. */",
    "function hard() {",
    '  const a = "}" + /[}]/.source; // }',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    "  return `} ${a} ${`}`}`;",
    "}",
  ].join("\n");
  expect(of(text)).toEqual(["hard 2 4"]);
});

test("a signature without a body is no function", () => {
  expect(
    of("declare function f(): void;\ninterface A { g(): void }\nabstract class B { abstract h(): void }"),
  ).toEqual([]);
});
