/** The kind of work that a spec asks for (B3): A builds, B debugs, C refactors. Each has its own rule in the prompt. */
import type { Workflow } from "../goal/goal.ts";
import { type Clause, readClauses } from "./clauses.ts";
import { leadingVerb } from "./verbs.ts";

interface WorkflowChoice {
  readonly workflow: Workflow;
  /** The words of the spec that decided; empty: none, so it is A. */
  readonly words: readonly string[];
  readonly gate: string;
}

/** The leading verb or an earlier report of something broken decides. Otherwise the first weak word decides. */
export function decideWorkflow(spec: string): WorkflowChoice {
  const clauses = readClauses(spec).filter(({ kind }) => kind !== "constraint" && kind !== "code");
  const found = firstIn(clauses, leadIn) ?? firstIn(clauses, stateIn) ?? firstIn(clauses, weakIn);
  const workflow = found?.workflow ?? "A";
  return { workflow, words: found === null ? [] : [found.word], gate: GATES[workflow] };
}

const GATES: Readonly<Record<Workflow, string>> = {
  A: "Before you build something, look for a library or for code in this project that already does it, and say what you found.",
  B: "Find the root cause and name it before you change anything. Only then use a workaround, and call it a workaround.",
  C: "Before you redesign something, delete code that is no longer needed. Change only the rest.",
};

interface Found {
  readonly workflow: Workflow;
  readonly word: string;
}

const VERBS: readonly (readonly [Workflow, RegExp])[] = [
  [
    "B",
    /^(?:fix|debug|repair|resolve|solve|correct|patch|unbreak|investigate|diagnose|troubleshoot|look into)$/,
  ],
  [
    "C",
    /^(?:refactor|clean ?up|clean|tidy|tidy up|reorgani[sz]e|restructure|migrate|rename|extract|split|simplify|deduplicate|consolidate|inline|moderni[sz]e|rewrite|decouple|unify|move|convert|port|separate|isolate|remove|delete|get rid of)$/,
  ],
  [
    "A",
    /^(?:add|implement|create|build|write|introduce|support|develop|design|scaffold|integrate|generate|expose|set up|setup|provide)$/,
  ],
];
const STATE =
  /\b(?:broken|failing|fails|failed|crash(?:es|ing|ed)?|regression|flaky|hangs|stack trace|throws|debug)\b/i;
const WEAK: readonly (readonly [Workflow, RegExp])[] = [
  ["B", /\b(?:errors?|bugs?|fix|exception)\b/i],
  ["C", /\b(?:refactor(?:ing)?|clean ?up|reorgani[sz]e|migrat(?:e|ion))\b/i],
  ["A", /\b(?:new|feature|add|implement|create)\b/i],
];

function leadIn({ kind, text }: Clause): Found | null {
  if (kind === "context") return stateIn({ kind, text });
  if (kind !== "action") return null;
  const verb = leadingVerb(text);
  const workflow = VERBS.find(([, pattern]) => verb !== null && pattern.test(verb.name))?.[0];
  if (verb === null || workflow === undefined) return null;
  return { workflow, word: verb.text };
}

function stateIn({ text }: Clause): Found | null {
  const match = STATE.exec(text);
  return match === null ? null : { workflow: "B", word: match[0] };
}

function weakIn({ text }: Clause): Found | null {
  const hits = WEAK.flatMap(([workflow, pattern]) => {
    const match = pattern.exec(text);
    return match === null ? [] : [{ workflow, word: match[0], at: match.index }];
  });
  return hits.sort((a, b) => a.at - b.at)[0] ?? null;
}

function firstIn(clauses: readonly Clause[], find: (clause: Clause) => Found | null): Found | null {
  return clauses.map(find).find((found) => found !== null) ?? null;
}
