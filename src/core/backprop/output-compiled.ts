/** What `go test`, `cargo test`, `cargo nextest` and `dotnet test` print. */
import {
  ENOUGH,
  figure,
  matchesIn,
  messageFrom,
  type OutputReader,
  outcomeOf,
  sum,
  tidyFailures,
} from "./lines.ts";
import type { TestFailure } from "./run.ts";

export const readGo: OutputReader = (lines) => {
  const packages = matchesIn(lines, /^(ok|FAIL|\?)\s+(\S+)\s+(?:[\d.]+s|\(cached\)|\[.+\]|coverage:.*)/);
  // A bare `PASS` is anybody's word.
  if (packages.length === 0 && !lines.some((line) => /^\s*(?:=== RUN |--- (?:PASS|FAIL): )/.test(line)))
    return null;
  const isFailed = lines.some((line) => line === "FAIL" || /^FAIL\t|^\s*--- FAIL: /.test(line));
  const isPassed = lines.includes("PASS") || packages.some(({ groups }) => groups[0] === "ok");
  if (!isFailed && !isPassed) return { outcome: "passed", failures: [] };
  const tests = goBlocks(lines);
  const builds = goBuilds(lines);
  const hasFailedTest = tests.length > 0;
  // A package that fails without a test of its own: it panicked, or its TestMain ended it.
  const isBroken = isFailed && !hasFailedTest && builds.length > 0;
  const passed = matchesIn(lines, /^\s*--- PASS: (\S+)/).length;
  return {
    outcome: !isFailed ? "passed" : isBroken ? "broken" : "failed",
    ...(passed > 0 ? { passed } : {}),
    ...(hasFailedTest || !isFailed ? { failed: tests.length } : {}),
    failures: tidyFailures([
      ...tests,
      ...builds,
      ...(hasFailedTest || isBroken || !isFailed ? [] : goPanics(lines)),
    ]),
  };
};

