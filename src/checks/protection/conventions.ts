/**
 * What files are for, told by their names alone. A role is what a runner asks for: its tests or its configuration.
 * Names count at any depth: projects hold projects.
 */
export type Role = `tests:${Language}` | `config:${Tool}`;
type Language =
  | "any"
  | "js"
  | "python"
  | "go"
  | "rust"
  | "ruby"
  | "java"
  | "php"
  | "dotnet"
  | "c"
  | "elixir"
  | "swift"
  | "dart"
  | "shell";
type Tool =
  | "env"
  | "packages"
  | "js-test"
  | "ts"
  | "babel"
  | "js-lint"
  | "js-build"
  | "monorepo"
  | "deno"
  | "python"
  | "python-lint"
  | "go"
  | "rust"
  | "ruby"
  | "java"
  | "php"
  | "dotnet"
  | "c"
  | "elixir"
  | "swift"
  | "dart"
  | "make"
  | "tasks";

/** Folders of which everything belongs to the tests: fixtures, snapshots and helpers are what tests consist of. */
const TEST_FOLDER =
  /(?:^|\/)(?:tests?|specs?|__tests__|__snapshots__|__mocks__|__fixtures__|e2e|testdata|cypress|Tests|UnitTests|integration-tests?)\//;

const JS = String.raw`\.(?:[cm]?[jt]s|json)`;

/** The name of a file → its role. */
const BY_NAME: readonly (readonly [Role, RegExp])[] = [
  [
    "tests:js",
    /[._](?:test|tests|spec|e2e|cy|bench|test-d)\.[cm]?[jt]sx?$|-test\.[cm]?[jt]sx?$|^test(?:-.*)?\.[cm]?[jt]sx?$|\.snap$|\.feature$/,
  ],
  ["tests:python", /^test_.*\.py$|_test\.py$|^conftest\.py$|^tests?\.py$/],
  ["tests:go", /_test\.go$/],
  ["tests:rust", /^tests?\.rs$|_tests?\.rs$|\.snap$/],
  ["tests:ruby", /_(?:spec|test)\.rb$|^test_.*\.rb$|^(?:spec|rails|test)_helper\.rb$|\.feature$/],
  ["tests:java", /(?:Tests?|IT|Spec)\.(?:java|kt|groovy|scala)$/],
  ["tests:php", /(?:Test|Cest)\.php$|\.phpt$/],
  ["tests:dotnet", /(?:Tests?|Specs?)\.(?:cs|fs|vb)$/],
  ["tests:c", /(?:^tests?[_-].*|.*[_-](?:unit)?tests?)\.(?:c|cc|cpp|cxx|h|hpp)$/],
  ["tests:elixir", /_test\.exs$|^test_helper\.exs$/],
  ["tests:swift", /Tests?\.swift$/],
  ["tests:dart", /_test\.dart$/],
  ["tests:shell", /\.bats$|[._-]test\.sh$|^test[._-].*\.sh$/],
  [
    "config:env",
    /^\.env(?!\.(?:example|sample|template|dist)$)(?:\..+)?$|^\.envrc$|^\.tool-versions$|^\.?mise(?:\.local)?\.toml$/,
  ],
  [
    "config:packages",
    /^(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.c?js|\.pnp\.(?:cjs|loader\.mjs)|pnpm-workspace\.yaml|bunfig\.toml|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|\.nvmrc|\.node-version)$/,
  ],
  [
    "config:js-test",
    new RegExp(
      String.raw`^(?:vitest\.(?:config|workspace|projects|setup)|vite\.config|jest\.(?:config|setup|preset)|karma\.conf|playwright(?:-ct)?\.config|cypress(?:\.config)?|ava\.config|wdio\.conf|nightwatch\.conf|web-test-runner\.config|jasmine|stryker\.conf|codecept\.conf|setupTests|test-setup|\.mocharc|\.nycrc|\.c8rc|\.taprc|\.swcrc)(?:${JS})?$|^\.(?:mocharc|nycrc|taprc)\.ya?ml$|^mocha\.opts$|^babel\.config`,
    ),
  ],
  ["config:ts", /^[tj]sconfig(?:\..+|-.+)?\.json$/],
  ["config:babel", /^(?:babel\.config\.(?:[cm]?[jt]s|json)|\.babelrc(?:\.(?:[cm]?js|json))?|\.swcrc)$/],
  [
    "config:js-lint",
    /^(?:\.eslintrc(?:\..+)?|\.eslintignore|eslint\.config\.[cm]?[jt]s|biome\.jsonc?|\.prettierrc(?:\..+)?|\.prettierignore|prettier\.config\.[cm]?[jt]s|\.stylelintrc(?:\..+)?|\.stylelintignore|stylelint\.config\.[cm]?js|\.oxlintrc\.json|tslint\.json|\.editorconfig|\.jshintrc|\.xo-config.*|knip\.(?:json|ts)|\.dependency-cruiser\.[cm]?js|\.markdownlint.*)$/,
  ],
  [
    "config:js-build",
    /^(?:(?:webpack|rollup|vite|tsup|tsdown|next|nuxt|svelte|astro|esbuild|rspack|rsbuild|metro|postcss|tailwind|remix|quasar)\.config(?:\..+)?\.(?:[cm]?[jt]s|json)|angular\.json|\.parcelrc|gulpfile\.[cm]?[jt]s|Gruntfile\.[cj]s)$/,
  ],
  ["config:monorepo", /^(?:turbo|nx|lerna|rush)\.json$|^workspace\.json$|^project\.json$/],
  ["config:deno", /^deno\.(?:jsonc?|lock)$|^import_map\.json$/],
  [
    "config:python",
    /^(?:pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|setup\.py|pyproject\.toml|noxfile\.py|\.coveragerc|poetry\.lock|uv\.lock|uv\.toml|pdm\.lock|Pipfile(?:\.lock)?|requirements.*\.txt|constraints.*\.txt|\.python-version|conftest\.py|sitecustomize\.py|usercustomize\.py|behave\.ini|\.behaverc|hatch\.toml|manage\.py)$/,
  ],
  [
    "config:python-lint",
    /^(?:\.?ruff\.toml|\.?mypy\.ini|setup\.cfg|tox\.ini|pyproject\.toml|\.flake8|\.?pylintrc(?:\.toml)?|pyrightconfig\.json|\.isort\.cfg|\.bandit|\.pre-commit-config\.yaml)$/,
  ],
  ["config:go", /^(?:go\.(?:mod|sum|work|work\.sum)|\.golangci\.(?:ya?ml|toml|json))$/],
  [
    "config:rust",
    /^(?:Cargo\.(?:toml|lock)|rust-toolchain(?:\.toml)?|build\.rs|\.?clippy\.toml|\.?rustfmt\.toml|nextest\.toml|deny\.toml)$/,
  ],
  [
    "config:ruby",
    /^(?:\.rspec|Rakefile|rakefile|Rakefile\.rb|Gemfile(?:\.lock)?|\.ruby-version|\.rubocop.*\.yml|\.simplecov|cucumber\.yml)$|\.(?:gemspec|rake)$/,
  ],
  [
    "config:java",
    /^(?:build|settings|init)\.gradle(?:\.kts)?$|^(?:gradle|local)\.properties$|^gradle-wrapper\.(?:jar|properties)$|^gradlew$|^mvnw$|^pom\.xml$|^libs\.versions\.toml$|^gradle\.lockfile$|^build\.sbt$|^(?:testng|checkstyle|pmd|spotbugs)[\w-]*\.xml$|^junit-platform\.properties$/,
  ],
  [
    "config:php",
    /^(?:phpunit(?:\.dist)?\.xml(?:\.dist)?|composer\.(?:json|lock)|phpstan(?:\.dist)?\.neon(?:\.dist)?|psalm\.xml(?:\.dist)?|\.php-cs-fixer(?:\.dist)?\.php|Pest\.php|codeception(?:\.dist)?\.yml)$/,
  ],
  [
    "config:dotnet",
    /\.(?:csproj|fsproj|vbproj|sln|slnx|runsettings)$|^Directory\.(?:Build|Packages)\.(?:props|targets)$|^nuget\.config$|^global\.json$|^packages\.lock\.json$/i,
  ],
  [
    "config:c",
    /^(?:CMakeLists\.txt|CMakePresets\.json|CMakeUserPresets\.json|CTestConfig\.cmake|meson\.build|meson_options\.txt|conanfile\.(?:py|txt)|vcpkg\.json|BUILD(?:\.bazel)?|WORKSPACE(?:\.bazel)?|MODULE\.bazel|\.bazelrc|\.clang-(?:tidy|format)|configure|configure\.ac|Makefile\.am)$|\.cmake$/,
  ],
  ["config:elixir", /^(?:mix\.(?:exs|lock)|\.credo\.exs|\.formatter\.exs)$/],
  ["config:swift", /^Package(?:@swift-.*)?\.(?:swift|resolved)$|\.xctestplan$|^\.swiftlint\.yml$/],
  ["config:dart", /^(?:pubspec\.(?:yaml|lock)|analysis_options\.yaml|dart_test\.yaml)$/],
  ["config:make", /^(?:GNUmakefile|[Mm]akefile)$|\.mk$/],
  [
    "config:tasks",
    /^(?:\.?justfile|Justfile|Taskfile\.ya?ml|taskfile\.ya?ml|Earthfile|Dockerfile|docker-compose.*\.ya?ml|compose\.ya?ml|\.pre-commit-config\.yaml|lefthook\.yml|magefile\.go|SConstruct|wscript|dagger\.json)$/,
  ],
];

