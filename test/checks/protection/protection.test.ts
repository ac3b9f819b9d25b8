import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { renderDiff } from "../../../src/checks/protection/line-diff.ts";
import { createProtection } from "../../../src/checks/protection/protection.ts";
import type { Criterion, ProtectedChange } from "../../../src/core/goal/goal.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import type { ProtectionRules } from "../../../src/ports/checks.ts";

const LOOP = "0123abcd" as LoopId;
const PATH = process.env.PATH;

let dir: string;
beforeEach(() => {
  dir = join(realpathSync(mkdtempSync(join(tmpdir(), "loop-protection-"))), `it's a "repo"`);
  mkdirSync(dir);
});
afterEach(() => {
  process.env.PATH = PATH;
  rmSync(dirname(dir), { recursive: true, force: true });
});

type Files = Readonly<Record<string, string | object | null>>;

/** Text, JSON, or null to delete. A text that starts with #! is a program, one with `-> ` a link. */
function write(files: Files, root = dir): void {
  for (const [path, content] of Object.entries(files)) {
    const place = join(root, path);
    mkdirSync(dirname(place), { recursive: true });
    if (content === null || (typeof content === "string" && /^(?:-> |#!)/.test(content))) {
      rmSync(place, { recursive: true, force: true });
    }
    if (content === null) continue;
    const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
    if (text.startsWith("-> ")) symlinkSync(text.slice(3), place);
    else writeFileSync(place, text);
    if (text.startsWith("#!")) chmodSync(place, 0o755);
  }
}

const criterion = (command: string, name = command): Criterion => ({
  name,
  check: { kind: "command", command },
  source: "flag",
});

function rulesFor(commands: readonly string[], more: Partial<ProtectionRules> = {}): ProtectionRules {
  return {
    criteria: commands.map((each) => criterion(each)),
    mustNot: [],
    protect: [],
    allowChanges: [],
    ...more,
  };
}

async function changesOf(
  rules: ProtectionRules,
  work: Files | (() => void),
  root = dir,
): Promise<readonly ProtectedChange[]> {
  const protection = createProtection(root);
  const { digest } = await protection.record(LOOP, rules, await protection.stamps(rules));
  expect(await protection.compare(LOOP, digest, rules)).toMatchObject({ kind: "known", changes: [] });
  if (typeof work === "function") work();
  else write(work, root);
  const state = await protection.compare(LOOP, digest, rules);
  // another process finds the same
  expect(await createProtection(root).compare(LOOP, digest, rules)).toEqual(state);
  return state.kind === "known" ? state.changes : expect.unreachable(state.reason);
}

const shown = (changes: readonly ProtectedChange[]): string[] =>
  changes.map(({ change, path }) => `${change} ${path}`);

async function changesAfter(
  command: string,
  before: Files,
  work: Files,
  more: Partial<ProtectionRules> = {},
): Promise<string[]> {
  write(before);
  return shown(await changesOf(rulesFor([command], more), work));
}

const NPM: Files = {
  "package.json": {
    name: "a",
    version: "1.0.0",
    scripts: { test: "vitest run", lint: "eslint .", unused: "echo", all: "npm run lint && npm test" },
  },
  "package-lock.json": "{}",
  "README.md": "# a",
  "src/a.ts": "export const a = 1;",
  "src/a.test.ts": "test",
  "test/fixtures/input.json": "1",
  "vitest.config.ts": 'export default { test: { setupFiles: ["./support/start.ts"] } };',
  "support/start.ts": "",
  "support/other.ts": "",
  "eslint.config.js": "",
  "node_modules/vitest/package.json": { name: "vitest" },
  "node_modules/vitest/vitest.mjs": "#!/usr/bin/env node",
  "node_modules/vitest/dist/run.js": "run",
  "node_modules/.bin/vitest": "-> ../vitest/vitest.mjs",
  ".gitignore": "node_modules\n",
};
const packageWith = (change: object): object => ({ ...(NPM["package.json"] as object), ...change });
const scripts = (more: object): object => ({
  ...(NPM["package.json"] as { scripts: object }).scripts,
  ...more,
});

describe("B7 what `npm test` consists of", () => {
  test.each<[what: string, work: Files, changes: string[]]>([
    [
      "a script",
      { "package.json": packageWith({ scripts: scripts({ test: "true" }) }) },
      ["changed package.json#scripts.test"],
    ],
    [
      "a script before it",
      { "package.json": packageWith({ scripts: scripts({ pretest: "rm x" }) }) },
      ["added package.json#scripts.pretest"],
    ],
    [
      "a script after it",
      { "package.json": packageWith({ scripts: scripts({ posttest: "x" }) }) },
      ["added package.json#scripts.posttest"],
    ],
    ["a test that is gone", { "src/a.test.ts": null }, ["deleted src/a.test.ts"]],
    ["a test", { "src/a.test.ts": "" }, ["changed src/a.test.ts"]],
    ["a new test", { "src/deep/b.spec.mts": "" }, ["added src/deep/b.spec.mts"]],
    ["a fixture", { "test/fixtures/input.json": "2" }, ["changed test/fixtures/input.json"]],
    ["a snapshot", { "src/__snapshots__/a.test.ts.snap": "" }, ["added src/__snapshots__/a.test.ts.snap"]],
    ["the configuration", { "vitest.config.ts": "" }, ["changed vitest.config.ts"]],
    ["what it names", { "support/start.ts": "x" }, ["changed support/start.ts"]],
    ["another configuration", { "vite.config.mjs": "" }, ["added vite.config.mjs"]],
    [
      "one in package.json",
      { "package.json": packageWith({ jest: { testMatch: [] } }) },
      ["added package.json#jest"],
    ],
    [
      "how modules are read",
      { "package.json": packageWith({ type: "module" }) },
      ["added package.json#type"],
    ],
    ["the shell of scripts", { ".npmrc": "script-shell=./x" }, ["added .npmrc"]],
    ["an environment", { ".env.test": "CI=1" }, ["added .env.test"]],
    ["the lock file", { "package-lock.json": "{ }" }, ["changed package-lock.json"]],
    ["a program", { "node_modules/.bin/vitest": "#!/bin/sh\n" }, ["changed node_modules/.bin/vitest"]],
    [
      "where it leads",
      { "node_modules/.bin/vitest": "-> ../other.mjs" },
      ["changed node_modules/.bin/vitest"],
    ],
    [
      "what it starts",
      { "node_modules/vitest/vitest.mjs": "#!/usr/bin/env node\n//" },
      ["changed node_modules/.bin/vitest", "changed node_modules/vitest"],
    ],
    ["what that is made of", { "node_modules/vitest/dist/run.js": "pass" }, ["changed node_modules/vitest"]],
    [
      "a shell before the real one",
      { "node_modules/.bin/sh": "#!/bin/sh\n" },
      ["added node_modules/.bin/sh"],
    ],
    [
      "a tool before the real one",
      { "node_modules/.bin/cat": "#!/bin/sh\n" },
      ["added node_modules/.bin/cat"],
    ],
    [
      "a node before the real one",
      { "node_modules/.bin/node": "#!/bin/sh\n" },
      ["added node_modules/.bin/node"],
    ],
  ])("%s", async (_, work, changes) => {
    expect(await changesAfter("npm test", NPM, work)).toEqual(changes);
  });

  test.each<[what: string, work: Files]>([
    ["the product", { "src/a.ts": "export const a = 2;", "src/new.ts": "", "src/goal-spec.ts": "" }],
    [
      "a version or a dependency",
      { "package.json": packageWith({ version: "2.0.0", dependencies: { x: "1" } }) },
    ],
    [
      "a script that it does not run",
      { "package.json": packageWith({ scripts: scripts({ lint: "true", new: "true" }) }) },
    ],
    ["the same with other spaces", { "package.json": JSON.stringify(NPM["package.json"]) }],
    ["a README", { "README.md": "# b", "docs/a.md": "" }],
    ["the configuration of a linter", { "eslint.config.js": "x" }],
    ["a program that takes no other's place", { "node_modules/.bin/some-tool-of-its-own": "#!/bin/sh\n" }],
    ["another package", { "node_modules/other/index.js": "" }],
    ["a file that nothing names", { "support/other.ts": "x" }],
    ["an example of an environment", { ".env.example": "CI=1" }],
    ["the engine's own files", { ".loop/state.json": "{}", ".loop/test/a.test.ts": "" }],
    ["what tools write", { "coverage/a.test.ts": "", "dist/a.test.js": "", "node_modules/x/test/a.js": "" }],
  ])("is not %s", async (_, work) => {
    expect(await changesAfter("npm test", NPM, work)).toEqual([]);
  });

  test("a package.json that is none changes all that it held", async () => {
    const changes = await changesAfter("npm test", NPM, { "package.json": "{" });
    expect(changes).toContain("changed package.json#scripts.test");
  });

  test("all changes of one turn, in order, with the criteria that consist of them", async () => {
    write(NPM);
    const changes = await changesOf(rulesFor(["npm test", "npm run lint"]), {
      "eslint.config.js": "x",
      "package-lock.json": "x",
      "src/a.test.ts": null,
    });
    expect(changes.map(({ path, criteria }) => [path, criteria])).toEqual([
      ["eslint.config.js", ["npm run lint"]],
      ["package-lock.json", ["npm test", "npm run lint"]],
      ["src/a.test.ts", ["npm test"]],
    ]);
    expect(changes.map(({ hash }) => hash)).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.stringMatching(/^[0-9a-f]{64}$/),
      null,
    ]);
  });

  test("scripts are followed through scripts, also in a circle", async () => {
    write(NPM);
    const circle = packageWith({ scripts: scripts({ lint: "npm run all" }) });
    write({ "package.json": circle });
    const work = {
      "package.json": packageWith({ scripts: scripts({ lint: "true" }) }),
      "src/a.test.ts": "x",
    };
    expect(await changesAfter("npm run all", {}, work)).toEqual([
      "changed package.json#scripts.lint",
      "changed src/a.test.ts",
    ]);
  });
});

