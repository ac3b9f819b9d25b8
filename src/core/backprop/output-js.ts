/** What vitest, jest, mocha and bun print. */
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

const STACK = /^\s*(?:at |❯ |⎯|\d+ ?\||> ?\d+ ?\||FAIL\b|Caused by:|Test Files {2}|Tests {2})/;

export const readVitest: OutputReader = (lines) => {
  const tests = matchesIn(lines, /^\s*Tests {2,}(no tests|\d+ .*)$/).map(({ groups }) => groups[0] ?? "");
  const files = matchesIn(lines, /^\s*Test Files {2,}(\d+ .*)$/).map(({ groups }) => groups[0] ?? "");
  const isEmpty = lines.some((line) => /^No test files found/.test(line));
  if (tests.length + files.length === 0) return isEmpty ? { outcome: "broken", failures: [] } : null;
  const failed = sum(tests.map((line) => figure(line, /failed/)));
  const passed = sum(tests.map((line) => figure(line, /passed/)));
  const brokenFiles = failed > 0 ? 0 : sum(files.map((line) => figure(line, /failed/)));
  // Errors outside of tests fail a run in which every test passed.
  const unhandled = matchesIn(lines, /^\s*Errors {2,}(\d+) errors?$/).length;
  const failures = tidyFailures([...vitestBlocks(lines), ...vitestMarks(lines)]);
  const outcome = unhandled > 0 && brokenFiles === 0 ? "failed" : outcomeOf(failed, brokenFiles);
  return { outcome, passed, failed, failures: outcome === "passed" ? [] : failures };
};

/** ` FAIL  src/cart.test.ts > cart > waits`; tests with one error stand above it together. */
function vitestBlocks(lines: readonly string[]): TestFailure[] {
  const found = matchesIn(lines, /^ ?FAIL {2,}(?:\|[^|]+\| +)?(\S.*)$/).slice(0, ENOUGH);
  const blocks = found.map(({ at, groups: [name = ""] }) => {
    let from = at + 1;
    while (/^ ?FAIL {2}/.test(lines[from] ?? "")) from++;
    return { name: name.replace(/ \[ .* \]$/, ""), message: messageFrom(lines, from, STACK) };
  });
  const stray = matchesIn(lines, /^⎯+ (Unhandled (?:Error|Rejection|Exception)s?) ⎯+$/).map(
    ({ at, groups: [name = ""] }) => ({
      name,
      message: messageFrom(lines, at + 1, STACK),
    }),
  );
  return [...blocks, ...(blocks.length === 0 ? stray : [])];
}

/** The list at the top, for an output of which the end is not there. */
function vitestMarks(lines: readonly string[]): TestFailure[] {
  if (lines.some((line) => /^ ?FAIL {2}/.test(line))) return [];
  return matchesIn(lines, /^ +[×✗] (.+?)(?: \d+ms)?$/).map(({ at, groups: [name = ""] }) => ({
    name,
    message: /^ +→ (.*)$/.exec(lines[at + 1] ?? "")?.[1] ?? "",
  }));
}

export const readJest: OutputReader = (lines) => {
  const tests = matchesIn(lines, /^Tests: +(.*\d+ total)$/).map(({ groups }) => groups[0] ?? "");
  const suites = matchesIn(lines, /^Test Suites: +(.*\d+(?: of \d+)? total)$/).map(
    ({ groups }) => groups[0] ?? "",
  );
  const isEmpty = lines.some((line) => /^No tests found, exiting with code/.test(line));
  if (tests.length + suites.length === 0) return isEmpty ? { outcome: "broken", failures: [] } : null;
  const failed = sum(tests.map((line) => figure(line, /failed/)));
  const brokenSuites = failed > 0 ? 0 : sum(suites.map((line) => figure(line, /failed/)));
  const outcome = outcomeOf(failed, brokenSuites);
  return {
    outcome,
    passed: sum(tests.map((line) => figure(line, /passed/))),
    failed,
    failures: outcome === "passed" ? [] : tidyFailures(jestBlocks(lines)),
  };
};

