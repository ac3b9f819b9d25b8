/** Finds the words in a spec that name constraints, ways to verify, and the end. */
import type { Clause } from "./clauses.ts";

/** A target: "<100ms", "at least 80%", "to 200kb". */
export function targetIn(text: string): string | null {
  const match = TARGET.exec(text);
  if (match === null || VERSION.test(text.slice(Math.max(0, match.index - 12), match.index))) return null;
  // include the words before the number that say what is counted
  const before = /(?:[\w%-]+\s+){0,3}$/.exec(text.slice(0, match.index))?.[0] ?? "";
  return text.slice(match.index - before.length, match.index + match[0].length);
}

/** "no tests needed" asks for nothing and forbids nothing. */
export function isWaiver(text: string): boolean {
  return (
    NOT_NEEDED.test(text) ||
    NO_CHECKS.test(text) ||
    /^(?:don['’]?t stop|do not stop|never stop|keep going)\b/i.test(text)
  );
}

export function constraintsIn({ text }: Clause): { readonly explicit: string[]; readonly general: string[] } {
  if (isWaiver(text)) return { explicit: [], general: [] };
  const isVague = /\bbreak\s+(?:anything|things|stuff|it|everything|the app)\b/i.test(text);
  if (isVague) return { explicit: [], general: [text] };
  return { explicit: firstOf(EXPLICIT, text), general: firstOf(GENERAL, text) };
}

/** Ways to verify, each with its words in the spec. */
export function methodsIn({ text, kind }: Clause): [method: string, words: string][] {
  if (isWaiver(text)) return [];
  const found: [string, string][] = [];
  for (const [method, pattern] of METHODS) {
    const match = pattern.exec(text);
    if (match !== null && !UNTRUE.test(match[0]) && !/\b(?:that|which|who)\b/i.test(match[0])) {
      found.push([method, match[0]]);
    }
  }
  const verb = found.length === 0 ? VERIFY.exec(text) : null;
  if (verb !== null) found.push(["verify", verb[0]]);
  const listed = kind === "action" || kind === "foreign" ? null : LISTED_TESTS.exec(text);
  // under a heading such as "Acceptance criteria" every line is a way to verify
  if (kind === "success" && found.length === 0 && !UNTRUE.test(text)) found.push([text, text]);
  if (listed !== null && !found.some(([method]) => method === "tests")) found.push(["tests", listed[0]]);
  return found;
}

/** The end that a clause names. `isObservable`: anybody can see it. */
export function endIn(clause: Clause): { readonly words: string; readonly isObservable: boolean } | null {
  const { text, kind } = clause;
  if (kind === "code" || NO_END.test(text)) return null;
  const event = firstOf(EVENTS, text)[0];
  if (event !== undefined) return { words: kind === "done" ? text : event, isObservable: true };
  if (kind !== "done") return null;
  const isObservable = methodsIn(clause).length > 0 || targetIn(text) !== null || SEEN.test(text);
  return { words: text, isObservable };
}

const NUMBER = "\\$?\\d[\\d.,]*";
const UNIT =
  "(?:%|percent|ms\\b|s\\b|sec|seconds?|min|minutes?|kb\\b|mb\\b|gb\\b|k\\b|req|rps|fps|lines?|errors?|warnings?|points?)";
const TARGET = new RegExp(
  [
    `(?:<=?|>=?|≤|≥|==)\\s*${NUMBER}\\s*${UNIT}?`,
    `\\b(?:under|below|above|over|at least|at most|less than|more than|fewer than|no more than|within|up to|exactly)\\s+${NUMBER}\\s*${UNIT}?`,
    `\\b(?:to|by|of)\\s+${NUMBER}\\s*${UNIT}`,
    `\\b\\d+(?:\\.\\d+)?x\\s+(?:faster|smaller|fewer|less|more)`,
  ].join("|"),
  "i",
);
/** "node >= 18" is not a target. */
const VERSION = /(?:node|python|java|ruby|php|go|react|npm|version|v)\s*$/i;

const NOT_NEEDED =
  /\b(?:not|n['’]t|no|un)\b.{0,40}?\b(?:needed|necessary|required|important|need)\b|\boptional\b/i;
const CHECK_WORDS = "(?:tests?|testing|specs?|qa|lint(?:ing)?|reviews?|coverage|verification|checks?)";
/** "no tests", "don't run the tests", "without any testing"; but "no lint errors" and "no test failures" are checks. */
const NO_CHECKS = new RegExp(
  `\\b(?:no|without|skip(?:ping)?|ignor(?:e|ing)|forget|don['’]?t|do not|never|not)\\s+(?:(?:need|run|write|bother|worry|care|add|any|to|with|about|the|more|running|writing|unit|manual)\\s+){0,4}${CHECK_WORDS}\\b(?!\\s+(?:errors?|warnings?|failures?|issues?|fails?|failing|must|should|may))`,
  "i",
);
const UNTRUE = /\b(?:not|never|no longer|cannot|fail(?:s|ed)?)\b|n['’]t\b/i;

const EXPLICIT: readonly RegExp[] = [
  /\b(?:no|zero)\s+(?:new|extra|additional|other|more|external|third[- ]party|breaking|api|schema|behaviou?r(?:al)?|functional|public)\s+[\w-]+/i,
  /\bno\s+(?:deps|dependenc(?:y|ies)|regressions?|refactoring|refactors|downtime|mocks?|network)\b/i,
  /\bwithout\s+(?:adding|changing|breaking|touching|modifying|introducing|using|altering|renaming|removing|new|any)\b.*/i,
  /\b(?:do not|don['’]?t|must not|mustn['’]t|never|should not|shouldn['’]t|may not)\s+(?:add|change|touch|edit|modify|remove|delete|rename|use|break|introduce|alter|refactor|commit|push|install|import|depend|exceed|move|write|format|update|upgrade|bump|deploy|publish|release)\b.*/i,
  /\b(?:only (?:change|touch|edit|modify|use|files?|in)|(?:change|touch|edit|modify|use) only)\b.*/i,
  /(?:<=?|≤|\bunder|\bbelow|\bless than|\bfewer than|\bat most|\bmax(?:imum)?(?: of)?|\bno more than|\bup to|\bwithin)\s*\d[\d,.]*\s*(?:loc|lines?|files?|kb|deps|dependenc|hours?|minutes?|commits?)\b(?: of (?:code|change)\w*)?/i,
  /\b(?:keep|leave)(?:ing)?\s+.{1,60}?\s(?:unchanged|intact|stable|alone|untouched|as (?:it|they) (?:is|are)|the same|compatible)\b/i,
  /\b(?:must|should)\s+(?:stay|remain|be)\s+(?:\w+\s+)?(?:compatible|unchanged|intact|the same|stable|untouched)\b/i,
  /\b(?:is|are) (?:not allowed|forbidden|off limits)\b/i,
];

const GENERAL: readonly RegExp[] = [
  /\b(?:use|using|keep(?:ing)?|follow(?:ing)?|stick(?:ing)? to|match(?:ing)?|respect(?:ing)?|stay(?:ing)? with)\s+(?:the\s+|our\s+|to\s+)?(?:existing|current|same|project['’]?s?|our|house)\b[\w\s-]{0,30}/i,
  /\b(?:minimal|small(?:est)?)\s+(?:changes?|diff)\b/i,
  /\bkeep it (?:simple|small|short|minimal)\b/i,
  /\bkeep\s+(?:the\s+)?[\w-]+(?:\s+[\w-]+)?/i,
  /\b(?:backwards?|forwards?)[- ]compatib\w+/i,
  /\b(?:best practices?|coding standards?|style guide|conventions)\b/i,
  /\bto use\s+[\w@/.-]+(?:\s+[\w-]+)?/i,
  /\busing\s+(?!it\b|the app\b)[\w@/.-]+(?:\s+[\w-]+)?/i,
  /^(?:without|avoid|do not|don['’]?t|never|only)\s+\S+.*/i,
];

const METHODS: readonly (readonly [string, RegExp])[] = [
  [
    "tests",
    /\b(?:(?:all|existing|unit|integration|the|e2e|npm|pnpm|yarn|bun|cargo|go)\s+){0,4}(?:tests?|specs?|test suite|suite|pytest|vitest|jest)\b.{0,40}?\b(?:pass(?:es|ing)?|green|succeeds?)\b|\bno (?:failing|broken|red|flaky) tests?\b|\bno tests? fail(?:ure)?s?\b|\bbreak(?:ing)?\s+(?:\w+\s+){0,3}tests?\b|\b(?:with|including|covered by|backed by)\s+(?:\w+\s+){0,2}tests?\b(?! (?:data|files?|users?))/i,
  ],
  [
    "lint",
    /\bno lint\w* (?:errors?|warnings?|issues?)|\b(?:lint(?:er|ing)?|eslint|biome|ruff|clippy)\b.{0,20}?\b(?:clean|pass(?:es)?|green|happy)\b/i,
  ],
  [
    "types",
    /\b(?:tsc|types?|type ?checks?|mypy)\b.{0,20}?\b(?:clean|pass(?:es)?|checks?|compiles?)\b|\bno type errors?\b/i,
  ],
  [
    "build",
    /\b(?:build|project|code|it)\s+(?:still\s+)?(?:builds|compiles|pass(?:es)?|succeeds|is green)\b/i,
  ],
  ["coverage", /\bcoverage\b.{0,20}?\d+\s*%?/i],
  ["manual", /\bmanual(?:ly)?\s+(?:qa|test\w*|check\w*|verif\w*|review\w*)|\btested? by hand\b|\bQA\b/i],
  ["review", /\b(?:code review(?:ed)?|reviewed by|peer review(?:ed)?|approved by)\b/i],
  [
    "benchmark",
    /\bbenchmarks?\b.{0,30}?(?:shows?|under|below|within|faster|pass|[<>])|\bmeasured (?:by|with)\b/i,
  ],
  ["response", /\b(?:returns?|responds? with|answers? with)\s+(?:an?\s+)?(?:http\s+)?[1-5]\d\d\b/i],
  ["ci", /\bCI\b.{0,15}?\b(?:green|pass(?:es)?)\b/],
  ["silence", /\b(?:no|zero|0) (?:console |runtime )?(?:errors|warnings)\b/i],
  ["look", /\bscreenshots?\b|\bvisually\b|\bmatch(?:es)? the (?:design|mockup)\b/i],
  ["command", /`[^`]+`\s+(?:passes|succeeds|exits? (?:with )?0|prints|shows)/i],
];
const VERIFY =
  /\b(?:verify|confirm|ensure|make sure|validate)\s+(?:that|with|by|it|all|the)\s+\S.*|\bcheck (?:that|with|by)\s+\S.*/i;
/** "All tests + manual QA" is clear without a verb. */
const LISTED_TESTS =
  /^(?:(?:all|existing|unit|integration|e2e|regression)\s+)+tests?\b(?=\s*(?:[+&,]|and\b|$))/i;

const REQUEST = "(?:PR|pull request|MR|merge request)";
const EVENTS: readonly RegExp[] = [
  new RegExp(
    `\\b(?:${REQUEST}|branch|patch)\\b.{0,30}?\\b(?:merged|ready|open(?:ed)?|approved|created|submitted|up)\\b`,
    "i",
  ),
  new RegExp(`\\b(?:open|create|submit|raise|send)\\s+(?:a|the)\\s+(?:draft\\s+)?${REQUEST}\\b`, "i"),
  /\b(?:merged?|deployed|released|published|pushed|shipped|landed|committed)\s+(?:it\s+)?(?:in)?(?:to|on|as)\s+\S+/i,
];
const NO_END = new RegExp(
  `\\b(?:no|don['’]?t|do not|never|without|not)\\b.{0,20}\\b(?:${REQUEST}|merge|push|deploy|publish)\\b`,
  "i",
);
const SEEN =
  /`[^`]+`|\b(?:npm|pnpm|yarn|cargo|go|make) \w+|\b(?:exists?|returns?|renders?|prints?|responds?|is (?:live|deployed|merged|published|green|empty|gone))\b|\b(?:no|zero|0) \w+ ?(?:left|remain(?:s|ing)?|errors?|warnings?)?\b|\b(?:merged|deployed|released|published|approved)\b|[\w-]+\.(?:ts|js|py|md|json|go|rs)\b/i;

function firstOf(patterns: readonly RegExp[], text: string): string[] {
  const found = patterns.flatMap((pattern) => pattern.exec(text)?.[0].trim() ?? []);
  return found.slice(0, 2);
}