describe("B7 what other commands consist of", () => {
  const vitest: Files = { ...NPM, "pnpm-lock.yaml": "", "yarn.lock": "", "bun.lock": "" };
  const python: Files = { "tests/test_a.py": "", "pkg/a.py": "", "pytest.ini": "", "pyproject.toml": "" };
  const make: Files = {
    Makefile:
      "include rules/*.mk\ninclude build.mk\nRUN = ./check.sh\ntest: prepare\n\t@$(RUN)\nlint:\n\tgolangci-lint run\nprepare:\n\tsh prepare.sh\n",
    "build.mk": "X = 1\n",
    "prepare.sh": "echo\n",
    "check.sh": "#!/bin/sh\ngrep -q yes answer.txt\n",
    "answer.txt": "no",
  };
  test.each<[command: string, before: Files, work: Files, changes: string[]]>([
    [
      "npm --prefix sub test",
      { "sub/package.json": { scripts: { test: "node --test" } } },
      { "sub/package.json": { scripts: {} } },
      ["deleted sub/package.json#scripts.test"],
    ],
    [
      "npx vitest run",
      vitest,
      { "src/a.test.ts": "x", ".npmrc": "" },
      ["added .npmrc", "changed src/a.test.ts"],
    ],
    ["npx --yes vitest@3 run", vitest, { "src/a.test.ts": "x" }, ["changed src/a.test.ts"]],
    [
      "pnpm test",
      vitest,
      { ".pnpmfile.cjs": "", "pnpm-lock.yaml": "x" },
      ["added .pnpmfile.cjs", "changed pnpm-lock.yaml"],
    ],
    ["pnpm vitest run", vitest, { "vitest.config.ts": "x" }, ["changed vitest.config.ts"]],
    [
      "pnpm run lint",
      vitest,
      { "eslint.config.js": "x", "src/a.test.ts": "x" },
      ["changed eslint.config.js"],
    ],
    [
      "yarn lint",
      vitest,
      { "eslint.config.js": "x", ".yarnrc.yml": "" },
      ["added .yarnrc.yml", "changed eslint.config.js"],
    ],
    [
      "yarn test",
      vitest,
      { ".yarn/releases/yarn.cjs": "", "yarn.lock": "x" },
      ["added .yarn/releases/yarn.cjs", "changed yarn.lock"],
    ],
    [
      "bun test",
      vitest,
      { "bunfig.toml": "", "src/a.test.ts": "x" },
      ["added bunfig.toml", "changed src/a.test.ts"],
    ],
    ["bun run lint", vitest, { "eslint.config.js": "x" }, ["changed eslint.config.js"]],
    ["node --test", vitest, { "src/a.test.ts": "x" }, ["changed src/a.test.ts"]],
    ["tsc --noEmit", vitest, { "tsconfig.json": "{}", "src/a.test.ts": "x" }, ["added tsconfig.json"]],
    [
      "npm test -- --config other.config.ts",
      { ...vitest, "other.config.ts": "" },
      { "other.config.ts": "x" },
      ["changed other.config.ts"],
    ],
    ["pytest", python, { "conftest.py": "" }, ["added conftest.py"]],
    ["pytest -q tests", python, { "pytest.ini": "x", "pkg/a.py": "x" }, ["changed pytest.ini"]],
    [
      "python -m pytest",
      python,
      { "pytest.py": "", "tests/test_a.py": "x" },
      ["added pytest.py", "changed tests/test_a.py"],
    ],
    [
      "uv run pytest",
      python,
      { "uv.lock": "", "pkg/test_b.py": "" },
      ["added pkg/test_b.py", "added uv.lock"],
    ],
    [
      "coverage run -m pytest",
      python,
      { ".coveragerc": "", "tests/data.txt": "" },
      ["added .coveragerc", "added tests/data.txt"],
    ],
    ["ruff check .", python, { "ruff.toml": "", "tests/test_a.py": "x" }, ["added ruff.toml"]],
    [
      "go test ./...",
      { "go.mod": "", "a.go": "", "a_test.go": "" },
      { "a_test.go": "x", "a.go": "x", "go.sum": "" },
      ["changed a_test.go", "added go.sum"],
    ],
    [
      "go vet ./...",
      { "go.mod": "", "a_test.go": "" },
      { "a_test.go": "x", "go.mod": "x" },
      ["changed go.mod"],
    ],
    [
      "cargo test --all",
      { "Cargo.toml": "", "Cargo.lock": "", "src/lib.rs": "", "tests/all.rs": "" },
      { "src/lib.rs": "x", "tests/all.rs": "x", ".cargo/config.toml": "" },
      ["added .cargo/config.toml", "changed tests/all.rs"],
    ],
    [
      "cargo clippy",
      { "Cargo.toml": "", "tests/all.rs": "" },
      { "tests/all.rs": "x", "clippy.toml": "" },
      ["added clippy.toml"],
    ],
    [
      "make test",
      make,
      { "check.sh": "#!/bin/sh\ntrue\n", "answer.txt": "yes", ".golangci.yml": "" },
      ["changed check.sh"],
    ],
    ["make test", make, { "build.mk": "test:\n" }, ["changed build.mk"]],
    ["make test", make, { "prepare.sh": "rm x\n" }, ["changed prepare.sh"]],
    ["make lint", make, { "prepare.sh": "echo 2\n" }, []],
    ["make test", make, { GNUmakefile: "test:\n" }, ["added GNUmakefile"]],
    ["make lint", make, { ".golangci.yml": "", "check.sh": "#!/bin/sh\n" }, ["added .golangci.yml"]],
    [
      "./check.sh",
      make,
      { "check.sh": "#!/bin/sh\ntrue\n", "answer.txt": "yes", "a.test.ts": "" },
      ["changed check.sh"],
    ],
    [
      "sh -c 'cd sub && bash ../check.sh'",
      { ...make, "sub/a": "" },
      { "check.sh": "x" },
      ["changed check.sh"],
    ],
    [
      "(cd sub; npm test); ./check.sh",
      { ...make, "sub/package.json": { scripts: { test: "node t.js" } }, "sub/t.js": "" },
      { "sub/t.js": "x", "check.sh": "x" },
      ["changed check.sh", "changed sub/t.js"],
    ],
    [
      "CI=1 timeout 60 npm test 2>&1 | grep -q passed",
      vitest,
      { "src/a.test.ts": "x", "README.md": "x" },
      ["changed src/a.test.ts"],
    ],
    [
      'test "$(npm run -s lint | wc -l)" -eq 0',
      vitest,
      { "eslint.config.js": "x" },
      ["changed eslint.config.js"],
    ],
    ["if npm run lint; then true; fi", vitest, { "eslint.config.js": "x" }, ["changed eslint.config.js"]],
    ["grep -q yes answer.txt", make, { "answer.txt": "yes", "a.test.ts": "" }, []],
    [
      "diff expected.txt answer.txt",
      { ...make, "expected.txt": "yes" },
      { "expected.txt": "no", "answer.txt": "yes" },
      ["changed expected.txt"],
    ],
    [
      "node checks/run.mjs",
      {
        "checks/run.mjs": 'import "./lib/compare.mjs"; import "../src/a.js";',
        "checks/lib/compare.mjs": "",
        "src/a.js": "",
        "checks/free.mjs": "",
      },
      { "checks/lib/compare.mjs": "x", "src/a.js": "x", "checks/free.mjs": "x", "x.test.ts": "" },
      ["changed checks/lib/compare.mjs", "added x.test.ts"],
    ],
    [
      "some-runner --all",
      { ...python, ...vitest },
      { "src/a.test.ts": "x", "tests/test_a.py": "x", ".mocharc.yml": "", Makefile: "", "pkg/a.py": "x" },
      ["added .mocharc.yml", "added Makefile", "changed src/a.test.ts", "changed tests/test_a.py"],
    ],
    [
      "run-s 'lint*'",
      vitest,
      { "eslint.config.js": "x", "src/a.test.ts": "x" },
      ["changed eslint.config.js"],
    ],
    [
      "npm test --workspaces",
      {
        "package.json": { workspaces: ["packages/*"] },
        "packages/b/package.json": { scripts: { test: "node --test" } },
      },
      { "packages/b/package.json": { scripts: { test: "true" } } },
      ["changed packages/b/package.json#scripts.test"],
    ],
    [
      "./gradlew test",
      { gradlew: "#!/bin/sh\n", "src/test/java/ATest.java": "", "src/main/java/A.java": "" },
      { "src/test/java/ATest.java": "x", "src/main/java/A.java": "x", "build.gradle.kts": "" },
      ["added build.gradle.kts", "changed src/test/java/ATest.java"],
    ],
    [
      "bundle exec rspec",
      { "spec/a_spec.rb": "", "lib/a.rb": "" },
      { "spec/a_spec.rb": "x", "lib/a.rb": "x", ".rspec": "" },
      ["added .rspec", "changed spec/a_spec.rb"],
    ],
    [
      "vendor/bin/phpunit",
      { "composer.json": "{}", "vendor/bin/phpunit": "#!/usr/bin/env php\n" },
      { "vendor/bin/phpunit": "#!/bin/sh\n", "phpunit.xml": "" },
      ["added phpunit.xml", "changed vendor/bin/phpunit"],
    ],
    [
      "dotnet test",
      { "A.csproj": "", "ATests.cs": "", "A.cs": "" },
      { "A.csproj": "x", "ATests.cs": "x", "A.cs": "x" },
      ["changed A.csproj", "changed ATests.cs"],
    ],
  ])("%s", async (command, before, work, changes) => {
    expect(await changesAfter(command, before, work)).toEqual(changes);
  });

  test("a program of pnpm's, which is a script and no link", async () => {
    const shim = '#!/bin/sh\nexec node  "$basedir/../vitest/vitest.mjs" "$@"\n';
    const work = { "node_modules/vitest/dist/run.js": "pass" };
    expect(await changesAfter("pnpm test", { ...NPM, "node_modules/.bin/vitest": shim }, work)).toEqual([
      "changed node_modules/vitest",
    ]);
  });

  test("what links lead to in the project", async () => {
    const before = {
      "run/real.sh": "#!/bin/sh\nnpm run lint\n",
      "check.sh": "-> run/real.sh",
      "shared/cases/a.txt": "1",
      tests: "-> shared/cases",
      "package.json": "-> shared/package.json",
      "shared/package.json": { scripts: { lint: "pytest" } },
    };
    const work = { "run/real.sh": "#!/bin/sh\n", "shared/cases/a.txt": "2", "shared/package.json": "{}" };
    expect(await changesAfter("./check.sh", before, work)).toEqual([
      "deleted package.json#scripts.lint",
      "changed run/real.sh",
      "changed shared/cases/a.txt",
    ]);
  });

  test("any text is a command that can be followed", async () => {
    write(NPM);
    const words = fc.constantFrom(
      ..."npm npx sh -c make node -m python run test $( ) ` ' \" | && ; < > << ( { } cd .. ./x = \\ \n # $PWD".split(
        " ",
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(words, fc.string()), { maxLength: 12 }), async (line) => {
        const rules = rulesFor([line.join(" ")]);
        const protection = createProtection(dir);
        const { digest } = await protection.record(LOOP, rules, await protection.stamps(rules));
        expect(await protection.compare(LOOP, digest, rules)).toMatchObject({ kind: "known", changes: [] });
      }),
      { numRuns: 40 },
    );
  });

  test.each<[what: string, files: Files]>([
    ["substitutions in each other", { "check.sh": `#!/bin/sh\n${"$(".repeat(50_000)}` }],
    ["quotes and backquotes", { "check.sh": `#!/bin/sh\n${'`"$('.repeat(20_000)}` }],
    ["wrappers in each other", { "check.sh": `#!/bin/sh\n${"env ".repeat(50_000)}true` }],
    [
      "scripts in a long row",
      {
        "check.sh": "#!/bin/sh\nnpm run s0",
        "package.json": {
          scripts: Object.fromEntries(
            Array.from({ length: 3_000 }, (_, n) => [`s${n}`, `npm run s${n + 1}`]),
          ),
        },
      },
    ],
    [
      "variables that hold each other",
      {
        "check.sh": "#!/bin/sh\nmake",
        Makefile: `${Array.from({ length: 6 }, (_, n) => `V${n} = ${`$(V${n + 1})`.repeat(500)}`).join("\n")}\nV6 = x\nall:\n\techo $(V0)\n`,
      },
    ],
  ])("a check made to exhaust whoever follows it: %s", async (_, files) => {
    write(files);
    const rules = rulesFor(["./check.sh"]);
    const protection = createProtection(dir);
    const { digest } = await protection.record(LOOP, rules, await protection.stamps(rules));
    expect(await protection.compare(LOOP, digest, rules)).toMatchObject({ kind: "known", changes: [] });
  });

  test("a program that is put before the real one on a path into the project", async () => {
    process.env.PATH = `${join(dir, "tools")}:${PATH}`;
    expect(await changesAfter("grep -q yes answer.txt", {}, { "tools/grep": "#!/bin/sh\n" })).toEqual([
      "added tools/grep",
    ]);
  });

  test("a program outside that is put before the real one, but not one on a path that is another now", async () => {
    const outside = join(dirname(dir), "outside");
    mkdirSync(outside);
    process.env.PATH = `${outside}:${PATH}`;
    write({ "a.txt": "" });
    const rules = rulesFor(["grep -q yes a.txt"]);
    const { digest } = await createProtection(dir).record(LOOP, rules, new Map());
    write({ grep: "#!/bin/sh\n" }, outside);
    const state = await createProtection(dir).compare(LOOP, digest, rules);
    expect(state).toMatchObject({ changes: [{ path: "program:grep", change: "changed" }] });
    rmSync(join(outside, "grep"));
    write({ grep: "#!/bin/sh\n" }, join(dirname(dir), "other"));
    process.env.PATH = `${join(dirname(dir), "other")}:${PATH}`;
    expect(await createProtection(dir).compare(LOOP, digest, rules)).toMatchObject({
      kind: "known",
      changes: [],
    });
  });

  test("a program that was not there, and is put on the path", async () => {
    const outside = join(dirname(dir), "outside");
    mkdirSync(outside);
    process.env.PATH = `${outside}:${PATH}`;
    const changes = await changesOf(rulesFor(["some-runner"]), () =>
      write({ "some-runner": "#!/bin/sh\n" }, outside),
    );
    expect(shown(changes)).toEqual(["added program:some-runner"]);
  });

  test("the start file of the shell", async () => {
    process.env.ENV = join(dir, "start.sh");
    try {
      expect(await changesAfter("true", {}, { "start.sh": "alias npm=true" })).toEqual(["added start.sh"]);
    } finally {
      delete process.env.ENV;
    }
  });

  test("a measurement and a must-not count too; the latter for every criterion", async () => {
    write(NPM);
    write({ "guard.sh": "#!/bin/sh\nfalse\n", "count.sh": "#!/bin/sh\necho 1\n" });
    const rules: ProtectionRules = {
      criteria: [
        {
          name: "count",
          check: { kind: "measure", command: "./count.sh", comparison: ">=", target: 1 },
          source: "flag",
        },
        { name: "looks good", check: { kind: "judge", question: "?" }, source: "flag" },
      ],
      mustNot: [
        { name: "guard", command: "./guard.sh", source: "shape" },
        { name: "said", command: null, source: "shape" },
      ],
      protect: [],
      allowChanges: [],
    };
    const changes = await changesOf(rules, { "guard.sh": "x", "count.sh": "x" });
    expect(changes.map(({ path, criteria }) => [path, criteria])).toEqual([
      ["count.sh", ["count"]],
      ["guard.sh", ["count", "looks good"]],
    ]);
  });
});

describe("B7 globs", () => {
  test("--protect adds, also in folders that are left out otherwise", async () => {
    const before = {
      "docs/a.md": "",
      "db/schema.sql": "",
      "dist/a.js": "",
      ".loop/shape/SHAPE.md": "",
      "other.md": "",
    };
    const work = {
      "docs/a.md": "x",
      "db/schema.sql": "x",
      "dist/a.js": "x",
      ".loop/shape/SHAPE.md": "x",
      "other.md": "x",
      "docs/new.md": "",
    };
    const protect = ["docs", "*.sql", "dist/**", ".loop/shape/SHAPE.md"];
    expect(await changesAfter("true", before, work, { protect })).toEqual([
      "changed .loop/shape/SHAPE.md",
      "changed db/schema.sql",
      "changed dist/a.js",
      "changed docs/a.md",
      "added docs/new.md",
    ]);
  });

  test("--allow-changes takes away, also values of a file", async () => {
    const work = {
      "src/a.test.ts": "x",
      "test/new.test.ts": "",
      "package-lock.json": "x",
      "package.json": packageWith({ type: "module" }),
      "vitest.config.ts": "x",
    };
    const allowChanges = ["**/*.test.ts", "package-lock.json", "package.json"];
    expect(await changesAfter("npm test", NPM, work, { allowChanges })).toEqual(["changed vitest.config.ts"]);
  });
});

describe("B7 where the project lies", () => {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: dir, encoding: "utf8", stdio: "pipe" });

  test("what git ignored at the start among tests is output; what it ignores since then is hidden from nobody", async () => {
    git("init", "-q");
    write({
      ...NPM,
      ".gitignore": "node_modules\ntest/out/\n*.log\n",
      "src/.gitignore": "made.test.ts\n",
      ".env": "A=1",
    });
    write({ "test/out/a.txt": "1", "test/a.log": "1", "src/made.test.ts": "1" });
    const work = {
      "test/out/a.txt": "2",
      "test/out/b.txt": "2",
      "test/a.log": "2",
      "src/made.test.ts": "2",
      ".gitignore": "*.ts\n",
      ".git/info/exclude": "test\n",
      ".env": "A=2",
      "test/hidden.test.ts": "",
    };
    expect(await changesAfter("npm test", {}, work)).toEqual(["changed .env", "added test/hidden.test.ts"]);
  });

  test("a repository made inside of the tests hides nothing", async () => {
    git("init", "-q");
    write(NPM);
    const changes = await changesOf(rulesFor(["npm test"]), () => {
      mkdirSync(join(dir, "test/sub"), { recursive: true });
      execFileSync("git", ["init", "-q"], { cwd: join(dir, "test/sub") });
      write({ "test/sub/a.test.ts": "" });
    });
    expect(shown(changes)).toEqual(["added test/sub/a.test.ts"]);
  });

  test("a project that is a folder of a repository, with the package and its programs above it", async () => {
    git("init", "-q");
    write(NPM);
    write({ "part/b.test.ts": "", "part/b.ts": "" });
    const root = join(dir, "part");
    const changes = await changesOf(
      rulesFor(["npm test"]),
      () => {
        write({
          "package.json": packageWith({ scripts: { test: "true" } }),
          "part/b.test.ts": "x",
          "part/b.ts": "x",
        });
        write({ "node_modules/.bin/sh": "#!/bin/sh\n" });
      },
      root,
    );
    expect(shown(changes)).toEqual([
      "added ../node_modules/.bin/sh",
      "changed ../package.json#scripts.test",
      "changed b.test.ts",
    ]);
  });

  test("strange files among the tests neither hang nor break it", async () => {
    write(NPM);
    const changes = await changesOf(rulesFor(["npm test", "./check.sh"]), () => {
      execFileSync("mkfifo", [join(dir, "test/pipe"), join(dir, "check.sh"), join(dir, "jest.config.js")]);
      symlinkSync("/dev/zero", join(dir, "test/zero"));
      symlinkSync(".", join(dir, "test/circle"));
      writeFileSync(Buffer.concat([Buffer.from(`${dir}/test/`), Buffer.from([0xff])]), "");
    });
    expect(shown(changes)).toEqual([
      "added check.sh",
      "added jest.config.js",
      "added test/circle",
      "added test/pipe",
      "added test/zero",
      "added test/\udcff",
    ]);
  });

  test("a folder of tests that is replaced by a link to others", async () => {
    write({ ...NPM, "easy/a.test.ts": "" });
    const changes = await changesOf(rulesFor(["npm test"]), { test: "-> easy" });
    expect(shown(changes)).toEqual(["added test", "deleted test/fixtures/input.json"]);
  });
});

