/** What Maven (surefire), Gradle, RSpec and PHPUnit print. */
import { figure, matchesIn, messageFrom, type OutputReader, outcomeOf, sum, tidyFailures } from "./lines.ts";
import type { TestFailure } from "./run.ts";

const JAVA_STACK = /^\s+at |^\s*$|^\[(?:ERROR|INFO)\]/;

export const readMaven: OutputReader = (lines) => {
  const pattern = /^(?:\[\w+\] )?\s*Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(.*)$/;
  const all = matchesIn(lines, pattern).map(({ groups }) => ({
    figures: groups.slice(0, 4).map(Number),
    rest: groups[4] ?? "",
  }));
  // One line for each class with its time, and one for all of them. A run that is quiet or cut off may lack the latter.
  const totals = all.filter(({ rest }) => !rest.includes("Time elapsed"));
  const summaries = totals.length > 0 ? totals : all;
  const compiler = javaCompiler(lines, /COMPILATION ERROR/);
  if (summaries.length === 0) {
    return compiler.length > 0 ? { outcome: "broken", failures: tidyFailures(compiler) } : null;
  }
  const column = (index: number) => sum(summaries.map(({ figures }) => figures[index] ?? 0));
  const failed = column(1) + column(2);
  const outcome = outcomeOf(failed, compiler.length);
  return {
    outcome,
    passed: Math.max(0, column(0) - failed - column(3)),
    failed,
    failures: outcome === "passed" ? [] : tidyFailures([...mavenBlocks(lines), ...compiler]),
  };
};

/** `[ERROR] shop.CartTest.discount -- Time elapsed: 0.008 s <<< FAILURE!`; before 3.0 `discount(shop.CartTest)`. */
function mavenBlocks(lines: readonly string[]): TestFailure[] {
  const blocks = matchesIn(
    lines,
    /^(?:\[ERROR\] )?(\S+?)(?: --)?\s+Time elapsed: .*<<< (?:FAILURE|ERROR)!$/,
  ).map(({ at, groups: [name = ""] }) => ({
    name: name.replace(/^(\w+)\((.+)\)$/, "$2.$1"),
    message: messageFrom(lines, at + 1, JAVA_STACK),
  }));
  if (blocks.length > 0) return blocks;
  return matchesIn(lines, /^\[ERROR\] {3}(\w+\.\w+):\d+ (.*)$/).map(
    ({ groups: [name = "", message = ""] }) => ({ name, message }),
  );
}

function javaCompiler(lines: readonly string[], sign: RegExp): TestFailure[] {
  if (!lines.some((line) => sign.test(line))) return [];
  return matchesIn(
    lines,
    /^(?:\[ERROR\] )?(?:e: )?(?:file:\/\/)?(\/?\S+\.(?:java|kt|scala|groovy)):\[?\d+[,:]?(?:\d+\])?:? ?(.*)$/,
  ).map(({ groups: [name = "", message = ""] }) => ({
    name,
    message: `compilation error: ${message.replace(/^error: /, "")}`,
  }));
}

export const readGradle: OutputReader = (lines) => {
  const results = matchesIn(lines, /^(\d+ tests? completed, .*)$/).map(({ groups }) => groups[0] ?? "");
  const isSuccess = lines.some((line) => /^BUILD SUCCESSFUL\b/.test(line));
  const isFailed = results.length > 0 || lines.some((line) => /^> There were failing tests/.test(line));
  const compiler = javaCompiler(lines, /^> Compilation (?:failed|error)|:compile\w+ FAILED$/);
  if (isFailed) {
    const failed = sum(results.map((line) => figure(line, /failed/)));
    const total = sum(results.map((line) => figure(line, /tests? completed/)));
    const skipped = sum(results.map((line) => figure(line, /skipped/)));
    return {
      outcome: "failed",
      ...(results.length === 0 ? {} : { passed: Math.max(0, total - failed - skipped), failed }),
      failures: tidyFailures(gradleBlocks(lines)),
    };
  }
  if (compiler.length > 0) return { outcome: "broken", failures: tidyFailures(compiler) };
  return isSuccess ? { outcome: "passed", failures: [] } : null;
};

function gradleBlocks(lines: readonly string[]): TestFailure[] {
  return matchesIn(lines, /^(\S.* > .*?) FAILED$/).map(({ at, groups: [name = ""] }) => ({
    name,
    message: messageFrom(lines, at + 1, JAVA_STACK),
  }));
}

