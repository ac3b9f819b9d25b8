/** What the words behind a runner or a package manager mean: a script that tests, or a flag that runs nothing. */
import type { TestRunner } from "./run.ts";

export interface Invocation {
  readonly runner: TestRunner;
  /** It starts another, and says itself no more than an exit code. */
  readonly isDelegating: boolean;
  /** `npm run ci`: it may run tests. Only a summary tells. */
  readonly isCertain: boolean;
}

const TESTS =
  /^(?:tests?|t|tst|spec|specs|unit|e2e|integration|vitest|jest|mocha|pytest|phpunit|rspec|coverage|cov)$/;
/** `test:watch`, `test:types`, `build:test`: no run of tests that ends with a result of theirs. */
const NO_TESTS =
  /^(?:watch|ui|dev|debug|open|serve|server|start|build|compile|lint|format|fmt|fix|types?|typecheck|tsc|install|setup|prepare|clean|seed|db|gen|generate|codegen|report|update|deps)$/;
const MIXED = /^(?:ci|check|checks|verify|validate|all|prepush|precommit|preflight|qa|prepublishonly)$/;

/** certain: it runs tests; possible: only a summary tells. */
export function scriptCertainty(name: string): "certain" | "possible" | null {
  if (isTestScript(name)) return "certain";
  const parts = name.toLowerCase().split(/[:._/-]/);
  return parts.some((part) => MIXED.test(part)) && !parts.some((part) => NO_TESTS.test(part))
    ? "possible"
    : null;
}

export function isTestScript(name: string): boolean {
  const parts = name.toLowerCase().split(/[:._/-]/);
  return parts.some((part) => TESTS.test(part)) && !parts.some((part) => NO_TESTS.test(part));
}

const IDLE_EVERYWHERE =
  "--help --version --watch --watchAll --ui --list --listTests --collect-only --dry-run".split(" ");
/** Flags and words with which a runner runs no tests. */
const IDLE: Readonly<Partial<Record<TestRunner, readonly string[]>>> = {
  vitest: ["-h", "-v", "-w", "list", "watch", "dev", "bench", "init", "--mergeReports"],
  jest: ["-h", "-v", "--showConfig", "--clearCache", "--init", "init"],
  mocha: ["-h", "-V", "-w", "init", "--list-interfaces", "--list-reporters"],
  node: ["-h", "-v", "--check"],
  pytest: ["-h", "-V", "--co", "--fixtures", "--markers", "--setup-plan", "--cache-show"],
  unittest: ["-h"],
  go: ["-h", "-list", "-c", "-n"],
  cargo: ["-h", "--no-run"],
  nextest: ["-h", "--no-run"],
  rspec: ["-h", "-v", "--init"],
  phpunit: [
    "-h",
    "--list-tests",
    "--list-suites",
    "--list-groups",
    "--generate-configuration",
    "--check-version",
  ],
  dotnet: ["-h", "-t", "--list-tests"],
  maven: ["-h", "-v", "-DskipTests", "-DskipTests=true", "-Dmaven.test.skip=true", "-Dmaven.test.skip"],
  gradle: ["-h", "-v", "-m"],
  make: ["-n", "-h", "--just-print"],
  tox: ["-h", "-l", "--notest"],
  nox: ["-h", "-l"],
};

export function isIdle(runner: TestRunner, args: readonly string[]): boolean {
  const own = IDLE[runner] ?? ["-h"];
  const isOwn = (word: string, i: number) => own.includes(word) && (i === 0 || word.startsWith("-"));
  return args.some((word, i) => IDLE_EVERYWHERE.includes(word) || isOwn(word, i));
}
