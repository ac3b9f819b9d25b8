/** The groups of tests: each is run by a script, and `.ci/run` calls each script, so that no test is lost. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { compileGlobs } from "../src/core/glob.ts";
import config from "../vitest.config.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (name: string) => readFileSync(`${ROOT}${name}`, "utf8");

interface Group {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}
const GROUPS = (config.test?.projects ?? []).map((project) => {
  const { name, include = [], exclude = [] } = (project as { test: Partial<Group> }).test;
  return { name: String(name), include, exclude };
});

const FILES = readdirSync(`${ROOT}test`, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `test/${name}`)
  .sort();

function filesOf({ include, exclude }: Omit<Group, "name">): readonly string[] {
  const [isIn, isOut] = [compileGlobs(include), compileGlobs(exclude)];
  return FILES.filter((file) => isIn(file) && !isOut(file));
}

test("every test file belongs to exactly one group", () => {
  expect(GROUPS.flatMap(filesOf).sort()).toEqual(FILES);
});

test("every group has a script, and CI calls it", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const ci = read(".ci/run");
  for (const { name } of GROUPS) {
    const script = Object.entries(scripts).find(
      ([key, command]) => key !== "test:related" && command.includes(`--project ${name}`) && ci.includes(key),
    );
    expect(script, `a script that .ci/run calls, with --project ${name}`).toBeDefined();
  }
});

/** The segments that string-width makes are slow to collect in a process with a large heap. */
const NEEDS_A_PROCESS = /^vi\.mock\(|^ +expect\(year\.heapBytes\)|^import stringWidth /m;

test("files that replace modules, measure memory or need a small heap are in the group that gives each a process of its own", () => {
  const mocking = GROUPS.find(({ name }) => name === "mocking")?.include ?? [];
  const quick = GROUPS.find(({ name }) => name === "quick") ?? { include: [], exclude: [] };
  const replacing = filesOf(quick).filter((file) => NEEDS_A_PROCESS.test(read(file)));
  expect(replacing).toEqual([]);
  expect(mocking.filter((file) => !NEEDS_A_PROCESS.test(read(file)))).toEqual([]);
});

test("properties that npm test tries less often are tried in full by a script that CI calls", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const command = scripts["test:properties"] ?? "";
  const places = command.split(" ").filter((word) => word.startsWith("test/"));
  const reduced = FILES.filter((file) => /support\/runs\.ts"/.test(read(file)));
  expect(command).toContain("LOOP_TEST_RUNS=full");
  expect(reduced.filter((file) => !places.some((place) => file.startsWith(place)))).toEqual([]);
  expect(read(".ci/run")).toContain("npm run test:properties");
});
