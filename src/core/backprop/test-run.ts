/**
 * Whether a command that an agent ran was a run of tests, and how it ended (D10). The table of tools knows which
 * commands run tests and how their output looks.
 *
 * 1. A command that starts no runner is no run, whatever it printed: logs and messages quote failures too.
 * 2. The summary decides. The exit code does where there is none, and only where it is the runner's own: a pipe or
 *    `|| true` hides it, and a build in front of the tests may be what failed.
 * 3. In doubt it is no run, or no failure. A run that is missed costs little, because the checks of the loop run
 *    besides. A failure that was not there sends an agent after it.
 * 4. A run that never started (no such script, runner not installed, ended by a person) is none.
 */
import { cleanText } from "../text/clean.ts";
import { tellingLine } from "../text/telling-line.ts";
import { type RunnerUse, runnerUses } from "../toolchain/invocation.ts";
import { TEST_OUTPUTS } from "../toolchain/table.ts";
import { type FailedTest, readTestOutput, type TestReading, tidy } from "../toolchain/test-output.ts";
import type { TestOutput } from "../toolchain/tool.ts";

export interface FinishedCommand {
  readonly command: string;
  /** null: not known. */
  readonly exitCode: number | null;
  readonly output: string;
}

export interface TestRun extends TestReading {
  readonly runner: string;
}

/** null: it ran no tests, or nothing is known of how they ended. */
export function recogniseTestRun({ command, exitCode, output }: FinishedCommand): TestRun | null {
  const uses = runnerUses(command);
  if (uses.length === 0) return null;
  const text = plainText(output);
  const runs = uses.flatMap((use) => runOf(use, exitCode, text) ?? []);
  return worstOf(runs) ?? runs.at(-1) ?? null;
}

/** Does it say something of the code, so that the loop should trace it to the spec? */
export function callsForBackprop(run: TestRun | null): run is TestRun {
  return run !== null && (run.outcome === "failed" || (run.outcome === "broken" && run.failures.length > 0));
}

const HEAD = 60_000;
const TAIL = 200_000;
const MAX_LINE = 1_000;

/** The beginning and the end of an output, without colours, in lines that are not too long for a pattern. */
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

/** SIGINT and SIGTERM: somebody ended it. */
const INTERRUPTED: ReadonlySet<number> = new Set([130, 143]);
const TIMED_OUT = 124;
const NOT_FOUND = 127;

const NEVER_STARTED =
  /Missing script:|ERR_PNPM_NO_SCRIPT|Command "[^"\n]*" not found|Couldn't find a script named|Script not found|no test specified|No rule to make target|command not found|: not found$|No module named '?(?:pytest|unittest|tox|nox|coverage)|could not determine executable to run|Could not read package\.json|ENOENT.*package\.json|Could not find '|[Nn]o such (?:sub)?command|is not recognized as|unrecognized arguments|unknown option|Unknown option|MissingProjectException|there is no POM in this directory/m;
const COULD_NOT_RUN =
  /SyntaxError|Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|ModuleNotFoundError|ImportError|error TS\d+|cannot load such file|Parse error|could not compile|COMPILATION ERROR|[Cc]ompilation (?:failed|error)|build failed|Build FAILED|BUILD FAILED/;

/** Package managers print the name of a package of a workspace in front of each line. */
const PREFIX = /^[@\w./-]+[ :][\w:-]*test[\w:-]*[:$] ?/gm;

function readingOf({ invocation: { tool, isDelegating } }: RunnerUse, text: string): TestRun | null {
  const own = isDelegating ? undefined : tool.tests?.output;
  if (own !== undefined) return readWith([[tool.name, own]], text);
  const found = readWith(TEST_OUTPUTS, text);
  return (
    found ??
    (tool.locks === undefined && tool.name !== "turbo"
      ? null
      : readWith(TEST_OUTPUTS, text.replaceAll(PREFIX, "")))
  );
}

/** The first that failed; several kinds of tests may stand behind one script. */
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
  // no runner exits with 0 when tests failed: the summary is of something that the tests print
  if (isOwn && ownCode === 0 && outcome !== "passed") return { runner, outcome: "passed", failures: [] };
  const hasFailed = ownCode !== null && ownCode !== 0 && !INTERRUPTED.has(ownCode);
  // too little of the code was covered, or something failed outside of the tests
  const isRed = outcome === "failed" || (isOwn && hasFailed && outcome === "passed");
  if (isRed && outcome === "passed" && run.passed === 0) return { ...run, outcome: "broken" };
  if (!isRed || run.failures.length > 0) return run;
  return { ...run, outcome: "failed", failures: [byExitCode(runner, ownCode, text)] };
}

/** For an output that names no test: the line of it that tells most. */
function byExitCode(runner: string, exitCode: number | null, text: string): FailedTest {
  const said = exitCode === TIMED_OUT ? "timed out" : tellingLine(text.split("\n").slice(-60).join("\n"));
  const [failure] = tidy([{ name: runner, message: said }]);
  return failure ?? { name: runner, message: "" };
}
