/** What pytest and unittest print. */
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

const PYTEST_SUMMARY =
  /^=*\s*((?:\d+ (?:failed|passed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)(?:, )?)+|no tests ran) in [\d.]+s/;

export const readPytest: OutputReader = (lines) => {
  const summaries = matchesIn(lines, PYTEST_SUMMARY).map(({ groups }) => groups[0] ?? "");
  const failures = tidyFailures(pytestBlocks(lines));
  if (summaries.length === 0) return conftestError(lines);
  const passed = sum(summaries.map((line) => figure(line, /passed/)));
  const failed = sum(summaries.map((line) => figure(line, /failed/)));
  const errors = sum(summaries.map((line) => figure(line, /errors?/)));
  // An error of a fixture fails its test; one of the collection keeps the tests from running.
  const isCollection = lines.some((line) =>
    /^!+ .*errors? during collection|^_+ ERROR collecting /.test(line),
  );
  const ran = failed + (isCollection ? 0 : errors);
  const isEmpty =
    passed + failed + errors === 0 && summaries.every((line) => /no tests ran|deselected/.test(line));
  return {
    outcome: isEmpty ? "broken" : outcomeOf(ran, errors),
    passed,
    failed: ran,
    failures: ran + errors === 0 ? [] : failures,
  };
};

/** `FAILED tests/test_cart.py::test_plain - AssertionError: …`; the whole message stands in its section. */
function pytestBlocks(lines: readonly string[]): TestFailure[] {
  const sections = pytestSections(lines);
  const listed = matchesIn(lines, /^(?:FAILED|ERROR) (\S+\.py(?:::.+?)?)(?: - (.*))?$/).map(
    ({ groups: [name = "", short = ""] }) => {
      const [file = "", ...titles] = name.split("::");
      const title = titles.join(".");
      const whole = sections.get(title) ?? sections.get(`ERROR at setup of ${titles.at(-1)}`);
      return { name, message: whole ?? sections.get(`ERROR collecting ${file}`) ?? short };
    },
  );
  if (listed.length > 0) return listed;
  return [...sections].map(([title, message]) => ({
    name: title.replace(/^ERROR collecting /, ""),
    message,
  }));
}

function pytestSections(lines: readonly string[]): Map<string, string> {
  const sections = new Map<string, string>();
  let title: string | null = null;
  for (const [at, line] of lines.entries()) {
    const [, found] = /^_{3,} (\S.*?) _{3,}$/.exec(line) ?? [];
    if (found !== undefined) title = found;
    else if (/^=+ /.test(line)) title = null;
    else if (title !== null && /^E {3}/.test(line) && !sections.has(title)) {
      sections.set(title, messageFrom(lines, at, /^(?!E {3})/).replaceAll(/(?:^| )E {3,}/g, " "));
    }
  }
  return sections;
}

function conftestError(lines: readonly string[]): ReturnType<OutputReader> {
  const [found] = matchesIn(lines, /^(?:ImportError|\w*Error) while loading conftest '(.+)'\.$/);
  const [internal] = matchesIn(lines, /^INTERNALERROR> (\w*(?:Error|Exception)\b.*)$/);
  if (found === undefined && internal === undefined) return null;
  const error = lines.find((line) => /^E {3}/.test(line))?.replace(/^E +/, "");
  const failure = { name: found?.groups[0] ?? "pytest", message: error ?? internal?.groups[0] ?? "" };
  return { outcome: "broken", failures: tidyFailures([failure]) };
}

/** What stands for a module that could not be imported. */
const UNLOADED = /^unittest\.loader\._FailedTest\./;

export const readUnittest: OutputReader = (lines) => {
  const ran = matchesIn(lines, /^Ran (\d+) tests? in [\d.]+s$/);
  const results = matchesIn(lines, /^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$/).map(
    ({ groups }) => groups[0] ?? "",
  );
  if (ran.length === 0 || results.length === 0) return null;
  const count = (word: string) =>
    sum(results.map((text) => Number(new RegExp(`(?:^|, )${word}=(\\d+)`).exec(text)?.[1] ?? 0)));
  const blocks = unittestBlocks(lines);
  const unloaded = blocks.filter(({ name }) => UNLOADED.test(name)).length;
  const failed = count("failures") + count("errors") + count("unexpected successes") - unloaded;
  const total = sum(ran.map(({ groups }) => Number(groups[0])));
  return {
    outcome: total === 0 ? "broken" : outcomeOf(failed, unloaded),
    passed: Math.max(0, total - failed - unloaded - count("skipped") - count("expected failures")),
    failed: Math.max(0, failed),
    failures: tidyFailures(blocks.map((block) => ({ ...block, name: block.name.replace(UNLOADED, "") }))),
  };
};

/** `FAIL: test_discount (tests.test_cart.CartTest.test_discount)`; the error is the last word of the traceback. */
function unittestBlocks(lines: readonly string[]): TestFailure[] {
  const found = matchesIn(lines, /^(?:FAIL|ERROR): (\S+) \((.+?)\)/).slice(0, ENOUGH);
  return found.map(({ at, groups: [method = "", path = ""] }) => {
    const end = lines.findIndex((line, i) => i > at + 2 && /^(?:={20,}|-{20,})$/.test(line));
    const block = lines.slice(at + 2, Math.min(end === -1 ? lines.length : end, at + 200));
    const errors = block.filter((line) =>
      /^[A-Za-z_][\w.]*(?:Error|Exception|Warning|Failure|Exit|Interrupt|Timeout)\b/.test(line),
    );
    const message =
      errors.at(-1) ?? block.find((line) => /^[^\s-]/.test(line) && !line.startsWith("Traceback")) ?? "";
    return { name: path.endsWith(`.${method}`) ? path : `${path}.${method}`, message };
  });
}
