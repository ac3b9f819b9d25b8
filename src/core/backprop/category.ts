/** The kind and the place of a failure, without numbers, paths or times, so that two runs can be compared. */
import { cleanLine } from "../text/clean.ts";
import type { FailedTest } from "../toolchain/test-output.ts";
import type { TestRun } from "./test-run.ts";

const SYSTEMIC = 3;
const MAX_PLACE = 60;

/** Such as `assertion: cart.test.ts`. Independent of the order of the failures. */
export function failureCategory(run: TestRun): string {
  const { failures } = run;
  if (failures.length === 0) return `other: ${run.runner}`;
  const kind = mostFrequent(failures.map(kindOf));
  const place = mostFrequent(failures.filter((failure) => kindOf(failure) === kind).map(placeOf));
  return `${kind}: ${place === "" ? run.runner : place}`;
}

/** `categories`: all that were seen so far, including this one. */
export function isSystemic(categories: readonly string[], category: string): boolean {
  return categories.filter((seen) => seen === category).length >= SYSTEMIC;
}

type Kind =
  | "snapshot"
  | "assertion"
  | "missing-module"
  | "compile"
  | "timeout"
  | "network"
  | "permission"
  | "type"
  | "other";

/** The first match counts: an assertion may quote the words of all other kinds. */
const KINDS: readonly (readonly [Kind, RegExp])[] = [
  ["snapshot", /\bsnapshots?\b|toMatch(?:Inline)?Snapshot/i],
  [
    "assertion",
    /^(?:\S*\.)?Assert\w*|^(?:error: )?expect(?:ed)?\b|^assertion\b|^Failed asserting|^(?:\S+\.)*ComparisonFailure/,
  ],
  [
    "missing-module",
    /Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND|ModuleNotFoundError|No module named|ImportError|LoadError|cannot load such file|unresolved import|Failed to (?:load|resolve)|ClassNotFound|Class "[^"]*" not found/,
  ],
  [
    "compile",
    /SyntaxError|IndentationError|compilation error|build failed|error(?: TS| CS| FS| BC|\[E)\d+|(?:Parse|Fatal) error|Unexpected (?:token|end of file)/,
  ],
  ["timeout", /timed? ?out\b|timeout|deadline exceeded/i],
  [
    "network",
    /ECONN\w+|ENOTFOUND|EAI_AGAIN|EADDRINUSE|connection (?:refused|reset|error)|ConnectionError|fetch failed|socket hang up|UnknownHost|no such host/i,
  ],
  ["permission", /EACCES|EPERM|permission denied|PermissionError|access (?:is )?denied|not permitted/i],
  [
    "type",
    /\b(?:Type|Reference|Range|Name|Attribute|Key|Index|NoMethod|Argument|UnboundLocal)Error\b|NullPointer|NullReference|ClassCast|OutOfBounds|Cannot read propert|is not (?:a function|defined|iterable)|undefined (?:method|local|array|variable|property)|on null\b|nil (?:pointer|map)|unwrap\(\)|out of range|member function/,
  ],
  ["assertion", /\b(?:expected|assert\w*|should|want(?:ed)?|got|mismatch|differ|not equal)\b|[!=]==?/i],
];

function kindOf({ message }: FailedTest): Kind {
  return KINDS.find(([, pattern]) => pattern.test(message))?.[0] ?? "other";
}

const FILE =
  /(?:^|[\s/\\])([\w@.-]+\.(?:[cm]?[jt]sx?|py|rb|php|go|rs|java|kt|scala|groovy|cs|fs|vb))(?=$|[\s:>›])/;

/** The file without its folders, or else the class, the package or the outermost suite. */
function placeOf({ name }: FailedTest): string {
  const [, file] = FILE.exec(name) ?? [];
  return normalised(file ?? suiteOf(name));
}

function suiteOf(name: string): string {
  const [first = ""] = name.split(/ [›>] |::/);
  if (/\s/.test(first)) return first;
  if (first.includes("/")) return first.split("/").at(-1) ?? "";
  // shop.CartTest.discount
  return first === name ? (first.split(".").at(-2) ?? first) : (first.split(".").at(-1) ?? first);
}

function normalised(place: string): string {
  return cleanLine(place)
    .replaceAll(/\d+/g, "#")
    .replaceAll(/[^\p{L}\p{M}#@._ -]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_PLACE)
    .replace(/[\ud800-\udbff]$/, "")
    .trim();
}

/** A tie goes to the first in the alphabet. */
function mostFrequent<T extends string>(words: readonly T[]): T | "other" {
  const counts = new Map<T, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const [first] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return first?.[0] ?? "other";
}
