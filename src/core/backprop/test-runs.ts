/**
 * Whether a command that an agent ran was a run of tests, and how it ended (D10).
 *
 * 1. A command that starts no runner is no run, whatever it printed: logs and messages quote failures too.
 * 2. The summary decides. The exit code does where there is none, and only where it is the runner's own: a pipe or
 *    `|| true` hides it, and a build in front of the tests may be what failed.
 * 3. In doubt it is no run, or no failure. One that is missed costs little, since the checks of the loop run besides;
 *    one that was not there sends an agent after it.
 * 4. A run that was not one (no such script, runner not installed, ended by a person) is none.
 */
import { tellingLine } from "../text/telling-line.ts";
import { linesOf, type OutputReader, type Reading, tidyFailures } from "./lines.ts";
import { readCargo, readDotnet, readGo, readNextest } from "./output-compiled.ts";
import { readBun, readJest, readMocha, readVitest } from "./output-js.ts";
import { readNode } from "./output-node.ts";
import { readGradle, readMaven, readPhpunit, readRspec } from "./output-others.ts";
import { readPytest, readUnittest } from "./output-python.ts";
import type { DirectRunner, TestFailure, TestRun, TestRunner } from "./run.ts";
import { type RunnerUse, runnerUses } from "./runner-uses.ts";

export interface FinishedCommand {
  readonly command: string;
  /** null: not known. */
  readonly exitCode: number | null;
  readonly output: string;
}

/** null: it ran no tests, or nothing is known of how they ended. */
export function recogniseTestRun({ command, exitCode, output }: FinishedCommand): TestRun | null {
  const uses = runnerUses(command);
  if (uses.length === 0) return null;
  const lines = linesOf(output);
  const runs = uses.flatMap((use) => runOf(use, exitCode, lines) ?? []);
  const worst = (["failed", "broken"] as const).flatMap(
    (outcome) => runs.find((run) => run.outcome === outcome) ?? [],
  );
  return worst[0] ?? runs.at(-1) ?? null;
}

/** Does it say something of the code, so that the loop should trace it to the spec? */
export function callsForBackprop(run: TestRun | null): run is TestRun {
  return run !== null && (run.outcome === "failed" || (run.outcome === "broken" && run.failures.length > 0));
}

type Entry = readonly [DirectRunner, OutputReader];

const READERS: readonly Entry[] = [
  ["vitest", readVitest],
  ["jest", readJest],
  ["node", readNode],
  ["mocha", readMocha],
  ["pytest", readPytest],
  ["unittest", readUnittest],
  ["cargo", readCargo],
  ["nextest", readNextest],
  ["bun", readBun],
  ["rspec", readRspec],
  ["phpunit", readPhpunit],
  ["maven", readMaven],
  ["gradle", readGradle],
  ["dotnet", readDotnet],
  ["go", readGo],
];

function runOf(use: RunnerUse, exitCode: number | null, lines: readonly string[]): TestRun | null {
  const { invocation, tellsFailure, tellsSuccess } = use;
  const read = readingOf(use, lines);
  const ownCode = exitCode === 0 ? (tellsSuccess ? 0 : null) : tellsFailure ? exitCode : null;
  if (read !== null) return bySummary(use, read.runner, read.reading, ownCode, lines);
  if (!invocation.isCertain || ownCode === null) return null;
  const { runner } = invocation;
  if (ownCode === 0) return { runner, outcome: "passed", failures: [] };
  if (INTERRUPTED.has(ownCode) || ownCode === NOT_FOUND) return null;
  if (lines.some((line) => NEVER_STARTED.test(line))) return null;
  const outcome = lines.some((line) => COULD_NOT_RUN.test(line)) ? "broken" : "failed";
  return { runner, outcome, failures: [byExitCode(runner, ownCode, lines)] };
}

/** SIGINT and SIGTERM: somebody ended it. */
const INTERRUPTED: ReadonlySet<number> = new Set([130, 143]);
const TIMED_OUT = 124;
const NOT_FOUND = 127;

const NEVER_STARTED =
  /Missing script:|ERR_PNPM_NO_SCRIPT|Command "[^"]*" not found|Couldn't find a script named|Script not found|no test specified|No rule to make target|command not found|: not found$|No module named '?(?:pytest|unittest|tox|nox|coverage)|could not determine executable to run|Could not read package\.json|ENOENT.*package\.json|Could not find '|[Nn]o such (?:sub)?command|is not recognized as|unrecognized arguments|unknown option|Unknown option|MissingProjectException|there is no POM in this directory/;
const COULD_NOT_RUN =
  /SyntaxError|Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|ModuleNotFoundError|ImportError|error TS\d+|cannot load such file|Parse error|COMPILATION ERROR|[Cc]ompilation (?:failed|error)|build failed|Build FAILED|BUILD FAILED/;

/** Runners that print one behind another's name: packages of a workspace. */
const PREFIXED: ReadonlySet<TestRunner> = new Set(["pnpm", "turbo", "yarn", "npm"]);
const PREFIX = /^[@\w./-]+[ :][\w:-]*test[\w:-]*[:$] ?/;

function readingOf(
  { invocation }: RunnerUse,
  lines: readonly string[],
): { readonly runner: DirectRunner; readonly reading: Reading } | null {
  const { runner, isDelegating } = invocation;
  const own = isDelegating ? undefined : READERS.find(([name]) => name === runner);
  if (own !== undefined) return readWith([own], lines);
  const found = readWith(READERS, lines);
  if (found !== null || !PREFIXED.has(runner)) return found;
  return readWith(
    READERS,
    lines.map((line) => line.replace(PREFIX, "")),
  );
}

/** The first that failed; several kinds of tests may stand behind one script. */
function readWith(entries: readonly Entry[], lines: readonly string[]) {
  const found = entries.flatMap(([runner, read]) => {
    const reading = read(lines);
    return reading === null ? [] : [{ runner, reading }];
  });
  const by = (outcome: string) => found.find(({ reading }) => reading.outcome === outcome);
  return by("failed") ?? by("broken") ?? found[0] ?? null;
}

function bySummary(
  { invocation }: RunnerUse,
  runner: DirectRunner,
  reading: Reading,
  ownCode: number | null,
  lines: readonly string[],
): TestRun {
  const isOwn = !invocation.isDelegating && invocation.isCertain;
  const { outcome } = reading;
  // No runner exits with 0 when tests failed: the summary is of something that the tests print.
  if (isOwn && ownCode === 0 && outcome !== "passed") return { runner, outcome: "passed", failures: [] };
  const run = { runner, ...reading, failures: outcome === "passed" ? [] : reading.failures };
  const hasFailed = ownCode !== null && ownCode !== 0 && !INTERRUPTED.has(ownCode);
  if (isOwn && hasFailed && outcome === "passed") {
    const isEmpty = reading.passed === 0 && reading.failed === 0;
    // Too little of the code was covered, or something failed outside of the tests.
    return isEmpty
      ? { ...run, outcome: "broken" }
      : { ...run, outcome: "failed", failures: [byExitCode(runner, ownCode, lines)] };
  }
  if (outcome !== "failed" || run.failures.length > 0) return run;
  return { ...run, failures: [byExitCode(runner, ownCode, lines)] };
}

/** For an output that names no test: the line of it that tells most. */
function byExitCode(runner: TestRunner, exitCode: number | null, lines: readonly string[]): TestFailure {
  const said = exitCode === TIMED_OUT ? "timed out" : tellingLine(lines.slice(-60).join("\n"));
  const [failure] = tidyFailures([{ name: runner, message: said }]);
  return failure ?? { name: runner, message: "" };
}
