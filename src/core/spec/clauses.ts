/**
 * Splits a spec into clauses and gives each a kind. All readers of a spec use these clauses, so that nobody mistakes
 * "do not deploy" for a deployment. Only English is understood; other languages become "foreign".
 */
import { isContent, isEnglish, leadingVerb, VERB_AFTER_AND } from "./verbs.ts";

/** `context`: information without a request. `code`: inside a fence. `foreign`: not English. */
export type ClauseKind = "action" | "constraint" | "success" | "done" | "context" | "code" | "foreign";

export interface Clause {
  readonly kind: ClauseKind;
  /** Exactly as in the spec. */
  readonly text: string;
}

export function readClauses(spec: string): Clause[] {
  const clauses: Clause[] = [];
  let fence: string | null = null;
  let section: ClauseKind | null = null;
  for (const line of spec.split(/\r?\n/)) {
    const [mark] = /^\s*(?:`{3,}|~{3,})/.exec(line) ?? [];
    if (mark !== undefined && (fence === null || mark.trim().startsWith(fence))) {
      fence = fence === null ? mark.trim() : null;
    } else if (fence !== null) {
      for (const text of bound(line)) clauses.push({ kind: "code", text });
    } else {
      const { label, isWhole, text } = readLabel(line.replace(LIST_MARK, ""));
      const closing = isWhole ? null : LABEL_AT_END.exec(line);
      if (isWhole) section = label;
      else if (label === null && /^\s*#/.test(line)) section = null;
      for (const part of bound(text)) clauses.push(...readLine(part, label ?? section));
      if (closing !== null) section = labelOf(closing[1] ?? "") ?? section;
    }
  }
  return clauses;
}

export function actionsOf(clauses: readonly Clause[]): readonly Clause[] {
  return clauses.filter(({ kind }) => kind === "action" || kind === "foreign");
}

/** A limit, so that all patterns below take linear time in the length of a spec. */
const MAX_CLAUSE = 300;
const LIST_MARK = /^\s*(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+|#{1,6}\s+|>\s+)/;
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|approx|no)$/i;

const LABELS: readonly (readonly [RegExp, ClauseKind])[] = [
  [/^(?:constraints?|rules|limits|must not|mustnot|non-goals|out of scope)$/i, "constraint"],
  [
    /^(?:success(?: criteria)?|acceptance(?: criteria)?|criteria|verification|verify|how to (?:test|verify))$/i,
    "success",
  ],
  [/^(?:done|done when|definition of done|finished when|ends? when|exit)$/i, "done"],
];

/** "… log in again. Acceptance criteria:" */
const LABEL_AT_END = /[.!?]\s([A-Za-z ]{4,30}):\s?$/;
/** Labels that say nothing about the kind of the text after them. */
const PLAIN_LABEL =
  /^(?:goal|task|outcome|objective|scope|spec|what|context|problem|bug|feature|steps|plan)$/i;

const DONE: readonly RegExp[] = [
  /^(?:(?:it|this|that|work|you) (?:is|are)\s+)?(?:done|finished|complete|stop|finish|ends?)\s+(?:only\s+)?(?:when|once|if|as soon as|after|means)\b/i,
  /^(?:keep going |continue |go on |loop |repeat )?(?:until|when|once)\s+(?:it|this|that|everything|every|all|each|no|the (?:tests?|build|pr|ci|feature|suite)|(?:unit |e2e )?tests?|ci|lint|tsc|done|finished|complete|you|coverage|pr|npm|pnpm|yarn|`)/i,
  /^(?:open|create|submit|raise|send)\s+(?:a|the)\s+(?:draft\s+)?(?:PR|pull request|MR|merge request)\b/i,
  /^(?:the )?(?:PR|pull request|MR|merge request|branch|patch)\b.{0,40}\b(?:merged|ready|open(?:ed)?|approved|created|submitted)\b/i,
  /^(?:merge|push) (?:it |this )?(?:in)?to (?:main|master|develop|origin)\b/i,
  /^(?:it (?:is )?)?(?:merged|deployed|released|published|pushed|shipped|landed|committed)\s+(?:in)?(?:to|on|as)\b/i,
];

const CONSTRAINT: readonly RegExp[] = [
  /^(?:and |but |with )?(?:no|zero)\s+(?!lint|type|test|failing|broken|red|flaky|errors?\b|warnings?\b|console|tests?\b)/i,
  /^(?:but )?(?:without|avoid|leave|preserve|respect|follow|stick to|stay within|limit)\b/i,
  /^(?:but |and |please )?(?:do not|don['’]?t|never|must not|mustn['’]t|should not|shouldn['’]t)\b/i,
  /^(?:but |and )?(?:keep|maintain)\b/i,
  /^(?:but )?(?:only|use only|touch only|change only|edit only)\b/i,
  /^(?:<=?|≤|under|below|at most|less than|fewer than|no more than|max(?:imum)?(?: of)?|up to|within)\s*\d/i,
  /^use (?:the |our )?(?:existing|current|same)\b/i,
  /^(?:minimal|small|smallest)\s+(?:changes?|diff)/i,
  /^(?:backwards?|forwards?)[- ]compatib/i,
  /\b(?:must|should|may) (?:not|never|(?:stay|remain)(?!\s+(?:under|below|above|over|within|at|<|>)))\b/i,
  /\b(?:is|are) (?:not allowed|forbidden|off limits)\b/i,
];

const SUCCESS: readonly RegExp[] = [
  /^(?:and |so that )?(?:make sure|ensure|verify|confirm|validate|check)\s+(?:that|with|by|it|all|no|the .{1,40} (?:pass|work|still))/i,
  /\b(?:tests?|specs?|suite|ci|lint(?:er|ing)?|eslint|tsc|build|types?|type ?checks?)\b.{0,30}\b(?:pass(?:es|ing)?|green|clean|succeeds?)\b/i,
  /^(?:and |with )?(?:no|zero) (?:lint\w*|type|test|failing|broken|red|flaky|console|runtime)\b/i,
  /^(?:and |with )?(?:no|zero) (?:errors|warnings)\b/i,
  /^(?:all |existing |unit |integration |e2e |regression )+tests?\s*(?:[+&,]|and|$)/i,
  /^(?:and |plus |\+ )?(?:manual(?:ly)?|code review|QA)\b/i,
  /\bcoverage\s*(?:is|of|stays|at|above|over|>=?|≥)\b.{0,12}\d/i,
  /^(?:it|the \w+) (?:builds|compiles)\b/i,
];

function readLabel(line: string): { label: ClauseKind | null; isWhole: boolean; text: string } {
  const heading = line.replaceAll(/[#*_]/g, "").trim();
  const colon = heading.indexOf(":");
  const name = (colon === -1 ? heading : heading.slice(0, colon)).trim();
  if (name.length > 30) return { label: null, isWhole: false, text: line };
  const label = labelOf(name);
  if (label === null && !PLAIN_LABEL.test(name)) return { label, isWhole: false, text: line };
  const rest = colon === -1 ? "" : line.slice(line.indexOf(":") + 1).replace(/^[*_\s]+/, "");
  return { label, isWhole: rest === "", text: rest };
}

function labelOf(name: string): ClauseKind | null {
  return LABELS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

function readLine(line: string, given: ClauseKind | null): Clause[] {
  const clauses: Clause[] = [];
  for (const sentence of splitSentences(line)) {
    let before: ClauseKind | null = null;
    for (const text of withWords(sentence.split(SEAM))) {
      const kind = given ?? classify(text);
      // "do not touch a.ts, b.ts": the second half is still a constraint
      before = (kind === "context" || kind === "foreign") && before === "constraint" ? before : kind;
      clauses.push({ kind: before, text });
    }
  }
  return clauses;
}

function splitSentences(line: string): string[] {
  const found: string[] = [];
  let from = 0;
  for (const match of line.matchAll(/[.!?]+(?=\s|$)|;|[。！？]/g)) {
    if (match[0] === "." && ABBREVIATION.test(line.slice(Math.max(0, match.index - 8), match.index)))
      continue;
    found.push(line.slice(from, match.index));
    from = match.index + match[0].length;
  }
  found.push(line.slice(from));
  return withWords(found);
}

function withWords(parts: readonly string[]): string[] {
  return parts.map((text) => text.trim()).filter((text) => text !== "");
}

const SEAM = new RegExp(
  [
    ",\\s+",
    "\\s+(?=(?:but|without|until|while keeping)\\s)",
    `\\s+(?:and then|and|then)\\s+(?=${VERB_AFTER_AND})`,
    "\\s+(?:and|then)\\s+(?=(?:do not|don['’]?t|make sure|ensure|stop|open a|all tests|tests)\\s)",
    "\\s+[-–—]+\\s+",
  ].join("|"),
  "gi",
);

function classify(clause: string): ClauseKind {
  const text = clause.replace(/^(?:(?:and|then|also|finally|please)\s+){1,3}/i, "");
  if (DONE.some((pattern) => pattern.test(text))) return "done";
  if (SUCCESS.some((pattern) => pattern.test(text)) && !asksForRepair(text)) return "success";
  if (CONSTRAINT.some((pattern) => pattern.test(text))) return "constraint";
  if (leadingVerb(text) !== null || REQUIREMENT.test(text)) return "action";
  // a single name belongs to no language
  const isName = /^[\x21-\x7e]+$/.test(text);
  return isName || isEnglish(text) || !isContent(text) ? "context" : "foreign";
}

/** "the API should return 404" asks for work. "tests must pass" does not, and matches SUCCESS first. */
const REQUIREMENT = /\b(?:should|must|needs? to|has to|have to)\s+[a-z]{2,}/i;

/** "fix the build so that it passes" is work; "the build passes" is a check. */
function asksForRepair(text: string): boolean {
  const verb = leadingVerb(text);
  return (
    verb !== null && !/^(?:make|get|keep|run|check|verify|ensure|confirm|validate|test)$/.test(verb.name)
  );
}

function bound(text: string): string[] {
  if (text.length <= MAX_CLAUSE) return text.trim() === "" ? [] : [text];
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const space = text.length - from > MAX_CLAUSE ? text.lastIndexOf(" ", from + MAX_CLAUSE) : text.length;
    const to = space > from ? space : from + MAX_CLAUSE;
    parts.push(text.slice(from, to));
    from = to;
  }
  return parts.filter((part) => part.trim() !== "");
}
