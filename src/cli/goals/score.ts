/**
 * `loop score`: how clear a spec is and how to raise its score. Works offline and starts nothing. The exit code is 0
 * even for a vague spec, which `loop until` refuses with 5.
 *
 * JSON: `{ version: 1, spec, until, total, shape, dimensions: [{ dimension, score, words, raise }], questions,
 * workflow: { workflow, words, gate }, reversibility: { reversibility, words }, needsPlan,
 * checks: [{ name, verification, text, source }], protect, unknown }`.
 */
import { readProjectFacts } from "../../checks/project-facts.ts";
import { type AgentChoice, chooseAgentSpec, isAgentTyped } from "../../compose/agent-choice.ts";
import { renderCheck, verificationOf } from "../../core/checks/kinds.ts";
import { needsPlan } from "../../core/goal/steps.ts";
import { splitUntil } from "../../core/spec/phrases.ts";
import { decideReversibility } from "../../core/spec/reversibility.ts";
import {
  COLLEAGUE_FROM,
  type DimensionScore,
  questionsFor,
  scoreSpec,
  shapeOfScore,
  TOOL_FROM,
} from "../../core/spec/rubric.ts";
import { decideWorkflow } from "../../core/spec/workflow.ts";
import { usageError } from "../../errors.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { findProject } from "../../store/folder/loop-dir.ts";
import { EXIT } from "../exit-codes.ts";
import { fileFlag } from "../flags/values.ts";
import { answer, type Io, paint } from "../io.ts";
import { openProject, type ProjectFlags } from "../project.ts";
import { oneLine } from "../render/table.ts";
import { listenForStop } from "../run/signals.ts";
import { isScoredByAgent, scoreWithAgent } from "./agent-score.ts";
import { checkFlag } from "./goal-flags.ts";

export interface ScoreFlags extends ProjectFlags, AgentChoice {
  readonly scoreWith?: string;
  readonly promptFile?: string;
  readonly check?: string[];
  readonly protect?: string[];
}

export async function scoreCommand(words: string[], flags: ScoreFlags, io: Io): Promise<number> {
  const file = fileFlag("--prompt-file", flags.promptFile);
  const given = file === undefined ? words : [...words, file];
  const view = await withOpinion(readScore(given, flags), flags, io);
  if (view === null) return EXIT.interrupted;
  return answer(flags, io, { version: 1, ...view }, render(view, io));
}

/** With `--score-with agent`, replaces the score by that of the agent. null: the agent was stopped. */
async function withOpinion(view: ScoreView, flags: ScoreFlags, io: Io): Promise<ScoreView | null> {
  if (!isScoredByAgent(flags)) return view;
  const stop = listenForStop();
  const config = isAgentTyped(flags) ? {} : readConfig(openProject(flags, io));
  const agent = chooseAgentSpec(flags, config, process.env);
  const score = await scoreWithAgent(view.spec, agent, process.env, stop.signal);
  if (score === null) return null;
  return { ...view, ...score, shape: shapeOfScore(score.total), questions: questionsFor(score) };
}

type ScoreView = ReturnType<typeof readScore>;

/** Takes the arguments of `loop until`, with or without the word "until". */
function readScore(words: readonly string[], flags: ScoreFlags) {
  const { criteria, phrase, prompt, unknown } = readWords(words, flags);
  const checks = [...criteria, ...(flags.check ?? []).map(checkFlag)];
  const twice = checks.find(({ name }, at) => checks.findIndex((other) => other.name === name) !== at);
  if (twice !== undefined)
    throw usageError(`Two checks have the name "${twice.name}"; give each its own name.`);
  const spec = prompt === "" ? (phrase ?? "") : prompt;
  if (spec.trim() === "") throw usageError("The spec is missing.", 'Write: loop score "<spec>"');
  const protect = flags.protect ?? [];
  const score = scoreSpec(spec, {
    checks: checks.length - criteria.length,
    phrases: criteria.length,
    until: phrase,
    protect: protect.length,
  });
  return {
    spec,
    until: phrase,
    total: score.total,
    shape: shapeOfScore(score.total),
    dimensions: score.dimensions,
    questions: questionsFor(score),
    workflow: decideWorkflow(spec),
    reversibility: decideReversibility(spec),
    needsPlan: needsPlan(spec),
    checks: checks.map((criterion) => ({
      name: criterion.name,
      verification: verificationOf(criterion.check),
      text: renderCheck(criterion),
      source: criterion.source,
    })),
    protect,
    unknown,
  };
}

