/**
 * Turns phrases into checks (B6): "npm test passes", "no lint errors". Unknown phrases are never guessed. A command
 * contains only what a person typed in backquotes, or plain words after a known runner.
 */
import { exitsZero, measures } from "../checks/command.ts";
import { parseCheck } from "../checks/kinds.ts";
import type { Check, Comparison, Criterion } from "../goal/goal.ts";
import {
  commandsFor,
  isNodeTool,
  type ProjectFacts,
  runnerCommand,
  runScript,
  toolCommand,
} from "../toolchain/project-commands.ts";
import type { Topic } from "../toolchain/tool.ts";
import { faultOfName } from "./check-flag.ts";

export type { ProjectFacts } from "../toolchain/project-commands.ts";

export interface SplitUntil {
  readonly criteria: readonly Criterion[];
  /** The words that were read as criteria; null: none. */
  readonly phrase: string | null;
  readonly prompt: string;
  /** The part of the phrase that is not understood; then there are no criteria. */
  readonly unknown: string | null;
}

/** Splits the words after `until`. A first argument with spaces is the phrase; otherwise the longest known run of words is. */
export function splitUntil(words: readonly string[], facts: ProjectFacts): SplitUntil {
  const [first = "", ...rest] = words.map((word) => word.trim()).filter((word) => word !== "");
  if (!/\s/.test(first)) return splitWords([first, ...rest], facts);
  const parsed = parsePhrase(first, facts);
  const prompt = rest.join(" ");
  if (parsed.kind === "known") return { criteria: parsed.criteria, phrase: first, prompt, unknown: null };
  if (rest.length > 0) return { criteria: [], phrase: first, prompt, unknown: parsed.part };
  return splitWords(first.split(/\s+/), facts, first);
}

export type ParsedPhrase =
  | { readonly kind: "known"; readonly criteria: readonly Criterion[] }
  | { readonly kind: "unknown"; readonly part: string };

/** Parts are joined by "and" or a comma. All parts must be known. */
export function parsePhrase(phrase: string, facts: ProjectFacts): ParsedPhrase {
  if (phrase.length > MAX_PHRASE) return { kind: "unknown", part: phrase };
  const criteria: Criterion[] = [];
  for (const part of splitParts(phrase)) {
    const found = readPart(part, facts);
    if (found.length === 0) return { kind: "unknown", part };
    for (const criterion of found) addOnce(criteria, criterion);
  }
  return criteria.length === 0 ? { kind: "unknown", part: phrase } : { kind: "known", criteria };
}

const LONGEST_PHRASE = 40;
const MAX_PHRASE = 1_000;
const MAX_NAME = 60;

function splitWords(words: readonly string[], facts: ProjectFacts, whole = words.join(" ")): SplitUntil {
  const prompted = words.findIndex((word) => /\s/.test(word));
  const limit = Math.min(prompted === -1 ? words.length : prompted, LONGEST_PHRASE);
  for (let count = limit; count > 0; count--) {
    const phrase = words.slice(0, count).join(" ");
    const parsed = parsePhrase(phrase, facts);
    if (parsed.kind !== "known") continue;
    const rest = words.slice(count);
    // "tests pass in CI fix them": the next word changes the meaning of the phrase
    if (NARROWS.test(rest[0] ?? "")) return { criteria: [], phrase: whole, prompt: "", unknown: whole };
    const prompt = rest.join(" ").replace(/^(?:(?:and|then)\s+|[:,;–-]+\s+)+/i, "");
    return { criteria: parsed.criteria, phrase: phrase.replace(/[,;:.]+$/, ""), prompt, unknown: null };
  }
  if (prompted > 0) {
    const phrase = words.slice(0, prompted).join(" ");
    return { criteria: [], phrase, prompt: words.slice(prompted).join(" "), unknown: phrase };
  }
  return { criteria: [], phrase: null, prompt: whole, unknown: null };
}

const NARROWS =
  /^(?:in|on|for|with|at|under|when|if|without|except|unless|only|but|or|after|before|by|locally)$/i;

