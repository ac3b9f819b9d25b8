/**
 * The prompts of generator and evaluator (C4, C5, C7, C15).
 *
 * 1. A base and a mode, joined by a line `---`. A project may write both. The engine always adds why the last attempt
 *    was rejected, the hidden criteria, and how to give a verdict.
 * 2. No echo of a prompt or of a part of it is a verdict or any other claim.
 * 3. The generator sees no hidden criterion, not even quoted in a reason, a note or an output.
 */
import { renderDemand } from "../../checks/kinds.ts";
import { countsIfEchoed, verdictTemplate } from "../../claims/claims.ts";
import type { Criterion } from "../../goal/goal.ts";
import { cleanText } from "../../text/clean.ts";
import { inLine, joinParts, lastPart, quote, quoteFenced } from "../../text/quote.ts";
import type { Mode, ScopeBudget } from "../backlog.ts";
import { lastEntries } from "../progress-entry.ts";
import { rejectionsIn } from "../report.ts";
import type { Story } from "../stories.ts";
import { type FailingCheck, hideHoldouts, VERDICT_TOOL } from "../verdict.ts";
import type { PromptRole, PromptTexts } from "./prompt-texts.ts";
import { fillVariables, type Values } from "./variables.ts";

export interface PromptFacts {
  readonly texts: PromptTexts;
  readonly story: Story;
  readonly mode: Mode;
  readonly budget: ScopeBudget;
  readonly iteration: number;
  readonly maxIterations: number;
  readonly loopDir: string;
  readonly projectRoot: string;
  /** null: no commit yet. */
  readonly preGeneratorSha: string | null;
  readonly checks: readonly Criterion[];
  /** The text of its file; null: no file. */
  readonly contract: string | null;
  /** The text of progress.md, or its end. */
  readonly progress: string;
  /** Why the last attempt was rejected; null: the last reason in the notes counts. */
  readonly rejection: Rejection | null;
  /** Each turn has its own. */
  readonly nonce: string;
}

export interface Rejection {
  readonly reason: string;
  readonly failing: readonly FailingCheck[];
}

export interface EvaluatorFacts extends PromptFacts {
  /** Includes uncommitted and new files. */
  readonly changedFiles: readonly string[];
}

export type RenderedPrompt =
  | { readonly kind: "ok"; readonly text: string }
  /** A sentence that names the file and the line. */
  | { readonly kind: "wrong"; readonly message: string };

export function renderGeneratorPrompt(facts: PromptFacts): RenderedPrompt {
  const safe = (text: string) => hideHoldouts(cleanText(text), facts.story.holdouts);
  const values = valuesOf(facts, [], safe);
  const lead = rejectionOf(facts) === null ? "" : `${SENT_BACK}\n${values.REJECTION}`;
  return assemble("generator", facts, values, { opening: lead, closing: "" });
}

export function renderEvaluatorPrompt(facts: EvaluatorFacts): RenderedPrompt {
  const values = valuesOf(facts, facts.changedFiles, cleanText);
  const closing = joinParts([renderHoldouts(facts), renderVerdictForm(facts.nonce)]);
  return assemble("evaluator", facts, values, { opening: "", closing });
}

const SENT_BACK = `# Read this first: the last attempt was rejected
Here are the reasons. In this turn, remove every cause that is named here. Then do the rest of the story.`;

function renderHoldouts({ story, nonce }: PromptFacts): string {
  if (story.holdouts.length === 0) return "";
  return `# Hidden criteria
The generator does not know these criteria, and they must be true, too. Your reason must not reveal them: say what the program does wrong, as a user would notice it. Do not quote or name a hidden criterion.
${renderList(story.holdouts, (one) => inLine(one, nonce))}`;
}

function renderVerdictForm(nonce: string): string {
  return `# How you answer
First say what you looked at, what you ran and what you saw. Then give one verdict: call the tool ${VERDICT_TOOL} with the nonce ${nonce}, if you have that tool. Otherwise end your last message with these lines, filled in. Put them after an empty line, outside of code blocks and quotes. No verdict, or two different ones, counts as a rejection.
${verdictTemplate(nonce)}`;
}

function assemble(
  role: PromptRole,
  facts: PromptFacts,
  values: Values,
  frame: { readonly opening: string; readonly closing: string },
): RenderedPrompt {
  const { texts, story, nonce } = facts;
  const head = `[LOOP] Story ${values.CURRENT_STORY_ID} | Iteration ${values.ITERATION}/${values.MAX_ITERATIONS} | ${role} | ${facts.mode}`;
  const filled: string[] = [];
  for (const [name, text] of [
    ["_base", texts.base],
    [facts.mode, texts.mode],
  ] as const) {
    const result = fillVariables(cleanText(text.text), values);
    const place = text.path ?? `The default prompt ${role}/${name}`;
    if (result.kind === "wrong")
      return { kind: "wrong", message: `${place}, line ${result.line}: ${result.message}.` };
    if (countsIfEchoed(result.text, nonce)) return { kind: "wrong", message: `${place} ${ECHO}` };
    filled.push(result.text.trim());
  }
  const text = [joinParts([head, frame.opening]), ...filled, frame.closing]
    .filter((part) => part !== "")
    .join("\n\n---\n\n");
  if (countsIfEchoed(text, nonce))
    return { kind: "wrong", message: `The prompt of the ${role} for ${story.id} ${ECHO}` };
  return { kind: "ok", text: `${text}\n` };
}