/** Only the innermost of `--- FAIL: TestA` and `--- FAIL: TestA/b`. */
function goBlocks(lines: readonly string[]): TestFailure[] {
  const found = matchesIn(lines, /^\s*--- FAIL: (\S+) \(/);
  const outer = new Set(
    found.flatMap(({ groups: [name = ""] }) =>
      name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : [],
    ),
  );
  return found.flatMap(({ at, groups: [name = ""] }) => {
    if (outer.has(name)) return [];
    const below = messageFrom(lines, at + 1, /^(?:\s*--- |FAIL|===|ok|goroutine |PASS)/);
    // With -v what a test printed stands above its result.
    const above = lines.slice(Math.max(0, at - 6), at).findLast((line) => /^\s+\S+\.go:\d+: /.test(line));
    const message = (below === "" ? (above ?? "") : below).trim().replace(/^\S+\.go:\d+: /, "");
    const location = /(\S+_test\.go):\d+: /.exec(below === "" ? (above ?? "") : below)?.[1];
    return [{ name: location === undefined ? name : `${location} > ${name}`, message }];
  });
}

/** `FAIL	example.com/shop/bad [build failed]`, with what the compiler said of it under `# example.com/shop/bad`. */
function goBuilds(lines: readonly string[]): TestFailure[] {
  const found = matchesIn(lines, /^FAIL\s+(\S+) \[(?:build|setup) failed\]$/).slice(0, ENOUGH);
  return found.map(({ groups: [name = ""] }) => {
    const head = lines.findIndex((line) => line.startsWith(`# ${name}`));
    const error = lines.slice(Math.max(0, head)).find((line) => /^\S+\.go:\d+(?::\d+)?: /.test(line));
    return { name, message: `build failed: ${error ?? lines[head + 1] ?? ""}` };
  });
}

function goPanics(lines: readonly string[]): TestFailure[] {
  const message = lines.find((line) => /^(?:panic|fatal error): /.test(line)) ?? "";
  const found = matchesIn(lines, /^FAIL\s+(\S+)\s/);
  return found.map(({ groups: [name = ""] }) => ({ name, message }));
}

const NEXTEST = /^\s*Summary \[.*?\] +(.*tests? run: .*)$/;

export const readCargo: OutputReader = (lines) => {
  // nextest prints the results of single tests in the same words.
  if (lines.some((line) => NEXTEST.test(line))) return null;
  const results = matchesIn(lines, /^test result: \w+\. (\d+ passed; \d+ failed;.*)$/).map(
    ({ groups }) => groups[0] ?? "",
  );
  const failed = sum(results.map((line) => figure(line, /failed/)));
  const compiler = rustCompiler(lines);
  if (results.length === 0 && compiler.length === 0) return null;
  const outcome = outcomeOf(failed, compiler.length);
  return {
    outcome,
    ...(results.length === 0 ? {} : { passed: sum(results.map((line) => figure(line, /passed/))), failed }),
    failures: outcome === "passed" ? [] : tidyFailures([...panics(lines), ...compiler]),
  };
};

export const readNextest: OutputReader = (lines) => {
  const results = matchesIn(lines, NEXTEST).map(({ groups }) => groups[0] ?? "");
  const compiler = rustCompiler(lines);
  if (results.length === 0 && compiler.length === 0) return null;
  const failed = sum(results.map((line) => figure(line, /failed/) + figure(line, /timed out/)));
  const outcome = outcomeOf(failed, compiler.length);
  const named = matchesIn(lines, /^\s*(FAIL|TIMEOUT|SIG\w+|ABORT) \[.*?\] (?:\([\s\d/]+\) )?(\S.*)$/).map(
    ({ groups: [word = "", name = ""] }) => ({ name, message: word === "FAIL" ? "" : word.toLowerCase() }),
  );
  const told = panics(lines);
  return {
    outcome,
    ...(results.length === 0 ? {} : { passed: sum(results.map((line) => figure(line, /passed/))), failed }),
    failures: outcome === "passed" ? [] : tidyFailures([...(told.length > 0 ? told : named), ...compiler]),
  };
};

/** `thread 'tests::x' panicked at src/lib.rs:8:29:` and the message below it; before Rust 1.73 in the same line. */
function panics(lines: readonly string[]): TestFailure[] {
  const told = matchesIn(
    lines,
    /^thread '(.+?)' (?:\(\d+\) )?panicked at (?:'(.*)', )?(\S+?):\d+:\d+:?$/,
  ).map(({ at, groups: [name = "", inLine = "", file = ""] }) => ({
    name: `${file} > ${name}`,
    message: inLine === "" ? messageFrom(lines, at + 1, /^(?:note:|stack backtrace:|----|\s*$)/) : inLine,
  }));
  if (told.length > 0) return told;
  return matchesIn(lines, /^test (\S+) \.\.\. FAILED$/).map(({ groups: [name = ""] }) => ({
    name,
    message: "",
  }));
}

function rustCompiler(lines: readonly string[]): TestFailure[] {
  const [crate] = matchesIn(lines, /^error: could not compile `(.+?)`/);
  if (crate === undefined) return [];
  const errors = matchesIn(lines, /^(error(?:\[E\d+\])?: .*)$/).filter(
    ({ groups: [text = ""] }) => !/could not compile|aborting/.test(text),
  );
  return errors.slice(0, ENOUGH).map(({ at, groups: [message = ""] }) => ({
    name: /--> (\S+?):\d+/.exec(lines[at + 1] ?? "")?.[1] ?? crate.groups[0] ?? "cargo",
    message,
  }));
}

export const readDotnet: OutputReader = (lines) => {
  const short = matchesIn(lines, /^(?:Passed|Failed)! +- (Failed: +\d+, Passed: +\d+,.*)$/).map(
    ({ groups }) => groups[0] ?? "",
  );
  const terminal = matchesIn(lines, /^Test summary: (total: \d+, failed: \d+.*)$/i).map(
    ({ groups }) => groups[0] ?? "",
  );
  const long = matchesIn(lines, /^Total tests: (\d+)/);
  const compiler = matchesIn(lines, /^\s*(\S.*?)\(\d+,\d+\): (error (?:CS|FS|BC)\d+: .*?)(?: \[.*\])?$/);
  if (short.length + terminal.length + long.length + compiler.length === 0) return null;
  const value = (text: string, word: RegExp) =>
    Number(new RegExp(`(?:${word.source}): +(\\d+)`, "i").exec(text)?.[1] ?? 0);
  const summaries = short.length + terminal.length > 0 ? [...short, ...terminal] : [longSummary(lines)];
  const failed = sum(summaries.map((text) => value(text, /failed/)));
  const ran = short.length + terminal.length + long.length > 0;
  return {
    outcome: outcomeOf(failed, ran ? 0 : compiler.length),
    ...(ran ? { passed: sum(summaries.map((text) => value(text, /passed|succeeded/))), failed } : {}),
    failures: tidyFailures([
      ...dotnetBlocks(lines),
      ...(ran ? [] : compiler.map(({ groups: [name = "", message = ""] }) => ({ name, message }))),
    ]),
  };
};

/** `Total tests: 3`, then `     Passed: 2` and `     Failed: 1`. */
function longSummary(lines: readonly string[]): string {
  return lines.filter((line) => /^\s+(?:Passed|Failed): +\d+$/.test(line)).join(", ");
}

function dotnetBlocks(lines: readonly string[]): TestFailure[] {
  const stop = /^\s*(?:Stack Trace:|Standard Output|Failed |Passed )/;
  const classic = matchesIn(lines, /^ {2}Failed (\S.*?) \[.*\]$/).map(({ at, groups: [name = ""] }) => ({
    name,
    message: messageFrom(lines, at + 1, stop).replace(/^Error Message: /, ""),
  }));
  const terminal = matchesIn(lines, /^\s+(\S.*?) \([\d.]+m?s\): Error Message: ?(.*)$/).map(
    ({ at, groups: [name = "", first = ""] }) => ({
      name,
      message: `${first} ${messageFrom(lines, at + 1, stop)}`,
    }),
  );
  return [...classic, ...terminal];
}