function readWords(words: readonly string[], flags: ScoreFlags): ReturnType<typeof splitUntil> {
  const [first, ...rest] = words;
  if (first?.toLowerCase() !== "until") {
    return { criteria: [], phrase: null, prompt: words.join(" ").trim(), unknown: null };
  }
  return splitUntil(rest, readProjectFacts(findProject(flags.project ?? ".")));
}

const WORKFLOWS = { A: "A (build)", B: "B (debug)", C: "C (refactor)" } as const;
const REVERSIBILITIES = {
  "2A": "2A (easy to undo)",
  "2B": "2B (a checkpoint at each step)",
  "1": "1 (hard to undo: a second agent reviews the plan, and a person must approve)",
} as const;

function render(view: ScoreView, io: Io): string {
  const lines = [`${paint(io, "bold", `${view.total}/10`)}  ${shapeText(view.total)}`, ""];
  for (const dimension of view.dimensions) lines.push(...renderDimension(dimension, io));
  lines.push(
    "",
    `Workflow       ${WORKFLOWS[view.workflow.workflow]}${because(view.workflow.words)}`,
    `Reversibility  ${REVERSIBILITIES[view.reversibility.reversibility]}${because(view.reversibility.words)}`,
    `Plan           ${view.needsPlan ? "the first turn splits the work into steps" : "one step, no planning turn"}`,
    ...renderChecks(view),
  );
  if (view.total < COLLEAGUE_FROM) {
    lines.push("", `A score below ${COLLEAGUE_FROM} does not start. Answer these questions in the spec:`);
    for (const question of view.questions) lines.push(`  - ${question}`);
  }
  return lines.join("\n");
}

function shapeText(total: number): string {
  switch (shapeOfScore(total)) {
    case "tool":
      return `tool: a score of ${TOOL_FROM} or more runs without questions and reports at the end`;
    case "colleague":
      return `colleague: a score of ${COLLEAGUE_FROM} to ${TOOL_FROM - 1} asks after the plan, after each iteration and before the end`;
    case "vague":
      return `vague: \`loop until\` does not start it without --force (exit code 5)`;
  }
}

export function renderDimension({ dimension, score, words, raise }: DimensionScore, io: Io): string[] {
  const quotes = words.map((word) => (word.startsWith("--") ? word : `"${oneLine(word)}"`)).join(", ");
  const head = `${dimension.padEnd(13)}${score}  ${quotes === "" ? "no words found" : quotes}`;
  return raise === null ? [head] : [head, paint(io, "dim", `${" ".repeat(16)}${raise}`)];
}

function renderChecks({ checks, unknown, protect }: ScoreView): string[] {
  const lines = checks.map(({ text }) => `  ${oneLine(text)}`);
  if (unknown !== null)
    lines.push(`  "${oneLine(unknown)}" is not a known phrase; add a check: --check 'name=command'`);
  if (lines.length === 0) lines.push("  none; the agent proposes checks in its plan");
  if (protect.length > 0) lines.push(`  protected: ${protect.map(oneLine).join(", ")}`);
  return ["Checks", ...lines];
}

function because(words: readonly string[]): string {
  return words.length === 0 ? "" : `, because of ${words.map((word) => `"${oneLine(word)}"`).join(", ")}`;
}