const ECHO =
  "contains text that would count as a claim if an agent repeated it. Remove the nonce from it: the engine adds the form of the verdict.";

/** Limits on quoted files: the rest of the context is for the work. */
const PROGRESS_ENTRIES = 8;
const PROGRESS_LETTERS = 6_000;
const CONTRACT_LETTERS = 12_000;
const NOTE_LINES = 40;
const NOTE_LETTERS = 6_000;
const FILES_SHOWN = 200;

/** The hash of an empty tree in git. */
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

function valuesOf(
  facts: PromptFacts,
  changedFiles: readonly string[],
  safe: (text: string) => string,
): Values {
  const { story, budget, nonce } = facts;
  const line = (text: string) => inLine(safe(text), nonce);
  const block = (text: string) => quote(text.trim() === "" ? "(none)" : safe(text).trim(), nonce);
  const progress = lastEntries(facts.progress, PROGRESS_ENTRIES, PROGRESS_LETTERS);
  return {
    MAX_FILES_TO_READ: String(budget.maxFilesToRead),
    MAX_LINES_TO_WRITE: String(budget.maxLinesToWrite),
    MAX_FILES_TO_MODIFY: String(budget.maxFilesToModify),
    MODE: facts.mode,
    ITERATION: String(facts.iteration),
    MAX_ITERATIONS: String(facts.maxIterations),
    LOOP_DIR: inLine(facts.loopDir, nonce),
    PROJECT_ROOT: inLine(facts.projectRoot, nonce),
    CURRENT_STORY_ID: inLine(story.id, nonce),
    PRE_GENERATOR_SHA: inLine(facts.preGeneratorSha ?? EMPTY_TREE, nonce),
    STORY_TITLE: line(story.title),
    STORY_DESCRIPTION: block(story.description),
    ACCEPTANCE_CRITERIA: renderList(story.acceptanceCriteria, line),
    CHECKS: renderList(facts.checks, ({ name, check }) => line(`${name}: ${renderDemand(check)}`)),
    NOTES: block(lastPart(story.notes, NOTE_LINES, NOTE_LETTERS)),
    CONTRACT: block(firstPart(facts.contract ?? "", CONTRACT_LETTERS)),
    PROGRESS: block(progress),
    REJECTION: renderRejection(rejectionOf(facts), safe, nonce),
    CHANGED_FILES: renderFiles(changedFiles, nonce),
    NONCE: nonce,
  };
}

function rejectionOf({ rejection, story }: PromptFacts): Rejection | null {
  if (rejection !== null) return rejection;
  const reason = rejectionsIn(story.notes).at(-1);
  return reason === undefined ? null : { reason, failing: [] };
}

/** Limits for the output of one check, and of all together. */
const TAIL_LINES = 60;
const TAIL_LETTERS = 4_000;
const EVIDENCE_LETTERS = 12_000;

function renderRejection(rejection: Rejection | null, safe: (text: string) => string, nonce: string): string {
  if (rejection === null) return "> (none)";
  const parts = [quote(safe(rejection.reason), nonce)];
  let room = EVIDENCE_LETTERS;
  for (const { name, demand, result, tail } of rejection.failing) {
    const wanted = demand === null ? "" : ` ${inLine(safe(demand), nonce)}.`;
    parts.push(`- ${inLine(safe(name), nonce)}:${wanted} It returned: ${inLine(safe(result), nonce)}.`);
    if (tail.trim() === "" || room < 200) continue;
    const printed = lastPart(safe(tail), TAIL_LINES, Math.min(TAIL_LETTERS, room));
    room -= printed.length;
    parts.push(quoteFenced(printed, nonce));
  }
  return parts.join("\n");
}

function renderList<Item>(items: readonly Item[], render: (item: Item) => string): string {
  if (items.length === 0) return "> (none)";
  return items.map((item, index) => `> ${index + 1}. ${render(item)}`).join("\n");
}

function renderFiles(files: readonly string[], nonce: string): string {
  if (files.length === 0) return "> (none)";
  const shown = files.slice(0, FILES_SHOWN).map((file) => `> ${inLine(file, nonce)}`);
  const more = files.length - shown.length;
  return [...shown, ...(more > 0 ? [`> and ${more} more`] : [])].join("\n");
}

function firstPart(text: string, maxLetters: number): string {
  if (text.length <= maxLetters) return text;
  const kept = text.slice(0, maxLetters).replace(/[\ud800-\udbff]$/, "");
  return `${kept}\n[the rest is left out: read the file]`;
}
