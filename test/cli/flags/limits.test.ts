/** Limits as they are typed: the same form and the same cap, wherever they stand. */
import { describe, expect, test } from "vitest";
import { budgetFrom, limitsFrom, raiseFrom } from "../../../src/cli/flags/limits.ts";
import { budgetFlag, checkBudget } from "../../../src/cli/flags/values.ts";

describe("a budget", () => {
  test.each([
    ["5", 5],
    ["$5", 5],
    ["2.50", 2.5],
    ["$0.01", 0.01],
    [" 7 ", 7],
    ["100", 100],
  ])("%j is read by every command and from the environment", (text, amount) => {
    expect(budgetFlag("--budget", text)).toBe(amount);
    expect(limitsFrom({ budget: text }, {}).budgetUsd).toBe(amount);
    expect(raiseFrom({ budget: text }).budgetUsd).toBe(amount);
    expect(budgetFrom({}, { LOOP_BUDGET: text })).toBe(amount);
  });

  test.each(["", "0", "-1", "ten", "5$", "$", "$$5", "1e2", "0x10", "5 6", "NaN", "Infinity"])(
    "%j is refused with one sentence that names where it stood",
    (text) => {
      expect(() => budgetFrom({ budget: text }, {})).toThrow(
        `--budget "${text}" is not an amount of dollars`,
      );
      if (text !== "")
        expect(() => budgetFrom({}, { LOOP_BUDGET: text })).toThrow(`LOOP_BUDGET "${text}" is not`);
    },
  );

  test("has one cap", () => {
    const words = "A budget of $100.01 is too much; a loop can spend at most $100.";
    expect(() => budgetFrom({ budget: "$100.01" }, {})).toThrow(words);
    expect(() => limitsFrom({}, { LOOP_BUDGET: "100.01" })).toThrow(words);
    expect(() => checkBudget(100.01)).toThrow(words);
  });

  test("a flag goes before the environment, and without both it is 25", () => {
    expect(budgetFrom({ budget: "3" }, { LOOP_BUDGET: "rubbish" })).toBe(3);
    expect(budgetFrom({}, { LOOP_BUDGET: "" })).toBe(25);
    expect(budgetFrom({}, {})).toBe(25);
  });
});

test("iterations: a flag goes before LOOP_MAX_ITERATIONS, and at most 50 are allowed", () => {
  expect(limitsFrom({ iterations: "7" }, { LOOP_MAX_ITERATIONS: "x" }).iterations).toBe(7);
  expect(limitsFrom({}, { LOOP_MAX_ITERATIONS: "9" }).iterations).toBe(9);
  expect(() => limitsFrom({}, { LOOP_MAX_ITERATIONS: "51" })).toThrow("51 iterations are too many");
});
