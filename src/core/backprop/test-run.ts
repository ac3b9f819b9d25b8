/**
 * Whether an agent's command was a test run, and how it ended (D10). The table of tools knows the commands and their
 * output.
 *
 * 1. A command that starts no runner is no test run, whatever it printed: logs quote failures, too.
 * 2. The summary decides. Without one the exit code decides, if it is the runner's own: a pipe or `|| true` hides it,
 *    and a build before the tests may have failed.
 * 3. In doubt it is no run, or no failure. A missed run costs little, because the checks of the loop run anyway. A
 *    false failure misleads the agent.
 * 4. A run that never started (missing script, missing runner, stopped by a person) is no run.
 */
import { cleanText } from "../text/clean.ts";
import { tellingLine } from "../text/telling-line.ts";
import { type RunnerUse, runnerUses } from "../toolchain/invocation.ts";
import { TEST_OUTPUTS } from "../toolchain/table.ts";
import { type FailedTest, readTestOutput, type TestReading, tidy } from "../toolchain/test-output.ts";
import type { TestOutput } from "../toolchain/tool.ts";

export interface FinishedCommand {
  readonly command: string;
  /** null: unknown. */
  readonly exitCode: number | null;
  readonly output: string;
}

export interface TestRun extends TestReading {
  readonly runner: string;
}

/** null: no test run, or its result is unknown. */
export function recogniseTestRun({ command, exitCode, output }: FinishedCommand): TestRun | null {
  const uses = runnerUses(command);
  if (uses.length === 0) return null;
  const text = plainText(output);
  const runs = uses.flatMap((use) => runOf(use, exitCode, text) ?? []);
  return worstOf(runs) ?? runs.at(-1) ?? null;
}

/** The run failed because of the code, so the loop should trace the failure to the spec. */
export function callsForBackprop(run: TestRun | null): run is TestRun {
  return run !== null && (run.outcome === "failed" || (run.outcome === "broken" && run.failures.length > 0));
}

const HEAD = 60_000;
const TAIL = 200_000;
const MAX_LINE = 1_000;

/** The start and the end of an output, without colours and very long lines. */
function plainText(output: string): string {
  const isLong = output.length > HEAD + TAIL;
  const kept = isLong ? `${output.slice(0, HEAD)}\n${output.slice(output.length - TAIL)}` : output;
  return cleanText(kept)
    .split("\n")
    .map((line) => line.slice(0, MAX_LINE).trimEnd())
    .join("\n");
}

function worstOf(runs: readonly TestRun[]): TestRun | undefined {
  const by = (outcome: string) => runs.find((run) => run.outcome === outcome);
  return by("failed") ?? by("broken");
}

function runOf(use: RunnerUse, exitCode: number | null, text: string): TestRun | null {
  const { invocation, tellsFailure, tellsSuccess } = use;
  const ownCode = exitCode === 0 ? (tellsSuccess ? 0 : null) : tellsFailure ? exitCode : null;
  const read = readingOf(use, text);
  if (read !== null) return bySummary(use, read, ownCode, text);
  if (!invocation.isCertain || ownCode === null) return null;
  const runner = invocation.tool.name;
  if (ownCode === 0) return { runner, outcome: "passed", failures: [] };
  if (INTERRUPTED.has(ownCode) || ownCode === NOT_FOUND || NEVER_STARTED.test(text)) return null;
  const outcome = COULD_NOT_RUN.test(text) ? "broken" : "failed";
  return { runner, outcome, failures: [byExitCode(runner, ownCode, text)] };
}

/** SIGINT and SIGTERM. */
const INTERRUPTED: ReadonlySet<number> = new Set([130, 143]);
const TIMED_OUT = 124;
const NOT_FOUND = 127;

const NEVER_STARTED =
  /Missing script:|ERR_PNPM_NO_SCRIPT|Command "[^"\n]*" not found|Couldn't find a script named|Script not found|no test specified|No rule to make target|command not found|: not found$|No module named '?(?:pytest|unittest|tox|nox|coverage)|could not determine executable to run|Could not read package\.json|ENOENT.*package\.json|Could not find '|[Nn]o such (?:sub)?command|is not recognized as|unrecognized arguments|unknown option|Unknown option|MissingProjectException|there is no POM in this directory/m;
const COULD_NOT_RUN =
  /SyntaxError|Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|ModuleNotFoundError|ImportError|error TS\d+|cannot load such file|Parse error|could not compile|COMPILATION ERROR|[Cc]ompilation (?:failed|error)|build failed|Build FAILED|BUILD FAILED/;

/** In a workspace, package managers start each line with the name of the package. */
const PREFIX = /^[@\w./-]+[ :][\w:-]*test[\w:-]*[:$] ?/gm;

function readingOf({ invocation: { tool, isDelegating } }: RunnerUse, text: string): TestRun | null {
  const own = isDelegating ? undefined : tool.tests?.output;
  if (own !== undefined) return readWith([[tool.name, own]], text);
  const isForPackages = tool.locks !== undefined || tool.name === "turbo";
  const found = readWith(TEST_OUTPUTS, text);
  return found ?? (isForPackages ? readWith(TEST_OUTPUTS, text.replaceAll(PREFIX, "")) : null);
}

/** The first failed run: one script may start several runners. */
function readWith(outputs: readonly (readonly [string, TestOutput])[], text: string): TestRun | null {
  const runs = outputs.flatMap(([runner, output]) => {
    const reading = readTestOutput(output, text);
    return reading === null ? [] : [{ runner, ...reading }];
  });
  return worstOf(runs) ?? runs[0] ?? null;
}

function bySummary({ invocation }: RunnerUse, run: TestRun, ownCode: number | null, text: string): TestRun {
  const { runner, outcome } = run;
  const isOwn = !invocation.isDelegating && invocation.isCertain;
  // No runner exits with 0 after failed tests: the tests printed this summary.
  if (isOwn && ownCode === 0 && outcome !== "passed") return { runner, outcome: "passed", failures: [] };
  const hasFailed = ownCode !== null && ownCode !== 0 && !INTERRUPTED.has(ownCode);
  // Coverage was too low, or something failed outside of the tests.
  const isRed = outcome === "failed" || (isOwn && hasFailed && outcome === "passed");
  if (isRed && outcome === "passed" && run.passed === 0) return { ...run, outcome: "broken" };
  if (!isRed || run.failures.length > 0) return run;
  return { ...run, outcome: "failed", failures: [byExitCode(runner, ownCode, text)] };
}

/** For an output that names no test: its most useful line. */
function byExitCode(runner: string, exitCode: number | null, text: string): FailedTest {
  const said = exitCode === TIMED_OUT ? "timed out" : tellingLine(text.split("\n").slice(-60).join("\n"));
  const [failure] = tidy([{ name: runner, message: said }]);
  return failure ?? { name: runner, message: "" };
}
