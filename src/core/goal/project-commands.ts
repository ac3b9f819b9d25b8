/** Which command a phrase means in a project, from plain facts about it. */

export interface ProjectFacts {
  readonly packageManager: "npm" | "pnpm" | "yarn" | "bun" | null;
  /** Names of the scripts in package.json. */
  readonly scripts: readonly string[];
  /** Names of the files and folders at the top. */
  readonly files: readonly string[];
}

export type Topic =
  | "test"
  | "unit"
  | "integration"
  | "e2e"
  | "lint"
  | "eslint"
  | "tsc"
  | "types"
  | "build"
  | "format";

export interface ToolCommand {
  readonly tool: string;
  readonly command: string;
}

/** One for each tool that the project is made with; none: it cannot be told. */
export function commandsFor(topic: Topic, facts: ProjectFacts): ToolCommand[] {
  const script = SCRIPTS[topic].find((name) => facts.scripts.includes(name));
  const run = script === undefined ? null : runScript(facts, script);
  const own: ToolCommand[] = run === null ? [] : [{ tool: facts.packageManager ?? "npm", command: run }];
  const others = TOOLS.filter(
    (tool) => tool.topic === topic && tool.signs.every((sign) => facts.files.some((file) => sign.test(file))),
  )
    // a script of the project's own says how its tools are called
    .filter(({ isNode }) => !isNode || own.length === 0)
    .map(({ tool, command, isNode }) => ({ tool, command: isNode ? runTool(facts, command) : command }));
  const seen = new Set<string>();
  return [...own, ...others].filter(({ tool }) => !seen.has(tool) && seen.add(tool));
}

/** null for a name that a shell would read as more than a word. */
export function runScript(facts: ProjectFacts, name: string, isSilent = false): string | null {
  if (!/^[A-Za-z0-9_@][A-Za-z0-9_:.@/-]*$/.test(name)) return null;
  const manager = facts.packageManager ?? "npm";
  if (isSilent) return runSilently(facts, manager, name);
  if (name === "test" && manager !== "bun") return `${manager} test`;
  return `${manager} run ${name}`;
}

/** A tool that the project has installed; nothing is ever downloaded for a check. */
export function runTool({ packageManager }: ProjectFacts, command: string): string {
  switch (packageManager) {
    case "pnpm":
      return `pnpm exec ${command}`;
    case "yarn":
      return `yarn run ${command}`;
    case "bun":
      return `bunx --no-install ${command}`;
    default:
      return `npx --no-install ${command}`;
  }
}

/** Without the manager's own lines: "Done in 0.5s" would be the last number that is printed. */
function runSilently({ files }: ProjectFacts, manager: string, name: string): string {
  if (manager === "bun") return `bun run --silent ${name}`;
  // a newer Yarn says nothing of its own and knows no such flag
  return manager === "yarn" && files.includes(".yarnrc.yml")
    ? `yarn run ${name}`
    : `${manager} run -s ${name}`;
}

const SCRIPTS: Readonly<Record<Topic, readonly string[]>> = {
  test: ["test"],
  unit: ["test:unit", "unit", "test-unit"],
  integration: ["test:integration", "integration", "test-integration"],
  e2e: ["test:e2e", "e2e", "test-e2e"],
  lint: ["lint"],
  eslint: [],
  tsc: [],
  types: ["typecheck", "type-check", "check-types", "check:types", "types", "tsc"],
  build: ["build"],
  format: ["format:check", "fmt:check", "check:format", "prettier:check"],
};

interface Tool {
  readonly topic: Topic;
  readonly tool: string;
  readonly command: string;
  /** Files that all have to be there. */
  readonly signs: readonly RegExp[];
  /** Called through the package manager. */
  readonly isNode: boolean;
}

const tool = (topic: Topic, name: string, command: string, ...signs: RegExp[]): Tool => ({
  topic,
  tool: name,
  command,
  signs,
  isNode: false,
});
const nodeTool = (topic: Topic, name: string, command: string, ...signs: RegExp[]): Tool => ({
  ...tool(topic, name, command, ...signs),
  isNode: true,
});

const CARGO = /^Cargo\.toml$/;
const GO = /^go\.mod$/;
const PYTHON = /^(?:pyproject\.toml|setup\.py|setup\.cfg|tox\.ini|requirements.*\.txt)$/;
const GRADLE = /^build\.gradle(?:\.kts)?$/;
const ESLINT = /^(?:eslint\.config\.[cm]?[jt]s|\.eslintrc(?:\.(?:json|[cm]?js|ya?ml))?)$/;

/** The first of a tool counts. */
const TOOLS: readonly Tool[] = [
  tool("test", "cargo", "cargo test", CARGO),
  tool("test", "go", "go test ./...", GO),
  tool("test", "pytest", "pytest", /^(?:pytest\.ini|conftest\.py)$/),
  tool("test", "pytest", "pytest", PYTHON, /^tests?$/),
  tool("test", "maven", "./mvnw -q test", /^pom\.xml$/, /^mvnw$/),
  tool("test", "maven", "mvn -q test", /^pom\.xml$/),
  tool("test", "gradle", "./gradlew test", GRADLE, /^gradlew$/),
  tool("test", "gradle", "gradle test", GRADLE),
  tool("test", "mix", "mix test", /^mix\.exs$/),
  tool("test", "swift", "swift test", /^Package\.swift$/),
  tool("test", "dotnet", "dotnet test", /\.(?:sln|slnx|csproj|fsproj)$/),
  tool("test", "rspec", "bundle exec rspec", /^Gemfile$/, /^spec$/),
  tool("test", "deno", "deno test", /^deno\.jsonc?$/),
  nodeTool("lint", "eslint", "eslint .", ESLINT),
  nodeTool("lint", "biome", "biome lint", /^biome\.jsonc?$/),
  tool("lint", "ruff", "ruff check", /^\.?ruff\.toml$/),
  tool("lint", "golangci-lint", "golangci-lint run", /^\.golangci\.(?:ya?ml|toml|json)$/),
  tool("lint", "clippy", "cargo clippy -- -D warnings", CARGO),
  tool("lint", "rubocop", "bundle exec rubocop", /^\.rubocop\.yml$/),
  nodeTool("eslint", "eslint", "eslint ."),
  nodeTool("tsc", "tsc", "tsc --noEmit"),
  nodeTool("types", "tsc", "tsc --noEmit", /^tsconfig\.json$/),
  tool("types", "mypy", "mypy .", /^(?:mypy\.ini|\.mypy\.ini)$/),
  tool("build", "cargo", "cargo build", CARGO),
  tool("build", "go", "go build ./...", GO),
  tool("build", "maven", "./mvnw -q compile", /^pom\.xml$/, /^mvnw$/),
  tool("build", "maven", "mvn -q compile", /^pom\.xml$/),
  tool("build", "gradle", "./gradlew assemble", GRADLE, /^gradlew$/),
  tool("build", "gradle", "gradle assemble", GRADLE),
  tool("build", "mix", "mix compile", /^mix\.exs$/),
  tool("build", "swift", "swift build", /^Package\.swift$/),
  tool("build", "dotnet", "dotnet build", /\.(?:sln|slnx|csproj|fsproj)$/),
  nodeTool(
    "format",
    "prettier",
    "prettier --check .",
    /^\.prettierrc(?:\.\w+)?$|^prettier\.config\.[cm]?[jt]s$/,
  ),
  tool("format", "cargo", "cargo fmt --check", CARGO),
];
