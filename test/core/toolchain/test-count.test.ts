/** How many tests ran, by what runners print. */
import { describe, expect, test } from "vitest";
import { countTests } from "../../../src/core/toolchain/test-output.ts";
import { cpuMs } from "../../support/cpu-time.ts";

const KNOWN: readonly (readonly [string, string, number | null])[] = [
  ["node --test, TAP", "1..2\n# tests 12\n# suites 0\n# pass 11\n# fail 1\n", 12],
  ["node --test, spec", "ℹ tests 3\nℹ suites 0\nℹ pass 3\n", 3],
  [
    "vitest",
    " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 11 passed (12)\n   Start at  10:00",
    12,
  ],
  ["vitest with skipped ones", "      Tests  9 passed | 3 skipped (12)\n", 12],
  ["jest", "Tests:       1 failed, 2 skipped, 9 passed, 12 total\nSnapshots:   0 total\n", 12],
  ["mocha", "\n  11 passing (2s)\n  1 pending\n  1 failing\n", 12],
  ["pytest", "==== 1 failed, 11 passed, 2 skipped, 1 warning in 0.12s ====\n", 12],
  ["pytest, quiet", "12 passed in 0.12s\n", 12],
  [
    "cargo, several crates",
    "test result: ok. 11 passed; 0 failed; 0 ignored\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n",
    12,
  ],
  ["RSpec", "Finished in 0.1 seconds\n12 examples, 1 failure\n", 12],
  ["PHPUnit, green", "OK (12 tests, 20 assertions)\n", 12],
  ["PHPUnit, red", "FAILURES!\nTests: 12, Assertions: 20, Failures: 1.\n", 12],
  [
    "Maven",
    "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s\n[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0\n",
    12,
  ],
  ["dotnet", "Test Run Successful.\nTotal tests: 12\n     Passed: 12\n", 12],
  ["colours", "\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m12 passed\u001b[39m\u001b[22m (12)\n", 12],
  ["nothing known", "all is well\n", null],
  ["no output", "", null],
  ["prose about tests", "I ran 12 tests and all passed.\n", null],
  ["a number of its own", "80.5\n", null],
];

describe("B7 the number of tests that ran", () => {
  test.each(KNOWN)("%s", (_, output, count) => {
    expect(countTests(output)).toBe(count);
  });

  test("a long output takes no long time", () => {
    const spent = cpuMs(() => {
      countTests("Tests: ".repeat(200_000));
      countTests("1 passed, ".repeat(200_000));
      countTests(`${" ".repeat(200_000)}Tests`);
    });
    expect(spent).toBeLessThan(1_000);
  });
});
