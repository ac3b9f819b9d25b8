/** What is known of a test command that ran. */

/** They run the tests themselves, and print a summary of their own. */
export type DirectRunner =
  | "vitest"
  | "jest"
  | "mocha"
  | "node"
  | "bun"
  | "pytest"
  | "unittest"
  | "go"
  | "cargo"
  | "nextest"
  | "rspec"
  | "phpunit"
  | "dotnet"
  | "maven"
  | "gradle";

/** They start a runner that only its summary tells. */
export type DelegatingRunner =
  | "npm"
  | "pnpm"
  | "yarn"
  | "turbo"
  | "nx"
  | "make"
  | "just"
  | "composer"
  | "rake"
  | "tox"
  | "nox";

export type TestRunner = DirectRunner | DelegatingRunner;

/** `broken`: it could not run (syntax, compiler, collection), or found nothing to run; the latter has no failures. */
export type TestOutcome = "passed" | "failed" | "broken";

export interface TestFailure {
  /** With the file in front where the output has it: `src/a.test.ts > cart > adds up`. */
  readonly name: string;
  readonly message: string;
}

export interface TestRun {
  readonly runner: TestRunner;
  readonly outcome: TestOutcome;
  readonly passed?: number;
  readonly failed?: number;
  /** At most 20, each one line and of limited length. */
  readonly failures: readonly TestFailure[];
}
