/** From what a person typed, and what the project's files add, to a goal that can be started. */

import { readFileSync } from "node:fs";
import { readProjectFacts } from "../../checks/project-facts.ts";
import { type AgentChoice, chooseAgentSpec } from "../../compose/agent-choice.ts";
import type { GoalDraft } from "../../core/goal/create.ts";
import type { Criterion, MustNot, Shape } from "../../core/goal/goal.ts";
import { needsPlan, parseStepsFile } from "../../core/goal/steps.ts";
import { parseCheckFlag } from "../../core/spec/check-flag.ts";
import { splitUntil } from "../../core/spec/phrases.ts";
import { decideReversibility } from "../../core/spec/reversibility.ts";
import { type Score, scoreSpec, shapeOfScore } from "../../core/spec/rubric.ts";
import { decideWorkflow } from "../../core/spec/workflow.ts";
import { usageError } from "../../errors.ts";
import type { Config } from "../../schema/config.ts";
import { type LimitFlags, limitsFrom } from "../flags/limits.ts";
import { trustedCriteria } from "../setup/repository-commands.ts";
import { contextFlag, type PolicyFlags, policyFrom, reversibilityFlag, shapeFrom } from "./goal-flags.ts";

export interface SpecFlags extends LimitFlags, PolicyFlags, AgentChoice {
  readonly check?: readonly string[];
  readonly context?: string;
  readonly steps?: string;
  readonly promptFile?: string;
  readonly force?: boolean;
  readonly reversibility?: string;
  readonly scoreWith?: string;
}

export interface Spec {
  readonly draft: Omit<GoalDraft, "id">;
  readonly score: Score;
  /** null: too vague to start. */
  readonly shape: Shape | null;
  /** What was asked to be proved and is no known phrase. */
  readonly unknown: string | null;
}

const MAX_SPEC_LENGTH = 100_000;

/** "Proceed without confirmation" is a person's word (B14) where a person typed it: a file may be anybody's. */
const NO_GATES = /\bproceed without confirmation\b/i;

export function readSpec(
  words: readonly string[],
  flags: SpecFlags,
  project: { readonly root: string; readonly dir: string },
  config: Config,
  env: NodeJS.ProcessEnv,
): Spec {
  const flagged = (flags.check ?? []).map(parseFlag);
  const facts = readProjectFacts(project.root);
  const split = splitUntil(words, facts);
  const file = flags.promptFile === undefined ? "" : readText("--prompt-file", flags.promptFile);
  const spec = [...(split.phrase === null ? [] : [split.phrase]), split.prompt, file]
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n");
  if (spec === "" && flagged.length === 0)
    throw usageError(
      "There is nothing to do.",
      'Say what has to be proved, and what to do: loop until "npm test passes" fix the flaky tests',
    );
  if (spec.length > MAX_SPEC_LENGTH)
    throw usageError(`The spec is longer than ${MAX_SPEC_LENGTH} characters.`);
  const fromFiles = trustedCriteria(project, env);
  const criteria = unique([...flagged, ...split.criteria, ...fromFiles.criteria]);
  const text = spec === "" ? `Make these checks pass: ${criteria.map(({ name }) => name).join(", ")}` : spec;
  // The phrase is scored for itself; what was typed or read besides it is the spec.
  const rest = [split.prompt, file].map((part) => part.trim()).filter((part) => part !== "");
  const work = rest.length === 0 ? text : rest.join("\n");
  const score = scoreSpec(work, {
    checks: flagged.length + fromFiles.criteria.length,
    phrases: split.criteria.length,
    until: split.phrase,
    protect: flags.protect?.length ?? 0,
  });
  const isConfirmed = flags.yes === true || NO_GATES.test(words.join(" "));
  const draft = draftOf(text, work, criteria, fromFiles.mustNot, { ...flags, yes: isConfirmed }, config, env);
  return rescore({ draft, score, shape: null, unknown: split.unknown }, score, flags, env);
}

/** The shape follows from the score (B2), whoever gave it. */
export function rescore(spec: Spec, score: Score, flags: SpecFlags, env: NodeJS.ProcessEnv): Spec {
  const byScore = shapeOfScore(score.total);
  const shape = byScore === "vague" ? (flags.force ? "colleague" : null) : (shapeFrom(env) ?? byScore);
  return { ...spec, score, shape, draft: { ...spec.draft, score: score.total, shape: shape ?? "colleague" } };
}

function draftOf(
  spec: string,
  /** Without what has to be proved, which is no step. */
  work: string,
  criteria: readonly Criterion[],
  mustNot: readonly MustNot[],
  flags: SpecFlags,
  config: Config,
  env: NodeJS.ProcessEnv,
): Omit<GoalDraft, "id"> {
  const policy = policyFrom(flags, config);
  const steps = flags.steps === undefined ? [] : parseStepsFile(readText("--steps", flags.steps));
  if (flags.steps !== undefined && steps.length === 0)
    throw usageError(`There is no step in ${flags.steps}.`);
  const isOneStep = steps.length === 0 && !needsPlan(work) && criteria.length > 0;
  return {
    session: null,
    spec,
    score: 0,
    shape: "colleague",
    workflow: decideWorkflow(spec).workflow,
    reversibility: reversibilityFlag(flags.reversibility) ?? decideReversibility(spec).reversibility,
    criteria,
    mustNot,
    steps: isOneStep ? [firstLine(spec)] : steps,
    needsPlan: steps.length === 0 && !isOneStep,
    limits: limitsFrom(flags, env),
    context: contextFlag(flags.context),
    agent: chooseAgentSpec(flags, config, env),
    policy,
  };
}

function parseFlag(text: string): Criterion {
  const parsed = parseCheckFlag(text);
  if (parsed.kind === "wrong") throw usageError(parsed.message);
  return parsed.criterion;
}

/** The first of a name counts; a second one that says the same is no fault. */
function unique(criteria: readonly Criterion[]): readonly Criterion[] {
  const byName = new Map<string, Criterion>();
  for (const criterion of criteria) {
    const known = byName.get(criterion.name);
    if (known === undefined) byName.set(criterion.name, criterion);
    else if (
      JSON.stringify(known.check) !== JSON.stringify(criterion.check) &&
      known.source === criterion.source
    )
      throw usageError(`There are two checks with the name "${criterion.name}".`);
  }
  return [...byName.values()];
}

function readText(flag: string, file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw usageError(`${flag}: cannot read ${file}: ${(error as Error).message}.`);
  }
}

function firstLine(text: string): string {
  const line = text.trim().split("\n").at(-1) ?? "";
  return (line.split(/(?<=[.!?])\s/)[0] ?? line).replace(/\.$/, "").slice(0, 120);
}
