/** The parts of the prompts of a goal. Each is a paragraph, or empty. */
import { renderDemand, renderFinding } from "../../checks/kinds.ts";
import { statusTemplate } from "../../claims/claims.ts";
import type { Criterion, Goal, Workflow } from "../../goal/goal.ts";
import { isMet, isProved, metCriteria } from "../../goal/proof.ts";
import { renderBudget, renderCost } from "../figures.ts";
import { codeSpan, inLine, joinParts, lastPart, quote, quoteFenced, withoutNonce } from "../quote.ts";
import { currentStep, evidenceOf, iterationOf, stepCounts } from "./goal-facts.ts";

/** Limits for the output of one check, and of all together: the rest of the context is for the work. */
const TAIL_LINES = 60;
const TAIL_LETTERS = 4_000;
const EVIDENCE_LETTERS = 12_000;
const HANDED_OVER = 3;

export function renderHead(goal: Goal): string {
  const { done, total } = stepCounts(goal);
  const cost = `${renderCost(goal.spent)}/${renderBudget(goal.limits.budgetUsd)}`;
  return `[LOOP] Goal ${goal.id} | Iteration ${iterationOf(goal)} | Cost: ${cost} | Steps: ${done}/${total} done`;
}

export function renderSpec(goal: Goal): string {
  return `# The spec, word for word\n${quote(goal.spec, nonceOf(goal))}`;
}

/** What an agent needs to know before it plans or works. Remarks of people and refusals of the engine come first. */
export function renderTerms(goal: Goal): string {
  return joinParts([
    renderRemarks(goal),
    renderSpec(goal),
    WORKFLOWS[goal.workflow],
    renderCriteria(goal),
    renderMustNot(goal),
    renderRules(goal),
  ]);
}

export function renderRemarks(goal: Goal): string {
  if (goal.remarks.length === 0) return "";
  return `# Read this first\n${goal.remarks.map((remark) => quote(remark, nonceOf(goal))).join("\n>\n")}`;
}

const WORKFLOWS: Readonly<Record<Workflow, string>> = {
  A: "# Before you build\nSearch for a library first: among those that the project uses, then among well-maintained packages. Write it yourself only if none fits, and say what you looked at.",
  B: "# Before you fix\nFind the root cause before any workaround. Say what the cause is and how you know. A retry, a longer timeout or a caught error is no fix.",
  C: "# Before you redesign\nDelete before you redesign: first remove what nothing needs, then look at the rest.",
};

export function renderCriteria(goal: Goal): string {
  const head = "# What must be true at the end";
  if (goal.criteria.length === 0) return `${head}\nThere is no criterion yet, so nothing can prove the end.`;
  const lines = goal.criteria.map((criterion) => renderCriterion(goal, criterion));
  const rule = "The engine runs these checks itself after your turn; your own statement does not count.";
  return [head, rule, ...lines].join("\n");
}

function renderCriterion(goal: Goal, criterion: Criterion): string {
  const evidence = evidenceOf(goal, criterion.name);
  const now = isMet(goal, criterion.name) ? "met" : renderFinding(criterion, evidence);
  return `${renderDemanded(goal, criterion)} Now: ${now}.`;
}

function renderDemanded(goal: Goal, { name, check }: Criterion): string {
  const nonce = nonceOf(goal);
  return `- ${inLine(name, nonce)}: ${withoutNonce(renderDemand(check), nonce)}.`;
}

export function renderMustNot(goal: Goal): string {
  if (goal.mustNot.length === 0) return "";
  const lines = goal.mustNot.map(({ name, command }) => {
    const watch = command === null ? "" : ` (the engine checks this with ${codeSpan(command)})`;
    return `- ${withoutNonce(`${inLine(name, null)}${watch}`, nonceOf(goal))}`;
  });
  return [
    "# What must never become true",
    "If one of these becomes true, the loop stops at once.",
    ...lines,
  ].join("\n");
}

export function renderRules(goal: Goal): string {
  const globs = goal.policy.protect.map(codeSpan);
  const more = globs.length === 0 ? "" : ` So are ${withoutNonce(globs.join(", "), nonceOf(goal))}.`;
  return `# What you leave alone
Do not change tests, the configuration of the checks or other files that the checks depend on, unless the spec asks for it: these files are watched.${more} After such a change the check does not count until a person accepts the change. Do not write anything under .loop.

# Where your work ends
Do only what the spec says: no other features, no other clean-up, no new dependency that it does not name. If the spec leaves a decision open, do not decide: stop and say in NEXT what has to be decided.`;
}

