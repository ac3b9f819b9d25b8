/** Test runners of JavaScript and TypeScript. */
import type { FileRole, Tool } from "./tool.ts";

const TESTS: readonly FileRole[] = ["tests:js", "tests:any", "config:js-test", "config:ts", "config:babel"];
const RUN = { words: "tests", roles: [...TESTS, "config:packages"] } as const;
const CODE = String.raw`(?:\.(?:[cm]?[jt]s|json))?`;

const config = (names: string): readonly (readonly [FileRole, RegExp])[] => [
  ["config:js-test", new RegExp(`^(?:${names})${CODE}$`)],
];

/** A runner whose output nothing reads. */
function unreadRunner(name: string, phrase: string, configs: string): Tool {
  return { name, programs: [name], reads: RUN, files: config(configs), phrases: [phrase], through: "node" };
}

/** A module that a canary imports. Written so that nobody takes it for an import of this file. */
const named = (module: string): string => JSON.stringify(module);

export const JAVASCRIPT_TESTS: readonly Tool[] = [
  {
    name: "vitest",
    programs: ["vitest"],
    reads: RUN,
    files: config(String.raw`vitest\.(?:config|workspace|projects|setup)|vite\.config`),
    phrases: ["vitest run", "vitest"],
    through: "node",
    tests: {
      idle: ["-h", "-v", "-w", "list", "watch", "dev", "bench", "init", "--mergeReports"],
      output: {
        summary: /^[ \t]*(?:Tests|Errors) {2,}(?:no tests|\d+ .*)$|^No test files found/gm,
        failures: [
          /^ ?FAIL {2,}(?:\|[^|\n]+\| +)?(?<name>\S.*?)(?: \[ .* \])?$/gm,
          /^⎯+ (?<name>Unhandled (?:Error|Rejection|Exception)s?) ⎯+$/gm,
          /^ +[×✗] (?<name>.+?)(?: \d+ms)?(?:\n +→ (?<message>.*))?$/gm,
        ],
        broken: /^[ \t]*Test Files {2,}\d+ failed|^No test files found/gm,
      },
      report: {
        format: "junit",
        words: ["--reporter=default", "--reporter=junit", "--outputFile.junit={file}"],
        place: "end",
      },
      canary: {
        file: "loop-canary.test.mjs",
        text: `import { expect, test } from ${named("vitest")};\ntest("{name}", () => {\n  expect(1).toBe(2);\n});\n`,
        reported: "{name}",
      },
    },
  },
  {
    name: "jest",
    programs: ["jest"],
    reads: RUN,
    files: config(String.raw`jest\.(?:config|setup|preset)`),
    phrases: ["jest"],
    through: "node",
    tests: {
      idle: ["-h", "-v", "--showConfig", "--clearCache", "--init", "init"],
      output: {
        summary: /^Tests: +.*\d+ total$|^No tests found, exiting with code/gm,
        failures: [/^ {2}● (?!Console$)(?:Test suite failed to run|(?<name>.+))$/gm],
        around: /^FAIL (?:\S+ )??(?<file>[^\s(]+\.\w+)(?: \(.*\))?$/gm,
        broken: /^Test Suites: +\d+ failed|^No tests found, exiting with code/gm,
      },
      report: { format: "json", words: ["--json", "--outputFile={file}"], place: "end" },
      canary: {
        file: "loop-canary.test.js",
        text: 'test("{name}", () => {\n  expect(1).toBe(2);\n});\n',
        reported: "{name}",
      },
    },
  },
  {
    name: "node",
    programs: ["node --test"],
    reads: RUN,
    phrases: ["node --test"],
    tests: {
      idle: ["-h", "-v", "--check"],
      output: {
        summary: /^(?:ℹ|#) (?:tests|pass|fail|cancelled) \d+$/gm,
        failures: [
          /^test at (?<file>.+?):\d+:\d+\n[ \t]*✖ (?<name>.+?)(?: \([\d.]+ms\))?$/gm,
          /^[ \t]*not ok \d+ - (?<name>(?:(?! # (?:TODO|SKIP)\b).)+)\n[ \t]+---\n(?:[ \t]+(?:duration_ms|type): .*\n){0,2}[ \t]+location: '(?<file>.+?):\d+:\d+'\n[ \t]+failureType: '(?!subtestsFailed).*\n(?:[ \t]+(?:exitCode|signal): .*\n){0,2}[ \t]+error: (?:\|-?\n[ \t]+)?(?<message>.*)$/gm,
          /^[ \t]*✖ (?<name>.+?)(?: \([\d.]+ms\))?\n[ \t]+(?=\S)(?!✖)/gm,
        ],
      },
      report: {
        format: "junit",
        words: [
          "--test-reporter=spec",
          "--test-reporter-destination=stdout",
          "--test-reporter=junit",
          "--test-reporter-destination={file}",
        ],
        place: "start",
      },
      canary: {
        file: "loop-canary.test.mjs",
        text: `import assert from ${named("node:assert/strict")};\nimport test from ${named("node:test")};\ntest("{name}", () => {\n  assert.equal(1, 2);\n});\n`,
        reported: "{name}",
      },
    },
  },
  {
    name: "mocha",
    programs: ["mocha", "_mocha"],
    reads: RUN,
    files: [["config:js-test", new RegExp(String.raw`^\.mocharc${CODE}$|^\.mocharc\.ya?ml$|^mocha\.opts$`)]],
    phrases: ["mocha"],
    through: "node",
    tests: {
      idle: ["-h", "-V", "-w", "init", "--list-interfaces", "--list-reporters"],
      output: {
        // The figures are above the failures, and `tail` may have cut them off.
        summary:
          /^[ \t]*\d+ (?:passing \(.*|failing)$|^[ \t]+at Context\.<anonymous> \(.*$|^Error: No test files found.*$/gm,
        failures: [
          /^[ \t]{1,8}\d+\) (?<name>\S.*(?:\n[ \t]+\S.*){0,9}?):$/gm,
          /^ ?(?:✖ ERROR:|Exception during run:) (?<name>\S+\.\w+):\d+$/gm,
          /^ ?(?:✖ ERROR:|Exception during run:) (?<message>.+)\nRequire stack:\n- (?<name>\S+)$/gm,
        ],
        broken: /^ ?(?:✖ ERROR:|Exception during run:)|^Error: No test files found/gm,
      },
      report: {
        format: "json",
        words: ["--reporter", "json", "--reporter-option", "output={file}"],
        place: "end",
      },
      canary: {
        file: "test/loop-canary.cjs",
        text: `const assert = require(${named("node:assert")});\nit("{name}", () => {\n  assert.strictEqual(1, 2);\n});\n`,
        reported: "{name}",
      },
    },
  },
  {
    name: "bun",
    programs: ["bun test"],
    reads: RUN,
    tests: {
      output: {
        summary: /^ ?\d+ (?:pass|fail)$|^Ran \d+ tests? across \d+ files?\..*$/gm,
        failures: [
          /^\(fail\) (?<name>.+?)(?: \[[\d.]+m?s\])?$/gm,
          /^# Unhandled error\b.*\n(?:(?!error:).*\n){0,12}?(?<message>error: .*)$/gm,
        ],
        around: /^(?<file>\S+\.\w+):$|^(?<message>(?:error|\w*Error): .*)$/gm,
        broken: /^# Unhandled error\b/gm,
        countsBroken: true,
      },
    },
  },
  unreadRunner("playwright", "playwright test", String.raw`playwright(?:-ct)?\.config`),
  unreadRunner("cypress", "cypress run", String.raw`cypress(?:\.config)?`),
  unreadRunner("ava", "ava", String.raw`ava\.config`),
  {
    name: "another runner of JavaScript",
    programs:
      "tap tape jasmine karma qunit uvu wtr web-test-runner testcafe nightwatch wdio stryker cucumber-js codeceptjs tsd"
        .split(" ")
        .concat("react-scripts test", "ng test", "vue-cli-service test:unit"),
    reads: RUN,
    files: [
      ...config(
        String.raw`karma\.conf|wdio\.conf|nightwatch\.conf|web-test-runner\.config|jasmine|stryker\.conf|codecept\.conf|setupTests|test-setup|\.nycrc|\.c8rc|\.taprc|\.swcrc`,
      ),
      ["config:js-test", /^\.(?:nycrc|taprc)\.ya?ml$|^babel\.config/],
    ],
  },
  {
    name: "coverage of JavaScript",
    programs: ["c8", "nyc", "istanbul"],
    reads: { words: "rest", roles: TESTS },
  },
  {
    name: "deno",
    programs: ["deno"],
    reads: { words: "tests", roles: ["tests:js", "tests:any", "config:deno", "config:ts"] },
    files: [["config:deno", /^deno\.(?:jsonc?|lock)$|^import_map\.json$/]],
    phrases: ["deno (?:test|lint|check|fmt --check)"],
    commands: [{ topic: "test", command: "deno test", signs: [/^deno\.jsonc?$/] }],
  },
];