export const readRspec: OutputReader = (lines) => {
  const results = matchesIn(lines, /^(\d+ examples?, \d+ failures?.*)$/).map(({ groups }) => groups[0] ?? "");
  if (results.length === 0) return null;
  const failed = sum(results.map((line) => figure(line, /failures?/)));
  const errors = sum(results.map((line) => figure(line, /errors?/)));
  const total = sum(results.map((line) => figure(line, /examples?/)));
  return {
    outcome: outcomeOf(failed, errors),
    passed: Math.max(0, total - failed - sum(results.map((line) => figure(line, /pending/)))),
    failed,
    failures: tidyFailures([
      ...rspecBlocks(lines),
      ...rspecLoads(lines),
      ...(failed > 0 ? rspecList(lines) : []),
    ]),
  };
};

function rspecBlocks(lines: readonly string[]): TestFailure[] {
  const start = lines.indexOf("Failures:");
  if (start === -1) return [];
  return matchesIn(lines.slice(start), /^ {2}\d+\) (\S.*)$/).map(({ at, groups: [name = ""] }) => {
    const block = lines.slice(start + at + 1, start + at + 40);
    const [, file] =
      block.map((line) => /^\s+# \.\/(\S+?):\d+/.exec(line)).find((found) => found !== null) ?? [];
    const message = messageFrom(block, 0, /^\s+# |^\s*\^+$|^ {2}\d+\) /).replace(/^Failure\/Error: /, "");
    return { name: file === undefined ? name : `${file} > ${name}`, message };
  });
}

function rspecLoads(lines: readonly string[]): TestFailure[] {
  return matchesIn(lines, /^An error occurred while loading (?:\.\/)?(\S+?)\.?(?: - Did you mean\?)?$/).map(
    ({ at, groups: [name = ""] }) => {
      const error = lines
        .slice(at, at + 20)
        .findIndex((line) => /^\w+(?:::\w+)*(?:Error|Exception):/.test(line));
      return { name, message: messageFrom(lines, error === -1 ? at + 1 : at + error, /^# /) };
    },
  );
}

/** For an output of which the beginning is cut off. */
function rspecList(lines: readonly string[]): TestFailure[] {
  if (lines.includes("Failures:")) return [];
  return matchesIn(lines, /^rspec (?:\.\/)?(\S+?)(?::\d+|\[[\d:]+\]) # (.*)$/).map(
    ({ groups: [file = "", name = ""] }) => ({
      name: `${file} > ${name}`,
      message: "",
    }),
  );
}

export const readPhpunit: OutputReader = (lines) => {
  const green = matchesIn(lines, /^OK \((\d+) tests?, \d+ assertions?\)$/);
  const red = matchesIn(lines, /^(Tests: \d+, Assertions: \d+.*)\.$/).map(({ groups }) => groups[0] ?? "");
  const [fatal] = matchesIn(lines, /^(?:PHP )?((?:Fatal|Parse) error: .*)$/);
  if (green.length + red.length === 0) {
    if (fatal !== undefined)
      return { outcome: "broken", failures: tidyFailures([phpFatal(fatal.groups[0] ?? "")]) };
    return lines.includes("No tests executed!") ? { outcome: "broken", failures: [] } : null;
  }
  const value = (word: string) =>
    sum(red.map((line) => Number(new RegExp(`\\b${word}: (\\d+)`).exec(line)?.[1] ?? 0)));
  const failed = value("Failures") + value("Errors");
  const total = sum(green.map(({ groups }) => Number(groups[0]))) + value("Tests");
  return {
    outcome: outcomeOf(failed, 0),
    passed: Math.max(0, total - failed - value("Skipped") - value("Incomplete")),
    failed,
    failures: failed === 0 ? [] : tidyFailures(phpunitBlocks(lines)),
  };
};

function phpFatal(text: string): TestFailure {
  return { name: / in (\S+\.php)\b/.exec(text)?.[1] ?? "phpunit", message: text };
}

/** Below `There was 1 failure:`, not below `There was 1 risky test:`. */
function phpunitBlocks(lines: readonly string[]): TestFailure[] {
  let isRed = false;
  return lines.flatMap((line, at) => {
    const [, kind] = /^There (?:was|were) \d+ (.+):$/.exec(line) ?? [];
    if (kind !== undefined) isRed = /^(?:failures?|errors?)$/.test(kind);
    const [, name] = /^\d+\) (\S+::.+)$/.exec(line) ?? [];
    if (name === undefined || !isRed) return [];
    return [{ name, message: messageFrom(lines, at + 1, /^(?:\/|[A-Z]:\\|\d+\) |--$|\w\S*\.php:\d+)/) }];
  });
}
