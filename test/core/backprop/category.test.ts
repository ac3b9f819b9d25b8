/** What two failures have in common. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failureCategory, isSystemic } from "../../../src/core/backprop/category.ts";
import type { TestRun } from "../../../src/core/backprop/test-run.ts";
import { recogniseTestRun } from "../../../src/core/backprop/test-run.ts";
import type { FailedTest } from "../../../src/core/toolchain/test-output.ts";
import { anyText } from "../../support/any-text.ts";

const aRun = (...failures: readonly FailedTest[]): TestRun => ({
  runner: "vitest",
  outcome: "failed",
  failures,
});
const categoryOf = (message: string, name = "src/cart.test.ts > cart > adds up") =>
  failureCategory(aRun({ name, message }));

const KINDS: readonly (readonly [string, string])[] = [
  ["AssertionError: expected 1 to be 2", "assertion"],
  ["AssertionError: expected 'ECONNREFUSED' to be 'timeout'", "assertion"],
  ["expect(received).toEqual(expected) // deep equality", "assertion"],
  ["error: expect(received).toEqual(expected)", "assertion"],
  ["assertion `left == right` failed left: 1 right: 2", "assertion"],
  ["org.opentest4j.AssertionFailedError: expected: <100> but was: <90>", "assertion"],
  ["Failed asserting that 90 is identical to 100.", "assertion"],
  ["Assert.Equal() Failure: Values differ", "assertion"],
  ["total = 90, want 100", "assertion"],
  ["TypeError: Cannot read properties of undefined (reading 'c')", "type"],
  ["ReferenceError: x is not defined", "type"],
  ["KeyError: 'field'", "type"],
  ["java.lang.NullPointerException at CartTest.java:7", "type"],
  ["nil.field NoMethodError: undefined method `field' for nil:NilClass", "type"],
  ["called `Option::unwrap()` on a `None` value", "type"],
  ["panic: assignment to entry in nil map", "type"],
  ["Error: Call to a member function field() on null", "type"],
  ["Error: Test timed out in 50ms.", "timeout"],
  ['thrown: "Exceeded timeout of 50 ms for a test', "timeout"],
  ["context deadline exceeded", "timeout"],
  ["Error: Cannot find module './x' from 'test/a.js'", "missing-module"],
  ["ModuleNotFoundError: No module named 'x'", "missing-module"],
  ["LoadError: cannot load such file -- x", "missing-module"],
  ["Error: Snapshot `cart 1` mismatched", "snapshot"],
  ["SyntaxError: Unexpected token '('", "compile"],
  ["error[E0425]: cannot find value `c` in this scope", "compile"],
  ["build failed: bad/bad_test.go:5:30: undefined: missing", "compile"],
  ["compilation error: cannot find symbol", "compile"],
  ["error CS0103: The name 'Missing' does not exist", "compile"],
  ["Error: connect ECONNREFUSED 127.0.0.1:5432", "network"],
  ["dial tcp: connection refused", "network"],
  ["Error: EACCES: permission denied, open '/x'", "permission"],
  ["PermissionError: [Errno 13] Permission denied: 'x'", "permission"],
  ["something went wrong", "other"],
  ["", "other"],
  ["何かがおかしい", "other"],
];

const PLACES: readonly (readonly [string, string])[] = [
  ["src/cart.test.ts > cart > adds up", "cart.test.ts"],
  ["/home/dev/shop/src/cart.test.ts > cart > adds up", "cart.test.ts"],
  ["C:\\shop\\src\\cart.test.ts > adds up", "cart.test.ts"],
  ["tests/test_cart.py::CartTest::test_discount", "test_cart.py"],
  ["src/lib.rs > tests::unwraps", "lib.rs"],
  ["shop.CartTest.discount", "CartTest"],
  ["CartTest > discount()", "CartTest"],
  ["CartTest::testDiscount", "CartTest"],
  ["App\\Tests\\CartTest::testDiscount", "App Tests CartTest"],
  ["Shop.Tests.CartTests.Discount", "CartTests"],
  ["cart › empty › reads a missing field", "cart"],
  ["example.com/shop/bad", "bad"],
  ["v2.test.ts > a", "v#.test.ts"],
  ["", "vitest"],
  ["***", "vitest"],
];

describe("D10 the category of a failure", () => {
  test.each(KINDS)("%s is %s", (message, kind) => {
    expect(categoryOf(message)).toBe(`${kind}: cart.test.ts`);
  });

  test.each(PLACES)("%s happened in %s", (name, place) => {
    expect(categoryOf("AssertionError: no", name)).toBe(`assertion: ${place}`);
  });

  test("numbers, paths and times make no difference", () => {
    expect(categoryOf("Error: Test timed out in 50ms.")).toBe(
      categoryOf("Error: Test timed out in 5000ms.", "/tmp/x/cart.test.ts > cart > adds down"),
    );
  });

  test("what most failures have in common counts", () => {
    const timeout = { name: "a.test.ts > x", message: "timed out" };
    const first = { name: "b.test.ts > y", message: "AssertionError: 1" };
    const second = { name: "b.test.ts > z", message: "AssertionError: 2" };
    expect(failureCategory(aRun(timeout, first, second))).toBe("assertion: b.test.ts");
  });

  test("a run without failures has a category by its runner", () => {
    expect(failureCategory(aRun())).toBe("other: vitest");
  });

  test("the same failure by two reporters of one runner is one category", () => {
    const category = (name: string) => {
      const url = new URL(`../../fixtures/test-output/${name}.txt`, import.meta.url);
      const run = recogniseTestRun({ command: "npm test", exitCode: 1, output: readFileSync(url, "utf8") });
      return run === null ? null : failureCategory(run);
    };
    expect(category("node-tap-failed")).toBe(category("node-spec-failed"));
    expect(category("pytest-quiet")).toBe("assertion: test_cart.py");
    expect(category("maven-failed")).toBe(category("maven-quiet-failed"));
    expect(category("cargo-failed")).toBe(category("cargo-quiet-failed"));
  });

  test("it is one short line of plain letters, whatever the order of the failures", () => {
    const failure = fc.record({
      name: fc.oneof(anyText(40), fc.constantFrom(...PLACES.map(([name]) => name))),
      message: fc.oneof(anyText(40), fc.constantFrom(...KINDS.map(([message]) => message))),
    });
    fc.assert(
      fc.property(fc.array(failure, { maxLength: 6 }), (failures) => {
        const category = failureCategory(aRun(...failures));
        expect(failureCategory(aRun(...failures.toReversed()))).toBe(category);
        expect(category).toMatch(/^[a-z-]+: [\p{L}\p{M}#@._ -]{1,60}$/u);
      }),
    );
  });
});

describe("D10 systemic", () => {
  test.each<readonly [readonly string[], boolean]>([
    [[], false],
    [["a"], false],
    [["a", "b", "a"], false],
    [["a", "b", "a", "a"], true],
    [["b", "b", "b"], false],
    [["a", "a", "a", "a"], true],
  ])("%j", (categories, expected) => {
    expect(isSystemic(categories, "a")).toBe(expected);
  });
});