/** Some folders hold configuration whatever the names in them are. */
const BY_FOLDER: readonly (readonly [Role, RegExp])[] = [
  ["config:packages", /(?:^|\/)\.yarn\/(?:releases|plugins|patches)\//],
  ["config:rust", /(?:^|\/)\.cargo\//],
  ["config:java", /(?:^|\/)\.mvn\//],
  ["config:rust", /(?:^|\/)\.config\/nextest\.toml$/],
];

export const ALL_ROLES: ReadonlySet<Role> = new Set([
  "tests:any",
  ...BY_NAME.map(([role]) => role),
  ...BY_FOLDER.map(([role]) => role),
]);

/** What the file is for; empty: no check consists of it by its name alone. */
export function rolesOf(path: string): readonly Role[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const roles: Role[] = BY_NAME.filter(([, pattern]) => pattern.test(name)).map(([role]) => role);
  if (TEST_FOLDER.test(path)) roles.push("tests:any");
  for (const [role, pattern] of BY_FOLDER) if (pattern.test(path)) roles.push(role);
  return roles;
}

/** A link can stand for a whole folder of tests. */
export function rolesOfLink(path: string): readonly Role[] {
  return [...new Set([...rolesOf(path), ...rolesOf(`${path}/x`)])];
}

/** Files that people keep secrets in: their text is kept nowhere and shown to nobody. */
export function mayHoldSecrets(path: string): boolean {
  return /(?:^|\/)(?:\.env[^/]*|\.npmrc|\.yarnrc[^/]*|\.netrc|\.pypirc|local\.properties|nuget\.config)$/i.test(
    path,
  );
}

/** Folders of the product: what a check looks at, not what it consists of. */
export function isSource(path: string): boolean {
  return /(?:^|\/)(?:src|lib|app|source|sources|pkg|internal|cmd)\//.test(path);
}