/** Splits at commas and "and", but not inside backquotes. */
function splitParts(phrase: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (const piece of phrase.split(/(`[^`]*`|,\s+(?:and\s+)?|\s+(?:and|&)\s+)/)) {
    if (/^(?:,\s+(?:and\s+)?|\s+(?:and|&)\s+)$/.test(piece)) {
      parts.push(part);
      part = "";
    } else part += piece;
  }
  const tidied = [...parts, part].map((text) => text.replaceAll(/\s+/g, " ").trim());
  return tidied.map((text) => text.replace(/[,;:.]+$/, ""));
}

function readPart(part: string, facts: ProjectFacts): Criterion[] {
  const name = part.replaceAll("`", "");
  const topic = TOPICS.find(([pattern]) => pattern.test(part))?.[1];
  if (topic !== undefined) {
    const commands = commandsFor(topic, facts);
    const isOne = commands.length === 1;
    return commands.map(({ command, tool }) =>
      toCriterion(isOne ? name : `${name} (${tool})`, exitsZero(command)),
    );
  }
  const check =
    readQuoted(part) ?? readRunner(part, facts) ?? readCoverage(part, facts) ?? readScript(part, facts);
  return check === null ? [] : [toCriterion(name, check)];
}

const ENDING =
  "(?:now |all )?(?:pass|passes|is passing|are passing|passing|succeeds?|is green|are green|goes green|is clean|are clean|works|is ok|exits? (?:with )?(?:code )?0|(?:has|reports|shows|finds) no errors|runs without errors)";
const QUOTED = new RegExp(`^\`([^\`]+)\` ${ENDING}$`, "i");
const QUOTED_NUMBER =
  /^`([^`]+)` (?:prints |is |says )?(?:a number )?(>=|<=|>|<|==|!=) ?(-?\d+(?:\.\d+)?)%?$/i;
const ENDED = new RegExp(`^(.+?) ${ENDING}$`, "i");

/** A command in backquotes. */
function readQuoted(part: string): Check | null {
  const [, command] = QUOTED.exec(part) ?? [];
  if (command !== undefined) {
    const check = parseCheck(command.trim());
    return typeof check === "string" ? null : check;
  }
  const [, measured, comparison, target] = QUOTED_NUMBER.exec(part) ?? [];
  if (measured === undefined || measured.trim() === "") return null;
  return measures(measured.trim(), comparison as Comparison, Number(target));
}

function readRunner(part: string, facts: ProjectFacts): Check | null {
  const [, words] = ENDED.exec(part) ?? [];
  const command = words === undefined ? null : runnerCommand(words.split(" "));
  if (command === null) return null;
  // a tool in node_modules is seldom on the PATH
  return exitsZero(isNodeTool(command) ? toolCommand(facts, command) : command);
}

/** "check passes", if the project has a script with exactly this name. */
function readScript(part: string, facts: ProjectFacts): Check | null {
  const [, name = ""] = ENDED.exec(part.replace(/^the /i, "")) ?? [];
  if (!facts.scripts.includes(name) || /^(?:it|all|this|everything|tests?|lint|build)$/i.test(name))
    return null;
  const command = runScript(facts, name);
  return command === null ? null : exitsZero(command);
}

const COVERAGE =
  /^(?:the )?(?:test |code |line )?coverage (?:is |of |stays |goes )?(?:(>=|>|≥|at least|above|over|more than)) ?(\d{1,3}(?:\.\d+)?) ?(?:%|percent)?$/i;

/** Needs a script of the project that prints the number: a test runner prints several numbers. */
function readCoverage(part: string, facts: ProjectFacts): Check | null {
  const [, sign = "", target] = COVERAGE.exec(part) ?? [];
  if (target === undefined) return null;
  const script = ["cov", "coverage"].find((name) => facts.scripts.includes(name));
  const command = script === undefined ? null : runScript(facts, script, true);
  const comparison = /^(?:>|above|over|more than)$/i.test(sign) ? ">" : ">=";
  return command === null ? null : measures(command, comparison, Number(target));
}

const ALL = "(?:all |the |my |our |every |existing |of )*";
const PASS =
  "(?:(?:must|should|now|all|still) )*(?:pass|passes|passing|are passing|is passing|are green|is green|are all green|green|succeed|succeeds|go green)";
const CLEAN =
  "(?:is clean|are clean|clean|passes|pass|is green|succeeds|is happy|has no errors|reports no errors|finds no errors)";

const TOPICS: readonly (readonly [RegExp, Topic])[] = [
  [new RegExp(`^${ALL}(?:tests?|specs?|test suite) ${PASS}$`, "i"), "test"],
  [
    /^(?:there are )?(?:no|zero|0) (?:failing|broken|red) tests?$|^no tests? fails?$|^no test failures?$/i,
    "test",
  ],
  [new RegExp(`^${ALL}unit tests? ${PASS}$`, "i"), "unit"],
  [new RegExp(`^${ALL}integration tests? ${PASS}$`, "i"), "integration"],
  [new RegExp(`^${ALL}(?:e2e|end-to-end) tests? ${PASS}$`, "i"), "e2e"],
  [new RegExp(`^(?:the )?(?:lint|linter|linting) ${CLEAN}$`, "i"), "lint"],
  [/^(?:there are )?(?:no|zero|0) lint(?:er|ing)? (?:errors?|issues?|problems?)$/i, "lint"],
  [new RegExp(`^eslint ${CLEAN}$|^(?:no|zero|0) eslint errors?$`, "i"), "eslint"],
  [new RegExp(`^tsc ${CLEAN}$|^(?:no|zero|0) tsc errors?$`, "i"), "tsc"],
  [
    new RegExp(
      `^(?:the )?(?:types? ?check|type-check|types) ${CLEAN}$|^(?:the )?types (?:all )?check$|^it type-?checks$`,
      "i",
    ),
    "types",
  ],
  [/^(?:there are )?(?:no|zero|0) (?:type|typescript|ts) errors?$|^typescript compiles$/i, "types"],
  [/^(?:it|the project|the code|everything) (?:still )?(?:builds|compiles)$/i, "build"],
  [/^(?:the )?build (?:still )?(?:passes|succeeds|works|is green|is clean|is passing|goes green)$/i, "build"],
  [
    new RegExp(`^(?:the )?(?:format|formatting|prettier) ${CLEAN}$|^(?:the )?code is formatted$`, "i"),
    "format",
  ],
];

function toCriterion(part: string, check: Check): Criterion {
  const letters = [...part];
  const name = letters.length > MAX_NAME ? `${letters.slice(0, MAX_NAME - 1).join("")}…` : part;
  return { name: faultOfName(name) === null ? name : "command", check, source: "phrase" };
}

/** Adds a check once. Two checks with the same name get different names. */
function addOnce(criteria: Criterion[], criterion: Criterion): void {
  const asText = JSON.stringify(criterion.check);
  if (criteria.some(({ check }) => JSON.stringify(check) === asText)) return;
  const taken = (name: string) => criteria.some((other) => other.name === name);
  let { name } = criterion;
  for (let n = 2; taken(name); n++) name = `${[...criterion.name].slice(0, MAX_NAME - 5).join("")} (${n})`;
  criteria.push({ ...criterion, name });
}
