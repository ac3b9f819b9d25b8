// Runs a command that runs vitest, then prints its ten slowest tests and the CPU time of all its processes.
//   node scripts/slow-tests.mjs [--limit <CPU seconds>] npm test
// Exit code: that of the command; 1 when it passed but used more than the limit. CPU time and not minutes: a busy
// machine changes the minutes of a run, but hardly its CPU time.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SHOWN = 10;
const CLOCK_TICKS = 100;

const args = process.argv.slice(2);
const limit = args[0] === "--limit" ? Number(args.splice(0, 2)[1]) : Number.POSITIVE_INFINITY;
if (Number.isNaN(limit) || args.length === 0) {
  console.error("usage: node scripts/slow-tests.mjs [--limit <CPU seconds>] <command that runs vitest>");
  process.exit(64);
}

const folder = mkdtempSync(join(tmpdir(), "loopwright-slow-tests-"));
const report = join(folder, "report.json");
try {
  process.exitCode = run();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function run() {
  const [program, ...words] = args;
  const flags = ["--reporter=default", "--reporter=json", `--outputFile=${report}`];
  const separator = program === "npm" && !words.includes("--") ? ["--"] : [];
  const { status } = spawnSync(program, [...words, ...separator, ...flags], { stdio: "inherit" });
  for (const { seconds, file, title } of slowest())
    console.log(`${seconds.toFixed(1).padStart(6)} s  ${file}  ${title}`);
  const used = childrenSeconds();
  console.log(used === null ? "CPU time: not known here" : `CPU time: ${used.toFixed(0)} s`);
  if (status !== 0) return status ?? 1;
  if (used === null || used <= limit) return 0;
  console.error(
    `The tests used ${used.toFixed(0)} s of CPU; the limit is ${limit} s. See the slowest tests above.`,
  );
  return 1;
}

function slowest() {
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  return testResults
    .flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ duration, fullName }) => ({
        seconds: (duration ?? 0) / 1000,
        file: name.split("/test/").at(-1),
        title: fullName,
      })),
    )
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, SHOWN);
}

/** User and system time of all children that have ended, and of theirs; Linux only. */
function childrenSeconds() {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1).split(" ");
    return (Number(fields[13]) + Number(fields[14])) / CLOCK_TICKS;
  } catch {
    return null;
  }
}
