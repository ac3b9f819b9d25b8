import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ProjectFacts, splitUntil } from "../../../src/core/spec/phrases.ts";

const NODE: ProjectFacts = {
  packageManager: "npm",
  scripts: ["test", "lint", "build", "cov", "check", "test:e2e"],
  files: ["package.json", "tsconfig.json"],
};
const NOTHING: ProjectFacts = { packageManager: null, scripts: [], files: [] };
const withFiles = (...files: string[]): ProjectFacts => ({ ...NOTHING, files });

const commandsOf = (phrase: string, facts = NODE) =>
  splitUntil([phrase, "do it"], facts).criteria.map(({ check }) => {
    if (check.kind === "command") return check.command;
    return check.kind === "measure" ? `${check.command} ${check.comparison} ${check.target}` : check.kind;
  });

describe("B6 known phrases become commands", () => {
  test.each([
    ["npm test passes", "npm test"],
    ["tests pass", "npm test"],
    ["all tests pass", "npm test"],
    ["all tests are green", "npm test"],
    ["All the tests must pass.", "npm test"],
    ["the test suite is green", "npm test"],
    ["no failing tests", "npm test"],
    ["no lint errors", "npm run lint"],
    ["lint is clean", "npm run lint"],
    ["tsc is clean", "npx --no-install tsc --noEmit"],
    ["types check", "npx --no-install tsc --noEmit"],
    ["no type errors", "npx --no-install tsc --noEmit"],
    ["tsc --noEmit -p tsconfig.json passes", "npx --no-install tsc --noEmit -p tsconfig.json"],
    ["eslint is clean", "npx --no-install eslint ."],
    ["it builds", "npm run build"],
    ["the build passes", "npm run build"],
    ["e2e tests pass", "npm run test:e2e"],
    ["check passes", "npm run check"],
    ["npm run verify:all passes", "npm run verify:all"],
    ["npm test -- --run src/a.test.ts passes", "npm test -- --run src/a.test.ts"],
    ["pnpm test passes", "pnpm test"],
    ["yarn test passes", "yarn test"],
    ["bun test passes", "bun test"],
    ["pytest passes", "pytest"],
    ["pytest -k login tests/api succeeds", "pytest -k login tests/api"],
    ["cargo test passes", "cargo test"],
    ["go test ./... passes", "go test ./..."],
    ["make check succeeds", "make check"],
    ["./gradlew test is green", "./gradlew test"],
    ["`a && b | c > d` passes", "a && b | c > d"],
    ["`any command` exits 0", "any command"],
    ["`any command` exits with code 0", "any command"],
    ["`count` <= 3", "count <= 3"],
    ["coverage >= 80", "npm run -s cov >= 80"],
    ["coverage is at least 80%", "npm run -s cov >= 80"],
    ["test coverage above 79.5 percent", "npm run -s cov > 79.5"],
  ])("%s → %s", (phrase, command) => {
    expect(commandsOf(phrase)).toEqual([command]);
  });

  test("parts joined by and or commas are all criteria, each once, named as they were typed", () => {
    const { criteria } = splitUntil(
      ["tests pass, no lint errors, and `a and b, c` passes and tests pass", "x"],
      NODE,
    );
    expect(criteria).toEqual([
      { name: "tests pass", check: { kind: "command", command: "npm test" }, source: "phrase" },
      { name: "no lint errors", check: { kind: "command", command: "npm run lint" }, source: "phrase" },
      { name: "a and b, c passes", check: { kind: "command", command: "a and b, c" }, source: "phrase" },
    ]);
  });

  test("long commands have short names, and no two the same", () => {
    const long = "x".repeat(80);
    const { criteria } = splitUntil([`\`${long}1\` passes and \`${long}2\` passes`, "x"], NODE);
    const names = criteria.map(({ name }) => name);
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(60);
  });

  test.each<[string, ProjectFacts, string[]]>([
    ["tests pass", withFiles("Cargo.toml"), ["cargo test"]],
    ["tests pass", withFiles("go.mod"), ["go test ./..."]],
    ["tests pass", withFiles("pyproject.toml", "tests"), ["pytest"]],
    ["tests pass", withFiles("pytest.ini", "pyproject.toml", "tests"), ["pytest"]],
    ["tests pass", withFiles("pyproject.toml"), []],
    ["tests pass", withFiles("build.gradle.kts", "gradlew"), ["./gradlew test"]],
    ["tests pass", withFiles("pom.xml"), ["mvn -q test"]],
    ["tests pass", withFiles("Makefile"), []],
    ["tests pass", NOTHING, []],
    // a project of two tools has two suites
    ["tests pass", { ...NODE, files: ["Cargo.toml"] }, ["npm test", "cargo test"]],
    ["tests pass", { ...NODE, packageManager: "pnpm" }, ["pnpm test"]],
    ["tests pass", { ...NODE, packageManager: "bun" }, ["bun run test"]],
    ["tests pass", { ...NODE, packageManager: null }, ["npm test"]],
    ["tsc is clean", { ...NODE, packageManager: "pnpm" }, ["pnpm exec tsc --noEmit"]],
    ["it builds", withFiles("Cargo.toml"), ["cargo build"]],
    ["it builds", NOTHING, []],
    ["no lint errors", withFiles("eslint.config.js"), ["npx --no-install eslint ."]],
    ["no lint errors", { ...NODE, files: ["eslint.config.js"] }, ["npm run lint"]],
    ["no lint errors", withFiles("biome.json"), ["npx --no-install biome lint"]],
    ["coverage >= 80", { ...NODE, packageManager: "yarn" }, ["yarn run -s cov >= 80"]],
    ["coverage >= 80", { ...NODE, packageManager: "yarn", files: [".yarnrc.yml"] }, ["yarn run cov >= 80"]],
    ["coverage >= 80", { ...NODE, scripts: ["test"] }, []],
    ["a;b passes", { ...NODE, scripts: ["a;b"] }, []],
    ["unit tests pass", NODE, []],
  ])("%s in %j is %j", (phrase, facts, commands) => {
    expect(commandsOf(phrase, facts)).toEqual(commands);
  });
});

