/** What `node --test` prints, as spec and as TAP. */
import { matchesIn, messageFrom, type OutputReader, sum, tidyFailures } from "./lines.ts";
import type { TestFailure } from "./run.ts";

export const readNode: OutputReader = (lines) => {
  const count = (word: string) => matchesIn(lines, new RegExp(`^(?:ℹ|#) ${word} (\\d+)$`));
  const [tests, pass, fail] = [count("tests"), count("pass"), count("fail")];
  if (fail.length === 0 || tests.length + pass.length === 0) return null;
  const total = (found: typeof tests) => sum(found.map(({ groups }) => Number(groups[0])));
  const failed = total(fail) + total(count("cancelled"));
  const failures = tidyFailures([...specBlocks(lines), ...tapBlocks(lines)]).map((failure) =>
    isWholeFile(failure) ? { ...failure, message: loadError(lines) ?? failure.message } : failure,
  );
  const isBroken = failures.length > 0 && failures.length >= failed && failures.every(isLoadFailure);
  return {
    outcome: failed === 0 ? "passed" : isBroken ? "broken" : "failed",
    passed: total(pass),
    failed,
    failures: failed === 0 ? [] : failures,
  };
};

const FILE = /\.[cm]?[jt]sx?$/;

/** A file is a test of its own when its process ended with an error. */
function isWholeFile({ name, message }: TestFailure): boolean {
  return FILE.test(name) && /^'?test failed'?$/.test(message);
}

function isLoadFailure({ name, message }: TestFailure): boolean {
  return (
    FILE.test(name) &&
    /SyntaxError|ERR_MODULE_NOT_FOUND|Cannot find (?:module|package)|does not provide an export/.test(message)
  );
}

function loadError(lines: readonly string[]): string | null {
  const line = lines.find((text) => /^(?:# )?(?:Uncaught )?\w*Error\b[^:]*: /.test(text));
  return line?.replace(/^# /, "") ?? null;
}

/** The list behind `✖ failing tests:`, or, when that is cut off, the marks in the tree. */
function specBlocks(lines: readonly string[]): TestFailure[] {
  const list = lines.lastIndexOf("✖ failing tests:");
  const rest = list === -1 ? lines : lines.slice(list + 1);
  return matchesIn(rest, /^\s*✖ (.+?)(?: \([\d.]+ms\))?$/).flatMap(({ at, groups: [title = ""] }) => {
    const [, file] = /^test at (.+?):\d+:\d+$/.exec(rest[at - 1] ?? "") ?? [];
    const message = messageFrom(rest, at + 1, /^\s*at |^test at |^\s*[✖✔▶﹣ℹ] |^\s+\w+: /);
    // A suite says no more than that one of its tests failed.
    if (list === -1 && message === "") return [];
    const isFile = FILE.test(title);
    return [{ name: file === undefined || isFile ? (file ?? title) : `${file} > ${title}`, message }];
  });
}

function tapBlocks(lines: readonly string[]): TestFailure[] {
  return matchesIn(lines, /^\s*not ok \d+ - (.+)$/).flatMap(({ at, groups: [title = ""] }) => {
    if (/ # (?:TODO|SKIP)\b/i.test(title)) return [];
    const detail = lines.slice(at + 1, at + 40);
    const end = detail.findIndex((line) => /^\s*\.\.\.$/.test(line));
    const yaml = detail.slice(0, end === -1 ? undefined : end);
    if (yaml.some((line) => /failureType: 'subtestsFailed'/.test(line))) return [];
    const value = (key: string) => yaml.findIndex((line) => line.trim().startsWith(`${key}: `));
    const [error, location, kind] = [value("error"), value("location"), value("name")];
    const [, text = ""] = /error: (.*)$/.exec(yaml[error] ?? "") ?? [];
    const message = /^[|>]-?$/.test(text)
      ? messageFrom(yaml, error + 1, /^\s*(?:code|name|stack|expected|actual|operator):/)
      : text.replace(/^(["'])(.*)\1$/, "$2");
    const [, type = ""] = /name: '(\w+)'/.exec(yaml[kind] ?? "") ?? [];
    const [, file] = /location: '(.+?):\d+:\d+'/.exec(yaml[location] ?? "") ?? [];
    return [
      {
        name: file === undefined || FILE.test(title) ? title : `${file} > ${title}`,
        message: type === "" ? message : `${type}: ${message}`,
      },
    ];
  });
}
