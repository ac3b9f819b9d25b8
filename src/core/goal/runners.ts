/** Test runners and build tools that can be named in a phrase, with the words that may follow them. */

/** The words as a command when they are a known runner with plain arguments; null: not known. */
export function runnerCommand(words: readonly string[]): string | null {
  if (!words.every((word) => SAFE.test(word))) return null;
  const line = words.join(" ");
  const [start] = RUNNERS.flatMap((runner) => runner.exec(line)?.[0] ?? []);
  if (start === undefined) return null;
  const rest = words.slice(start.split(" ").length);
  return rest.every((word, i) => isArgument(word, rest[i - 1])) ? line : null;
}

/** Installed in the project, and called by its package manager. */
export function isNodeTool(command: string): boolean {
  return NODE_TOOL.test(command);
}

const NODE_TOOL = /^(?:vitest|jest|mocha|ava|playwright|cypress|tsc|vue-tsc|eslint|biome|prettier)(?=$| )/;

/** Nothing that a shell reads as more than a letter. */
const SAFE = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** "npm test finally passes": an argument is a flag, the value of one, or looks like a path. */
function isArgument(word: string, before: string | undefined): boolean {
  if (/^-/.test(word) || /[./:=\d]/.test(word)) return true;
  return before !== undefined && /^--?\w/.test(before) && !before.includes("=");
}

const WORD = "[A-Za-z0-9_:.@/-]+";
/** Each ends at a word's end. */
const RUNNERS: readonly RegExp[] = [
  "npm (?:test|t)",
  `npm run(?: -s| --silent)? ${WORD}`,
  "(?:pnpm|yarn|bun) test",
  `(?:pnpm|yarn|bun) run(?: -s| --silent)? ${WORD}`,
  "(?:npx |pnpm exec |yarn exec |bunx )?(?:vitest run|vitest|jest|mocha|ava|playwright test|cypress run)",
  "(?:npx |pnpm exec |yarn exec |bunx )?(?:tsc|vue-tsc|eslint|biome check|biome lint|biome ci|prettier --check)",
  "node --test",
  "deno (?:test|lint|check|fmt --check)",
  "(?:uv run |poetry run |python -m |python3 -m )?(?:pytest|mypy|ruff check|tox|unittest|nox)",
  "cargo (?:test|build|check|clippy|nextest run|fmt --check)",
  "go (?:test|build|vet)",
  "golangci-lint run",
  `(?:make|just) ${WORD}`,
  "(?:mvn|\\./mvnw)(?: -q)? (?:test|verify|compile|package)",
  "(?:gradle|\\./gradlew) (?:test|build|check)",
  "dotnet (?:test|build)",
  "mix (?:test|compile)",
  "swift (?:test|build)",
  "(?:bundle exec )?(?:rspec|rubocop|rake test)",
  "(?:\\./)?(?:vendor/bin/)?phpunit",
  "composer test",
].map((start) => new RegExp(`^${start}(?=$| )`));