describe("B6 what is not known is not guessed", () => {
  test.each([
    "everything is great",
    "it feels right",
    "npm test finally passes",
    "npm publish passes",
    "npx evil passes",
    "cargo publish succeeds",
    "make deploy prod passes",
    "no lint warnings",
    "tests pass on CI",
    "tests pass twice",
    "npm test fails",
    "tests do not pass",
    "npm test",
    "",
    "`` passes",
    "`x >=80` passes",
    "`x",
  ])("%j", (phrase) => {
    expect(splitUntil([`${phrase} `, "x y"], NODE).criteria).toEqual([]);
  });

  test("one part that is not known leaves no criteria, and is named", () => {
    expect(splitUntil(["tests pass and the UI looks nice", "fix", "it"], NODE)).toEqual({
      criteria: [],
      phrase: "tests pass and the UI looks nice",
      prompt: "fix it",
      unknown: "the UI looks nice",
    });
  });

  test.each([
    ";",
    "|",
    "&",
    "$(x)",
    "`x`",
    ">f",
    "<f",
    "*",
    "~",
    "'x'",
    '"x"',
    "\\x",
    "$X",
    "(x)",
    "{a,b}",
    "#",
    "!",
    "\n",
  ])("a shell would see more than words in %j", (letters) => {
    for (const phrase of [
      `npm test ${letters} passes`,
      `npm test${letters} passes`,
      `make a${letters} succeeds`,
      `npm test -x${letters} passes`,
      `npm test ./a${letters}b passes`,
    ]) {
      for (const command of commandsOf(phrase))
        expect(["npm test", "make a", "npm test -x", "npm test ./a b"]).toContain(command);
    }
  });

  test("whatever the phrase, nothing but plain words gets into a command without backquotes", () => {
    const word = fc.oneof(
      fc.constantFrom(
        "npm",
        "test",
        "run",
        "passes",
        "cargo",
        "make",
        "and",
        ",",
        "pytest",
        "-k",
        "--",
        "is",
        "green",
      ),
      fc.string({ maxLength: 6 }).map((text) => text.replaceAll("`", "")),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (words) => {
        const found = [splitUntil([words.join(" "), "x"], NODE), splitUntil(words, NODE)];
        for (const { check } of found.flatMap(({ criteria }) => criteria)) {
          if (check.kind === "command") expect(check.command).toMatch(/^[A-Za-z0-9_@%+=:,./ -]+$/);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe("B6 phrase and prompt are told apart", () => {
  test.each<[string[], string | null, string, number, string | null]>([
    [["npm test passes", "fix", "the", "flaky", "tests"], "npm test passes", "fix the flaky tests", 1, null],
    ["npm test passes fix the flaky tests".split(" "), "npm test passes", "fix the flaky tests", 1, null],
    [["npm test passes fix the flaky tests"], "npm test passes", "fix the flaky tests", 1, null],
    [["npm test passes"], "npm test passes", "", 1, null],
    ["tests pass and lint is clean fix all".split(" "), "tests pass and lint is clean", "fix all", 2, null],
    ["tests pass and fix the rest".split(" "), "tests pass", "fix the rest", 1, null],
    ["tests pass, fix the rest".split(" "), "tests pass", "fix the rest", 1, null],
    [["npm", "test", "passes", "fix the flaky tests"], "npm test passes", "fix the flaky tests", 1, null],
    [["tests", "are", "splendid", "fix it all"], "tests are splendid", "fix it all", 0, "tests are splendid"],
    [["it feels right", "fix", "it"], "it feels right", "fix it", 0, "it feels right"],
    ["tests pass in CI fix them".split(" "), "tests pass in CI fix them", "", 0, "tests pass in CI fix them"],
    [["raise coverage of src/api"], null, "raise coverage of src/api", 0, null],
    ["fix the tests".split(" "), null, "fix the tests", 0, null],
    [["first line\nsecond line"], null, "first line\nsecond line", 0, null],
    [[], null, "", 0, null],
    [["", " "], null, "", 0, null],
  ])("%j", (words, phrase, prompt, count, unknown) => {
    const split = splitUntil(words, NODE);
    expect(split).toMatchObject({ phrase, prompt, unknown });
    expect(split.criteria).toHaveLength(count);
  });
});
