/** C1, B6: what a project is made with, from the names of its files. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { detectStack, MANIFESTS, type StackFacts } from "../../../src/core/backlog/prd/detect.ts";
import { faultsOfChecks } from "../../../src/core/backlog/prd/registry.ts";

function facts(files: string, more: Partial<StackFacts> = {}): StackFacts {
  const named = files.split(" ").filter((name) => name !== "");
  const texts = Object.keys(more.manifests ?? {});
  return { packageManager: null, scripts: [], manifests: {}, ...more, files: [...named, ...texts] };
}

const NODE = { scripts: ["test", "lint", "typecheck"] };

describe("C1 the stack and its checks", () => {
  test.each<[string, StackFacts, readonly string[], readonly string[]]>([
    ["nothing", facts("README.md"), [], []],
    [
      "npm",
      facts("package.json", NODE),
      ["node (npm)"],
      ["tests=npm test", "lint=npm run lint", "types=npm run typecheck"],
    ],
    [
      "pnpm",
      facts("package.json", { ...NODE, packageManager: "pnpm" }),
      ["node (pnpm)"],
      ["tests=pnpm test", "lint=pnpm run lint", "types=pnpm run typecheck"],
    ],
    [
      "yarn with tools and no scripts",
      facts("package.json tsconfig.json eslint.config.js", { packageManager: "yarn" }),
      ["node (yarn)"],
      ["lint=yarn run eslint .", "types=yarn run tsc --noEmit"],
    ],
    [
      "bun",
      facts("package.json", { ...NODE, packageManager: "bun", scripts: ["test"] }),
      ["node (bun)"],
      ["tests=bun run test"],
    ],
    ["python with a folder of tests", facts("pyproject.toml tests"), ["python"], ["tests=pytest"]],
    [
      "python with uv and tools in its manifest",
      facts("uv.lock", {
        manifests: {
          "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff.lint]\n[tool.mypy]\nstrict = true\n",
        },
      }),
      ["python"],
      ["tests=uv run pytest", "lint=uv run ruff check", "types=uv run mypy ."],
    ],
    [
      "python with poetry and setup.cfg",
      facts("poetry.lock pyproject.toml", {
        manifests: { "setup.cfg": "[tool:pytest]\n[flake8]\n[mypy]\n" },
      }),
      ["python"],
      ["tests=poetry run pytest", "lint=poetry run flake8", "types=poetry run mypy ."],
    ],
    ["go", facts("go.mod"), ["go"], ["tests=go test ./...", "lint=go vet ./...", "types=go build ./..."]],
    [
      "go with golangci-lint",
      facts("go.mod .golangci.yml"),
      ["go"],
      ["tests=go test ./...", "lint=golangci-lint run", "types=go build ./..."],
    ],
    [
      "rust",
      facts("Cargo.toml"),
      ["rust"],
      ["tests=cargo test", "lint=cargo clippy -- -D warnings", "types=cargo check"],
    ],
    ["ruby with rspec", facts("Gemfile Rakefile spec test"), ["ruby"], ["tests=bundle exec rspec"]],
    [
      "ruby with minitest",
      facts("Gemfile Rakefile test .rubocop.yml"),
      ["ruby"],
      ["tests=bundle exec rake test", "lint=bundle exec rubocop"],
    ],
    [
      "rails",
      facts("bin test Rakefile", { manifests: { Gemfile: 'gem "rails", "~> 8"' } }),
      ["ruby"],
      ["tests=bin/rails test"],
    ],
    [
      "php",
      facts("phpunit.xml.dist phpstan.neon", { manifests: { "composer.json": "{}" } }),
      ["php"],
      ["tests=vendor/bin/phpunit", "types=vendor/bin/phpstan analyse --no-progress"],
    ],
    [
      "php with scripts",
      facts("phpunit.xml psalm.xml", {
        manifests: { "composer.json": '{"scripts":{"test":"pest","lint":"pint"}}' },
      }),
      ["php"],
      ["tests=composer test", "lint=composer lint", "types=vendor/bin/psalm --no-progress"],
    ],
    [
      "php with pest",
      facts("phpunit.xml", { manifests: { "composer.json": '{"require-dev":{"pestphp/pest":"^3"}}' } }),
      ["php"],
      ["tests=vendor/bin/pest"],
    ],
    [
      ".net",
      facts("App.sln .editorconfig"),
      [".net"],
      [
        "tests=dotnet test",
        "lint=dotnet format --verify-no-changes --no-restore",
        "types=dotnet build --nologo",
      ],
    ],
    [
      "maven",
      facts("pom.xml mvnw"),
      ["java (maven)"],
      ["tests=./mvnw -q test", "types=./mvnw -q test-compile"],
    ],
    [
      "gradle",
      facts("build.gradle.kts gradlew"),
      ["java (gradle)"],
      ["tests=./gradlew test", "types=./gradlew testClasses"],
    ],
    [
      "two languages: each check has its own name",
      facts("package.json Cargo.toml", { scripts: ["test"] }),
      ["node (npm)", "rust"],
      [
        "tests:npm=npm test",
        "tests:cargo=cargo test",
        "lint=cargo clippy -- -D warnings",
        "types=cargo check",
      ],
    ],
  ])("%s", (_, given, names, checks) => {
    const stack = detectStack(given);
    expect([stack.names, stack.checks]).toEqual([names, checks]);
  });

  test("whatever lies there, the checks are sound and none is there twice", () => {
    const name = fc.constantFrom(
      ..."package.json tsconfig.json Cargo.toml go.mod Gemfile Rakefile test tests spec pom.xml mvnw App.csproj".split(
        " ",
      ),
      ..."phpunit.xml phpstan.neon build.gradle setup.py uv.lock .flake8 mypy.ini pyrightconfig.json biome.json".split(
        " ",
      ),
    );
    const manifests = fc.dictionary(
      fc.constantFrom(...MANIFESTS),
      fc.constantFrom("{", "[tool.ruff]", '{"scripts":{"test":1}}', ""),
    );
    fc.assert(
      fc.property(fc.uniqueArray(name), manifests, fc.uniqueArray(fc.string()), (files, texts, scripts) => {
        const given = facts(files.join(" "), { manifests: texts, scripts: [...scripts, "test"] });
        expect(faultsOfChecks(detectStack(given).checks)).toEqual([]);
      }),
    );
  });
});
