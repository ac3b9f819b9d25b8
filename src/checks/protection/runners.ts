/** What programs ask for. Data: a runner that is not here is unknown, and then everything counts. */
import type { Role } from "./conventions.ts";

export interface Runner {
  /** `tests`: files among its words are tests. `subjects`: they are what it looks at. `rest`: they are a command. */
  readonly words: "tests" | "subjects" | "rest";
  readonly roles: readonly Role[];
}

const JS_TEST: readonly Role[] = ["tests:js", "tests:any", "config:js-test", "config:ts", "config:babel"];
const PYTHON_TEST: readonly Role[] = ["tests:python", "tests:any", "config:python"];

const RUNNERS: readonly (readonly [names: string, runner: Runner])[] = [
  [
    "vitest jest mocha _mocha ava tap tape jasmine karma playwright cypress qunit uvu wtr web-test-runner testcafe nightwatch wdio stryker cucumber-js codeceptjs tsd|react-scripts test|ng test|bun test|vue-cli-service test:unit",
    { words: "tests", roles: [...JS_TEST, "config:packages"] },
  ],
  ["c8 nyc istanbul", { words: "rest", roles: JS_TEST }],
  [
    "eslint biome prettier stylelint oxlint xo standard tslint knip madge depcruise markdownlint markdownlint-cli2|next lint|ng lint",
    { words: "subjects", roles: ["config:js-lint", "config:ts", "config:packages"] },
  ],
  [
    "tsc vue-tsc svelte-check tsgo attw publint",
    { words: "subjects", roles: ["config:ts", "config:packages"] },
  ],
  [
    "webpack rollup vite esbuild tsup tsdown swc parcel rspack gulp grunt size-limit|next build|nuxt build|ng build|astro build|astro check|remix build",
    { words: "subjects", roles: ["config:js-build", "config:ts", "config:babel", "config:packages"] },
  ],
  ["deno", { words: "tests", roles: ["tests:js", "tests:any", "config:deno", "config:ts"] }],
  ["pytest py.test unittest nose2 behave tox nox doctest", { words: "tests", roles: PYTHON_TEST }],
  ["coverage", { words: "rest", roles: PYTHON_TEST }],
  [
    "ruff mypy pyright basedpyright flake8 pylint black isort bandit vulture pyflakes ty",
    { words: "subjects", roles: ["config:python-lint"] },
  ],
  ["pip pip3 uv poetry pdm pipenv hatch build", { words: "subjects", roles: ["config:python"] }],
  ["|go test", { words: "subjects", roles: ["tests:go", "tests:any", "config:go"] }],
  ["go golangci-lint staticcheck gofmt govulncheck", { words: "subjects", roles: ["config:go"] }],
  ["gotestsum ginkgo", { words: "subjects", roles: ["tests:go", "tests:any", "config:go"] }],
  [
    "|cargo test|cargo nextest|cargo tarpaulin|cargo llvm-cov|cargo insta|cargo miri",
    { words: "subjects", roles: ["tests:rust", "tests:any", "config:rust"] },
  ],
  ["cargo rustc rustfmt", { words: "subjects", roles: ["config:rust"] }],
  [
    "rspec rake minitest cucumber m|rails test|bin/rails test",
    { words: "tests", roles: ["tests:ruby", "tests:any", "config:ruby"] },
  ],
  ["rubocop standardrb sorbet srb", { words: "subjects", roles: ["config:ruby"] }],
  [
    "mvn mvnw gradle gradlew sbt ant",
    { words: "subjects", roles: ["tests:java", "tests:any", "config:java"] },
  ],
  [
    "phpunit pest codecept behat composer artisan",
    { words: "tests", roles: ["tests:php", "tests:any", "config:php"] },
  ],
  ["phpstan psalm php-cs-fixer phpcs pint", { words: "subjects", roles: ["config:php"] }],
  ["|dotnet test", { words: "subjects", roles: ["tests:dotnet", "tests:any", "config:dotnet"] }],
  ["dotnet msbuild", { words: "subjects", roles: ["config:dotnet"] }],
  [
    "ctest cmake meson ninja bazel bazelisk",
    { words: "subjects", roles: ["tests:c", "tests:any", "config:c", "config:make"] },
  ],
  [
    "gcc g++ clang clang++ cc c++ clang-tidy clang-format cppcheck",
    { words: "subjects", roles: ["config:c"] },
  ],
  ["mix", { words: "tests", roles: ["tests:elixir", "tests:any", "config:elixir"] }],
  ["swift xcodebuild swiftlint", { words: "subjects", roles: ["tests:swift", "tests:any", "config:swift"] }],
  ["dart flutter", { words: "tests", roles: ["tests:dart", "tests:any", "config:dart"] }],
  ["bats shunit2", { words: "tests", roles: ["tests:shell", "tests:any"] }],
  ["shellcheck shfmt hadolint yamllint actionlint", { words: "subjects", roles: ["config:env"] }],
];

