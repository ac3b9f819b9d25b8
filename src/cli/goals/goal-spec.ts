/** Makes a goal from the words and flags of a person and from the files of the project. */
import { readProjectFacts } from "../../checks/project-facts.ts";
import { type AgentChoice, chooseAgentSpec } from "../../compose/agent-choice.ts";
import type { GoalDraft } from "../../core/goal/create.ts";
import type { Criterion, MustNot, Shape } from "../../core/goal/goal.ts";
import { needsPlan, parseStepsFile } from "../../core/goal/steps.ts";
import { splitUntil } from "../../core/spec/phrases.ts";
import { decideReversibility } from "../../core/spec/reversibility.ts";
import { type Score, scoreSpec, shapeOfScore } from "../../core/spec/rubric.ts";
import { decideWorkflow } from "../../core/spec/workflow.ts";
import { usageError } from "../../errors.ts";
import type { Config } from "../../schema/config.ts";
import { type LimitFlags, limitsFrom } from "../flags/limits.ts";
import { fileFlag, oneOf } from "../flags/values.ts";
import { trustedCriteria } from "../setup/repository-commands.ts";
import { checkFlag, type PolicyFlags, policyFrom } from "./goal-flags.ts";

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
  /** The first argument, if it is no phrase with a known check. */
  readonly unknown: string | null;
}

const MAX_SPEC_LENGTH = 100_000;

/** Counts only when a person typed it (B14): anybody may have written a file. */
const NO_GATES = /\bproceed without confirmation\b/i;

export function readSpec(
  words: readonly string[],
  flags: SpecFlags,
  project: { readonly root: string; readonly dir: string },
  config: Config,
  env: NodeJS.ProcessEnv,
): Spec {
  const flagged = (flags.check ?? []).map(checkFlag);
  const facts = readProjectFacts(project.root);
  const split = splitUntil(words, facts);
  const file = fileFlag("--prompt-file", flags.promptFile) ?? "";
  const spec = joined([split.phrase ?? "", split.prompt, file]);
  if (spec === "" && flagged.length === 0)
    throw usageError(
      "The goal is missing.",
      'Write what must be proved and what to do: loop until "npm test passes" fix the flaky tests',
    );
  if (spec.length > MAX_SPEC_LENGTH)
    throw usageError(`The spec is too long; at most ${MAX_SPEC_LENGTH} characters are allowed.`);
  const fromFiles = trustedCriteria(project, env);
  const criteria = unique([...flagged, ...split.criteria, ...fromFiles.criteria]);
  const text = spec === "" ? `Make these checks pass: ${criteria.map(({ name }) => name).join(", ")}` : spec;
  // the phrase has its own part of the score
  const work = joined([split.prompt, file]) || text;
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

function joined(parts: readonly string[]): string {
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join("\n");
}

/** The score decides the shape (B2). */
export function rescore(spec: Spec, score: Score, flags: SpecFlags, { LOOP_SHAPE }: NodeJS.ProcessEnv): Spec {
  const byScore = shapeOfScore(score.total);
  let shape: Shape | null = flags.force ? "colleague" : null;
  if (byScore !== "vague")
    shape = oneOf<Shape>("LOOP_SHAPE", LOOP_SHAPE || undefined, ["tool", "colleague"]) ?? byScore;
  return { ...spec, score, shape, draft: { ...spec.draft, score: score.total, shape: shape ?? "colleague" } };
}

function draftOf(
  spec: string,
  /** The spec without the phrase, which is no step. */
  work: string,
  criteria: readonly Criterion[],
  mustNot: readonly MustNot[],
  flags: SpecFlags,
  config: Config,
  env: NodeJS.ProcessEnv,
): Omit<GoalDraft, "id"> {
  const policy = policyFrom(flags, config);
  const steps = parseStepsFile(fileFlag("--steps", flags.steps) ?? "");
  if (flags.steps !== undefined && steps.length === 0)
    throw usageError(`--steps: ${flags.steps} has no steps; write one per line.`);
  const isOneStep = steps.length === 0 && !needsPlan(work) && criteria.length > 0;
  return {
    session: null,
    spec,
    score: 0,
    shape: "colleague",
    workflow: decideWorkflow(spec).workflow,
    reversibility:
      oneOf("--reversibility", flags.reversibility, ["2A", "2B", "1"]) ??
      decideReversibility(spec).reversibility,
    criteria,
    mustNot,
    steps: isOneStep ? [firstLine(spec)] : steps,
    needsPlan: steps.length === 0 && !isOneStep,
    limits: limitsFrom(flags, env),
    context: oneOf("--context", flags.context, ["fresh", "continue"]) ?? "continue",
    agent: chooseAgentSpec(flags, config, env),
    policy,
  };
}

/** The first check with a name counts. Repeating the same check is no error. */
function unique(criteria: readonly Criterion[]): readonly Criterion[] {
  const byName = new Map<string, Criterion>();
  for (const criterion of criteria) {
    const known = byName.get(criterion.name);
    if (known === undefined) byName.set(criterion.name, criterion);
    else if (
      JSON.stringify(known.check) !== JSON.stringify(criterion.check) &&
      known.source === criterion.source
    )
      throw usageError(`Two different checks have the name "${criterion.name}"; give each its own name.`);
  }
  return [...byName.values()];
}

function firstLine(text: string): string {
  const line = text.trim().split("\n").at(-1) ?? "";
  return (line.split(/(?<=[.!?])\s/)[0] ?? line).replace(/\.$/, "").slice(0, 120);
}