describe("B7 the record", () => {
  const file = (name = "protected.json"): string => join(dir, ".loop/runs", LOOP, name);

  const replace = (make: () => void): void => {
    rmSync(file());
    make();
  };

  test("is in the run's folder, closed to others", async () => {
    write(NPM);
    const { count } = await createProtection(dir).record(LOOP, rulesFor(["npm test"]), new Map());
    expect(count).toBeGreaterThan(5);
    for (const name of ["protected.json", "protected-originals.json"]) {
      expect(statSync(file(name)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(dirname(file())).mode & 0o777).toBe(0o700);
  });

  test.each<[how: string, harm: () => void, reason: string]>([
    [
      "changed",
      () => writeFileSync(file(), readFileSync(file(), "utf8").replace("package", "Package")),
      "changed",
    ],
    ["deleted", () => rmSync(file()), "missing"],
    ["a pipe", () => replace(() => execFileSync("mkfifo", [file()])), "missing"],
    ["a link", () => replace(() => symlinkSync("/dev/zero", file())), "missing"],
  ])("that is %s is tampered with", async (_, harm, reason) => {
    write(NPM);
    const protection = createProtection(dir);
    const { digest } = await protection.record(LOOP, rulesFor(["npm test"]), new Map());
    harm();
    expect(await protection.compare(LOOP, digest, rulesFor(["npm test"]))).toEqual({
      kind: "tampered",
      reason: expect.stringContaining(reason),
    });
  });

  test("H4 is written nowhere but in the project", async () => {
    write(NPM);
    mkdirSync(join(dirname(dir), "elsewhere"));
    symlinkSync("../elsewhere", join(dir, ".loop"));
    await expect(createProtection(dir).record(LOOP, rulesFor(["npm test"]), new Map())).rejects.toThrow(
      "leads out of the project",
    );
    expect(existsSync(join(dirname(dir), "elsewhere/runs"))).toBe(false);
    await expect(createProtection(dir).record("../x" as LoopId, rulesFor([]), new Map())).rejects.toThrow(
      "no valid id",
    );
  });
});

/** What `patch` does. */
function apply(before: string, diff: string): string {
  const lines = before.split(/(?<=\n)/);
  const result: string[] = [];
  let at = 0;
  for (const line of diff.split(/(?<=\n)/).slice(2)) {
    const [, start, count] = /^@@ -(\d+),(\d+)/.exec(line) ?? [];
    if (start !== undefined) {
      const from = Number(start) - 1;
      result.push(...lines.slice(at, from));
      at = from;
      expect(Number(count)).toBeLessThanOrEqual(lines.length - from);
    } else if (line.startsWith("\\")) result.push((result.pop() ?? "").replace(/\n$/, ""));
    else if (line.startsWith("+")) result.push(line.slice(1));
    else {
      if (line.startsWith(" ")) result.push(line.slice(1));
      at++;
    }
  }
  return [...result, ...lines.slice(at)].join("");
}

describe("B7 a change as a person sees it", () => {
  test("a diff leads from one text to the other", () => {
    const line = fc.constantFrom("a\n", "b\n", "c\n", "\n", "+\n");
    const text = fc.array(line, { maxLength: 40 }).map((lines) => lines.join(""));
    fc.assert(
      fc.property(text, text, fc.boolean(), (before, after, isWhole) => {
        const now = isWhole ? after : `${after}end`;
        const diff = renderDiff("a", before, now, 1_000);
        expect(diff === "" ? before : apply(before, diff)).toBe(now);
      }),
    );
  });

  const many = Array.from({ length: 600 }, (_, n) => `line ${n}`);
  test.each<[path: string, before: string | null, now: string | null, wanted: string | RegExp]>([
    [
      "src/b.test.ts",
      "a\nb\nc\n",
      "a\nB\nc\n",
      "--- src/b.test.ts\n+++ src/b.test.ts\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
    ],
    ["src/b.test.ts", null, "a\n", "--- src/b.test.ts\n+++ src/b.test.ts\n@@ -0,0 +1,1 @@\n+a\n"],
    [
      "src/b.test.ts",
      "a",
      null,
      "--- src/b.test.ts\n+++ src/b.test.ts\n@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n",
    ],
    ["src/b.test.ts", many.join("\n"), many.map((line) => `${line}!`).join("\n"), /… 1\d\d\d more lines\n$/],
    ["test/b.bin", "a\0", "b\0", "test/b.bin was changed. It is binary or too large to show.\n"],
    ["test/b.txt", "a".repeat(300_000), "b", "test/b.txt was changed. It is binary or too large to show.\n"],
    [
      ".env",
      "KEY=secret",
      "KEY=other",
      ".env was changed. It is not shown because it may contain secrets.\n",
    ],
    [
      "node_modules/.bin/sh",
      null,
      "#!/bin/sh\n",
      "node_modules/.bin/sh: the program, or a file that it starts, was added.\n",
    ],
    [
      "test/run.sh",
      "true\n",
      "#!/bin/sh\n",
      "--- test/run.sh\n+++ test/run.sh\n@@ -1,1 +1,1 @@\n-true\n+#!/bin/sh\n",
    ],
  ])("%s", async (path, before, now, wanted) => {
    write({ ...NPM, [path]: before });
    const rules = rulesFor(["npm test"]);
    const protection = createProtection(dir);
    const { digest } = await protection.record(LOOP, rules, await protection.stamps(rules));
    write({ [path]: now });
    const state = await protection.compare(LOOP, digest, rules);
    const change = state.kind === "known" ? state.changes.find((each) => each.path === path) : undefined;
    if (change === undefined) expect.unreachable("no change");
    expect(await createProtection(dir).diff(LOOP, change)).toEqual(
      typeof wanted === "string" ? wanted : expect.stringMatching(wanted),
    );
    expect(readFileSync(join(dir, ".loop/runs", LOOP, "protected-originals.json"), "utf8")).not.toContain(
      "secret",
    );
  });

  test("of one value only that value, and that it changed again since", async () => {
    write(NPM);
    const rules = rulesFor(["npm test"]);
    const protection = createProtection(dir);
    const { digest } = await protection.record(LOOP, rules, await protection.stamps(rules));
    write({ "package.json": packageWith({ scripts: { test: "true" } }) });
    const state = await protection.compare(LOOP, digest, rules);
    const [change] = state.kind === "known" ? state.changes : [];
    if (change === undefined) expect.unreachable("no change");
    const diff = await protection.diff(LOOP, change);
    expect(diff).toContain("-vitest run\n+true\n");
    expect(diff).not.toContain("version");
    write({ "package.json": packageWith({ scripts: { test: "false" } }) });
    expect(await protection.diff(LOOP, change)).toMatch(/changed again after/);
  });

  test("is not shown from texts that an agent changed", async () => {
    write(NPM);
    const rules = rulesFor(["npm test"]);
    const protection = createProtection(dir);
    const { digest } = await protection.record(LOOP, rules, await protection.stamps(rules));
    write({ "src/a.test.ts": "always green" });
    const originals = join(dir, ".loop/runs", LOOP, "protected-originals.json");
    writeFileSync(
      originals,
      readFileSync(originals, "utf8").replace('"src/a.test.ts":"test"', '"src/a.test.ts":"always green"'),
    );
    const state = await protection.compare(LOOP, digest, rules);
    const [change] = state.kind === "known" ? state.changes : [];
    if (change === undefined) expect.unreachable("no change");
    expect(await protection.diff(LOOP, change)).toBe(
      "src/a.test.ts was changed. The saved copy of the old content is missing or was changed.\n",
    );
  });
});