/** `  ● cart › waits` below `FAIL test/cart.test.js`. */
function jestBlocks(lines: readonly string[]): TestFailure[] {
  let file = "";
  let isFailing = false;
  return lines.flatMap((line, at) => {
    const [, word, path = ""] = /^(FAIL|PASS) (?:\S+ )??([^\s(]+\.\w+)(?: \(.*\))?$/.exec(line) ?? [];
    if (word !== undefined) {
      file = path;
      isFailing = word === "FAIL";
    }
    const [, title] = /^ {2}● (.+)$/.exec(line) ?? [];
    if (title === undefined || !isFailing || title === "Console") return [];
    const name = title === "Test suite failed to run" ? file : `${file} › ${title}`;
    return [{ name, message: messageFrom(lines, at + 1, /^\s*(?:at |\d+ \||> \d+ \||● )/) }];
  });
}

const MOCHA_STACK = /^\s+at Context\.<anonymous> \(/;

export const readMocha: OutputReader = (lines) => {
  const passing = matchesIn(lines, /^\s*(\d+) passing \(/);
  const failing = matchesIn(lines, /^\s*(\d+) failing$/);
  const [thrown] = matchesIn(lines, /^ ?(?:✖ ERROR:|Exception during run:) ?(.*)$/);
  if (passing.length + failing.length === 0) {
    if (thrown !== undefined) return { outcome: "broken", failures: [mochaException(lines, thrown.at)] };
    // Its figures stand above the failures, and `tail` may have cut them off.
    const rest = lines.some((line) => MOCHA_STACK.test(line)) ? tidyFailures(mochaBlocks(lines, -1)) : [];
    if (rest.length > 0) return { outcome: "failed", failures: rest };
    return lines.some((line) => /^Error: No test files found/.test(line))
      ? { outcome: "broken", failures: [] }
      : null;
  }
  const failed = sum(failing.map(({ groups }) => Number(groups[0])));
  const failures = failing.slice(0, 1).flatMap(({ at }) => mochaBlocks(lines, at));
  return {
    outcome: outcomeOf(failed, 0),
    ...(passing.length === 0 ? {} : { passed: sum(passing.map(({ groups }) => Number(groups[0]))) }),
    failed,
    failures: tidyFailures(failures),
  };
};

/** The file and the error, which stands some lines below it when the syntax is wrong. */
function mochaException(lines: readonly string[], at: number): TestFailure {
  const head = (lines[at] ?? "").replace(/^.*?(?:run|ERROR): ?/, "");
  const error = lines.slice(at, at + 20).find((line) => /^\w*Error\b.*:/.test(line));
  const file = /^(\S+\.\w+):\d+$/.exec(head)?.[1] ?? /^- (\S+)$/.exec(lines[at + 2] ?? "")?.[1];
  return { name: file ?? "mocha", message: error ?? head };
}

/** `  1) cart`, its titles one below the other up to the one that ends with a colon, and the error. */
function mochaBlocks(lines: readonly string[], from: number): TestFailure[] {
  const failures: TestFailure[] = [];
  for (let i = from + 1; i < lines.length; i++) {
    const [, first] = /^\s{1,8}\d+\) (\S.*)$/.exec(lines[i] ?? "") ?? [];
    if (first === undefined) continue;
    const titles = [first];
    while (!titles.at(-1)?.endsWith(":") && titles.length < 10 && /^\s+\S/.test(lines[i + 1] ?? "")) {
      titles.push((lines[++i] ?? "").trim());
    }
    const name = titles.join(" › ").replace(/:$/, "");
    failures.push({ name, message: messageFrom(lines, i + 1, /^\s*at |^\s{1,8}\d+\) /) });
  }
  return failures;
}

export const readBun: OutputReader = (lines) => {
  const ran = matchesIn(lines, /^Ran (\d+) tests? across \d+ files?\./);
  if (ran.length === 0) return null;
  const count = (word: string) =>
    sum(matchesIn(lines, new RegExp(`^ ?(\\d+) ${word}$`)).map(({ groups }) => Number(groups[0])));
  const [passed, errors] = [count("pass"), count("errors?")];
  // A file that cannot be read counts as one that fails.
  const failed = Math.max(0, count("fail") - errors);
  return {
    outcome: outcomeOf(failed, errors),
    passed,
    failed,
    failures: tidyFailures(bunBlocks(lines)),
  };
};

/** The error stands above the name, and the file above both. */
function bunBlocks(lines: readonly string[]): TestFailure[] {
  let file = "";
  let message = "";
  return lines.flatMap((line, at) => {
    file = /^(\S+\.\w+):$/.exec(line)?.[1] ?? file;
    if (/^(?:error|\w*Error): /.test(line)) {
      message = messageFrom(lines, at, /^\s+at |^\(|^-{5}/);
      const isOutside = lines
        .slice(Math.max(0, at - 12), at)
        .some((above) => /^# Unhandled error/.test(above));
      return isOutside ? [{ name: file, message }] : [];
    }
    const [, name] = /^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$/.exec(line) ?? [];
    const failure = name === undefined ? [] : [{ name: file === "" ? name : `${file} > ${name}`, message }];
    if (/^\((?:fail|pass)\)/.test(line)) message = "";
    return failure;
  });
}