export function renderStep(goal: Goal): string {
  const step = currentStep(goal);
  const { done, total } = stepCounts(goal);
  if (isSilentlyProved(goal)) return PROVED;
  if (step === null && isProved(goal))
    return "# This turn\nEvery step is done and every criterion is proved, but a person does not accept it as done. Do what the person said.";
  if (step === null)
    return "# This turn\nEvery step is done, but not every criterion is met. Work on one unmet criterion in this turn.";
  const name = inLine(step, nonceOf(goal));
  return `# This turn\nOne iteration does one step. Step ${done + 1} of ${total}: ${name}\nIf this is the wrong step, replace the remaining steps in your report; never drop a step silently.`;
}

const PROVED = `# This turn
Every criterion is proved on the current files, but you did not signal the end.
If the spec is done, change nothing and signal the end now (EXIT_SIGNAL becomes true). If something is left, say in NEXT what it is and do it in this turn.`;

/** Proved on the current files, but the agent has not signalled the end (B9). */
export function isSilentlyProved(goal: Goal): boolean {
  return goal.phase.kind === "proved" && !goal.exitSignal;
}

export function renderFailing(goal: Goal): string {
  const blocks: string[] = [];
  let room = EVIDENCE_LETTERS;
  for (const criterion of goal.criteria.filter(({ name }) => !isMet(goal, name))) {
    const block = renderEvidence(goal, criterion, Math.min(TAIL_LETTERS, room));
    blocks.push(block);
    room = Math.max(0, room - block.length);
  }
  return blocks.length === 0 ? "" : `# What is not met\n${blocks.join("\n")}`;
}

function renderEvidence(goal: Goal, criterion: Criterion, letters: number): string {
  const nonce = nonceOf(goal);
  const evidence = evidenceOf(goal, criterion.name);
  const note = evidence?.note ? ` Note: ${inLine(evidence.note, nonce).slice(0, 500)}` : "";
  const line = `${renderDemanded(goal, criterion)} It returned: ${renderFinding(criterion, evidence)}.${note}`;
  if (evidence === null || evidence.tail.trim() === "") return line;
  if (letters < 200) return `${line} Its output is too long for this message: run it yourself.`;
  return `${line}\n${quoteFenced(lastPart(evidence.tail, TAIL_LINES, letters), nonce)}`;
}

export function renderMet(goal: Goal): string {
  const met = metCriteria(goal);
  if (met.length === 0) return "";
  return `# What is met\n${met.map(({ name }) => `- ${inLine(name, nonceOf(goal))}`).join("\n")}`;
}

export function renderSteps(goal: Goal): string {
  return goal.steps.length < 2 ? "" : ["# The steps", ...stepLines(goal)].join("\n");
}

function stepLines(goal: Goal): readonly string[] {
  const marks = { done: "[x]", open: "[ ]", replaced: "[replaced]" } as const;
  return goal.steps.map(({ name, status }) => `${marks[status]} ${inLine(name, nonceOf(goal))}`);
}

/** For an agent that does not know the earlier turns. */
export function renderHandover(goal: Goal): string {
  const nonce = nonceOf(goal);
  const turns = goal.receipts.filter(({ kind }) => kind === "work").slice(-HANDED_OVER);
  const steps = stepLines(goal);
  const done = turns.map((turn) => {
    const files = turn.files.map((file) => inLine(file, nonce)).join(", ");
    const more = turn.filesChanged - turn.files.length;
    const changed =
      turn.filesChanged === 0 ? "no file changed" : `changed ${files}${more > 0 ? ` and ${more} more` : ""}`;
    const moved = turn.moved.length === 0 ? "no check moved" : inLine(turn.moved.join(", "), nonce);
    const failure =
      turn.failure === null ? "" : `; it failed: ${inLine(turn.failure.reason, nonce).slice(0, 300)}`;
    return `- iteration ${turn.iteration}, ${inLine(turn.step ?? "no step", nonce)}: ${changed}; ${moved}${failure}`;
  });
  const next = goal.next === null ? [] : ["The last turn said what comes next:", quote(goal.next, nonce)];
  if (steps.length + done.length + next.length === 0) return "";
  return [
    "# What was done before you",
    "You do not remember these turns; the files are in the state that they left.",
    ...steps,
    ...(done.length === 0 ? [] : ["The last turns:", ...done]),
    ...next,
  ].join("\n");
}

/** The form of the report. An echo of it is no report. */
export function renderReportForm(goal: Goal, nonce: string, withChecks: boolean): string {
  const names = goal.criteria.map(({ name }) => name);
  return `# How you report
End your last message with this block, filled in. Put it after an empty line, outside of code blocks and quotes. Or call the tool loop_report with the same nonce, if you have that tool. EXIT_SIGNAL is true only when the whole spec is done. Without a report the turn counts, but claims nothing.
${statusTemplate(nonce, names, withChecks)}`;
}

export function nonceOf({ job }: Goal): string | null {
  return job?.nonce ?? null;
}
