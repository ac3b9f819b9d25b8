/** The table of tools as a whole: what every row keeps to. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { MANIFESTS } from "../../../src/core/backlog/prd/detect.ts";
import { ALL_ROLES, isToolFolder, rolesOf } from "../../../src/core/toolchain/files.ts";
import { isPackageManager, TEST_OUTPUTS, TOOLS, toolOf } from "../../../src/core/toolchain/table.ts";
import { readTestOutput } from "../../../src/core/toolchain/test-output.ts";
import { cpuMs } from "../../support/cpu-time.ts";

const CHECKS = ["protection/", "trace/"].map(
  (name) => new URL(`../../../src/checks/${name}`, import.meta.url),
);
const isRole = (name: string): boolean => [...ALL_ROLES].some((role) => role === name);

describe("the table of tools", () => {
  test("a program leads to one row", () => {
    const programs = TOOLS.flatMap((tool) => tool.programs);
    expect(programs.filter((name, i) => programs.indexOf(name) !== i)).toEqual([]);
  });

  test.each<readonly [string, string, readonly string[]]>([
    ["vitest", "vitest", []],
    ["cargo", "cargo", ["test"]],
    ["cargo", "cargo", ["+nightly", "--quiet", "t"]],
    ["nextest", "cargo", ["nextest", "run"]],
    ["go", "go", ["-C", "api", "test"]],
    ["bun", "bun", ["test"]],
    ["node", "node --test", []],
  ])("%s is found by %s %j, and runs tests", (name, program, words) => {
    expect(toolOf(program, words)).toMatchObject({ name, reads: {}, tests: { output: {} } });
  });

  test("the first word tells a run of tests from another command", () => {
    expect(toolOf("cargo", ["build"])?.reads?.roles).toEqual(["config:rust"]);
    expect(toolOf("go", ["-C", "api", "vet"])?.reads?.roles).toEqual(["config:go"]);
    expect(toolOf("nothing", [])).toBeUndefined();
  });

  test("the manifests that a proposed check asks for are read", () => {
    const asked = TOOLS.flatMap(({ commands = [] }) =>
      commands.flatMap(({ proposed }) => Object.keys(proposed?.says ?? {})),
    );
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((name) => !MANIFESTS.some((known) => known === name))).toEqual([]);
  });

  test("package managers are known by their locks", () => {
    expect(["npm", "pnpm", "yarn", "yarnpkg", "bun"].every(isPackageManager)).toBe(true);
    expect(["npx", "node", "cargo", "turbo"].some(isPackageManager)).toBe(false);
  });

  test("every pattern of an output is global and reads lines", () => {
    for (const [name, output] of TEST_OUTPUTS) {
      const { summary, failures, around, broken, passes } = output;
      for (const pattern of [summary, ...failures, around, broken, passes]) {
        if (pattern !== undefined) expect(pattern.flags, `${name}: ${pattern.source}`).toMatch(/^gi?m$/);
      }
      for (const pattern of failures)
        expect(`${pattern.source}${around?.source}`, name).toMatch(/\(\?<(?:name|file)>/);
    }
  });

  test.each([
    "\n",
    " \n",
    "\t\n",
    "x\n",
    " FAIL  a\n",
    "____ a ____\n",
    "  1) a\n",
    "--- FAIL: A (0s)\n",
    "FAIL\ta\n",
    "not ok 1 - a\n  ---\n",
    "1 passed, ",
    "error: a\n",
    "# Unhandled error\n",
    "thread 'a' panicked at ",
  ])("%j, many times, takes no runner's patterns long", (piece) => {
    const text = piece.repeat(Math.ceil(100_000 / piece.length));
    for (const [name, output] of TEST_OUTPUTS) {
      expect(
        cpuMs(() => void readTestOutput(output, text)),
        name,
      ).toBeLessThan(500);
    }
  });
});

describe("files of the tools", () => {
  test("every role that a tool asks for has files, and no other role is spelt anywhere", () => {
    const asked = TOOLS.flatMap(({ reads }) => reads?.roles ?? []);
    expect(asked.filter((role) => !ALL_ROLES.has(role))).toEqual([]);
    const spelt = CHECKS.flatMap((folder) =>
      readdirSync(folder).flatMap((file) => [
        ...readFileSync(new URL(file, folder), "utf8").matchAll(/"((?:tests|config):[a-z-]+)"/g),
      ]),
    );
    expect(spelt.length).toBeGreaterThan(5);
    expect(spelt.map(([, role = ""]) => role).filter((role) => !isRole(role))).toEqual([]);
  });

  test.each<readonly [string, readonly string[]]>([
    ["src/cart.test.ts", ["tests:js"]],
    ["vitest.config.ts", ["config:js-test"]],
    ["web/.mocharc.yml", ["config:js-test"]],
    ["babel.config.js", ["config:js-test", "config:babel"]],
    ["tests/helper.py", ["tests:any"]],
    ["conftest.py", ["tests:python", "config:python"]],
    [".cargo/config.toml", ["config:rust"]],
    ["NuGet.Config", ["config:dotnet"]],
    ["src/cart.ts", []],
    ["README.md", []],
  ])("%s is %j", (path, roles) => {
    expect(new Set(rolesOf(path))).toEqual(new Set(roles));
  });

  test("a folder that a tool fills is told by its name, or by the files beside it", () => {
    expect(isToolFolder("node_modules", { files: [] })).toBe(true);
    expect(isToolFolder("shop.egg-info", { files: [] })).toBe(true);
    expect(isToolFolder("target", { files: ["Cargo.toml"] })).toBe(true);
    expect(isToolFolder("target", { files: ["pom.xml"] })).toBe(true);
    expect(isToolFolder("target", { files: ["notes.md"] })).toBe(false);
    expect(isToolFolder("build", { files: [] })).toBe(false);
  });
});