const BY_NAME = new Map<string, Runner>();
for (const [names, runner] of RUNNERS) {
  const [single = "", ...double] = names.split("|");
  for (const name of [...single.split(" ").filter(Boolean), ...double]) BY_NAME.set(name, runner);
}

/** By its name and, where that tells more, its first word: `cargo test` is not `cargo build`. */
export function runnerOf(program: string, words: readonly string[]): Runner | undefined {
  const subcommand = words.find((word) => !word.startsWith("-") && !word.startsWith("+"));
  return BY_NAME.get(`${program} ${subcommand}`) ?? BY_NAME.get(program);
}

/** Tools that look at what they are given and consist of nothing else. */
const NEUTRAL: ReadonlySet<string> = new Set(
  (
    "echo printf test [ [[ true false : cat tac grep egrep fgrep zgrep rg ag wc sort uniq head tail cut tr sed awk gawk jq yq diff cmp " +
    "comm ls find fd stat du df pwd export set unset exit return sleep date basename dirname realpath readlink mkdir rmdir rm cp mv ln " +
    "touch tee read local declare readonly shift trap wait kill umask ulimit hash type which whereis id whoami uname hostname seq expr " +
    "let bc dc paste column fold nl rev md5sum sha1sum sha256sum cksum base64 xxd od file tar gzip gunzip zip unzip curl wget nc ping " +
    "git tput clear yes break continue for in case esac select function alias chmod lsof ps pgrep"
  ).split(" "),
);

export function isNeutral(program: string): boolean {
  return NEUTRAL.has(program);
}

/** The shell does these itself: no file on the path can take their place. */
const BUILT_IN: ReadonlySet<string> = new Set(
  (
    "echo printf test [ [[ true false : pwd export set unset exit return read local declare readonly shift trap wait kill umask ulimit " +
    "hash type let break continue for in case esac select function alias cd . source eval exec command builtin times getopts"
  ).split(" "),
);

export function isBuiltIn(program: string): boolean {
  return BUILT_IN.has(program);
}

/** Programs that start the command that follows: how many words of their own they take, and the flags with a value. */
export const WRAPPERS: ReadonlyMap<string, { readonly own: number; readonly valued: readonly string[] }> =
  new Map([
    ["env", { own: 0, valued: ["-u", "-C", "-S"] }],
    ["timeout", { own: 1, valued: ["-s", "-k"] }],
    ["gtimeout", { own: 1, valued: ["-s", "-k"] }],
    ["nice", { own: 0, valued: ["-n"] }],
    ["ionice", { own: 0, valued: ["-c", "-n"] }],
    ["nohup", { own: 0, valued: [] }],
    ["setsid", { own: 0, valued: [] }],
    ["stdbuf", { own: 0, valued: ["-i", "-o", "-e"] }],
    ["sudo", { own: 0, valued: ["-u", "-g"] }],
    ["doas", { own: 0, valued: ["-u"] }],
    ["xargs", { own: 0, valued: ["-n", "-P", "-I", "-L", "-d"] }],
    ["xvfb-run", { own: 0, valued: ["-s", "-n"] }],
    ["caffeinate", { own: 0, valued: [] }],
    ["cross-env", { own: 0, valued: [] }],
    ["cross-env-shell", { own: 0, valued: [] }],
    ["dotenv", { own: 0, valued: ["-e", "-f"] }],
    ["dotenvx", { own: 1, valued: ["-f"] }],
    ["direnv", { own: 2, valued: [] }],
    ["mise", { own: 1, valued: ["-C"] }],
    ["asdf", { own: 1, valued: [] }],
    ["corepack", { own: 0, valued: [] }],
    ["bundle", { own: 1, valued: [] }],
    ["bunx", { own: 0, valued: ["-p", "--package"] }],
    ["npx", { own: 0, valued: ["-p", "--package"] }],
    ["pnpx", { own: 0, valued: ["-p", "--package"] }],
    ["uvx", { own: 0, valued: ["--from", "--with", "-p", "--python"] }],
    ["pipx", { own: 1, valued: ["--spec"] }],
    ["watchexec", { own: 0, valued: ["-w", "-e"] }],
    ["strace", { own: 0, valued: ["-o", "-e"] }],
  ]);
