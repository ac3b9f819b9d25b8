/**
 * Parses the planner's answer (C14): one block of JSON with the nonce of its turn. Anything unexpected is refused,
 * never repaired or guessed, because the commands in it will run.
 */
import { runOf } from "../../checks/kinds.ts";
import { isRecord } from "../../json.ts";
import { parseCheckFlag } from "../../spec/check-flag.ts";
import { cleanLine, cleanText } from "../../text/clean.ts";
import type { Mode } from "../backlog.ts";
import { faultOfStoryId, faultsOfChecks } from "../prd/registry.ts";
import { DEPTHS, type Depth, type Story, UNTRIED } from "../stories.ts";

export const MAX_QUESTIONS = 3;
export const MAX_STORIES = 30;
export const MAX_CRITERIA = 12;

export interface StoryPlan {
  readonly project: string;
  readonly branchName: string;
  readonly description: string;
  readonly stories: readonly Story[];
}

/** The message completes the sentence "The planner's answer was refused: …". */
export type PlanAnswer =
  | { readonly kind: "plan"; readonly plan: StoryPlan }
  | { readonly kind: "questions"; readonly questions: readonly string[] }
  | { readonly kind: "refused"; readonly message: string };

export function parsePlan(
  answer: string,
  { nonce, mode, mayAsk }: { readonly nonce: string; readonly mode: Mode; readonly mayAsk: boolean },
): PlanAnswer {
  try {
    const { nonce: _, ...body } = readBlock(answer, nonce);
    if (!("questions" in body)) return { kind: "plan", plan: readPlan(body, mode) };
    if ("userStories" in body) throw new Odd("it has both questions and stories");
    if (!mayAsk) throw new Odd("it asks again although its questions were answered");
    only(body, ["questions"], "the answer");
    return { kind: "questions", questions: readQuestions(body.questions) };
  } catch (error) {
    if (error instanceof Odd) return { kind: "refused", message: error.message };
    throw error;
  }
}

/** Thrown and caught in this file only. */
class Odd extends Error {}

type Fields = Readonly<Record<string, unknown>>;

const FENCED = /^ {0,3}(`{3,}|~{3,})[^\n`]*\n([\s\S]*?)^ {0,3}\1[`~]*[ \t]*$/gm;
const MAX_ANSWER = 2_000_000;

/** The block is fenced, or the whole answer. */
function readBlock(answer: string, nonce: string): Fields {
  if (answer.length > MAX_ANSWER) throw new Odd("it is too long");
  const text = answer.replaceAll(/\r\n?/g, "\n").trim();
  if (text === "") throw new Odd("it is empty");
  const fenced = [...text.matchAll(FENCED)].map(([, , inside = ""]) => inside.trim());
  const blocks = text.startsWith("{") ? [text] : fenced.filter((inside) => inside.startsWith("{"));
  const ours = blocks.filter((inside) => inside.includes(nonce));
  if (ours.length > 1) throw new Odd(`it has ${ours.length} blocks of JSON with the nonce of this turn`);
  const [block] = ours;
  if (block === undefined)
    throw new Odd(
      blocks.length === 0 ? "it has no block of JSON" : "its JSON does not have the nonce of this turn",
    );
  const body = parseJson(block);
  if (body.nonce !== nonce) throw new Odd("its JSON does not have the nonce of this turn");
  return body;
}

function parseJson(block: string): Fields {
  try {
    const value: unknown = JSON.parse(block);
    if (isRecord(value)) return value;
  } catch (error) {
    throw new Odd(`its block is not JSON: ${cleanLine((error as Error).message)}`);
  }
  throw new Odd("its block is not a JSON object");
}

function readQuestions(value: unknown): readonly string[] {
  const questions = texts(value, "questions", 500);
  if (questions.length === 0) throw new Odd("its list of questions is empty");
  if (questions.length > MAX_QUESTIONS)
    throw new Odd(`it has ${questions.length} questions; at most ${MAX_QUESTIONS} are allowed`);
  return questions.map(cleanLine);
}

function readPlan(body: Fields, mode: Mode): StoryPlan {
  only(body, ["project", "branchName", "description", "userStories"], "the answer");
  const { userStories } = body;
  if (!Array.isArray(userStories)) throw new Odd("it has no list userStories");
  if (userStories.length === 0) throw new Odd("its list of stories is empty");
  if (userStories.length > MAX_STORIES)
    throw new Odd(`it has ${userStories.length} stories; at most ${MAX_STORIES} are allowed`);
  const branchName = optionalText(body.branchName, "branchName", 200);
  if (
    !/^(?:[A-Za-z0-9_][A-Za-z0-9._/-]*)?$/.test(branchName) ||
    /\.\.|\/\/|\/\.|\/$|\.lock$/.test(branchName)
  )
    throw new Odd(`"${cleanLine(branchName)}" is not a valid branch name`);
  return {
    project: cleanLine(optionalText(body.project, "project", 200)),
    branchName,
    description: cleanText(optionalText(body.description, "description", MAX_TEXT)).trim(),
    stories: userStories.map((item: unknown, index) => readStory(item, index, mode)),
  };
}

const MAX_TEXT = 8_000;
const MAX_TITLE = 150;

const KEYS = "id title description acceptanceCriteria checks priority dependsOn depth holdouts".split(" ");

function readStory(item: unknown, index: number, mode: Mode): Story {
  if (!isRecord(item)) throw new Odd(`story ${index + 1} is not an object`);
  const { id } = item;
  if (typeof id !== "string") throw new Odd(`story ${index + 1} has no id`);
  const fault = faultOfStoryId(id);
  if (fault !== null)
    throw new Odd(`story ${index + 1} cannot have the id "${cleanLine(id).slice(0, 80)}": ${fault}`);
  // Many planners write the engine's fields with their initial value, which is harmless.
  for (const [key, value] of Object.entries(UNTRIED))
    if (item[key] !== undefined && item[key] !== null && item[key] !== value)
      throw new Odd(`${id}: the planner must not set ${key}`);
  only(item, [...KEYS, ...Object.keys(UNTRIED)], id);
  const title = cleanLine(optionalText(item.title, `${id}: title`, MAX_TITLE));
  if (title === "") throw new Odd(`${id} has no title`);
  const acceptanceCriteria = texts(item.acceptanceCriteria ?? [], `${id}: acceptanceCriteria`, 1_000);
  if (acceptanceCriteria.length === 0) throw new Odd(`${id} has no acceptance criterion`);
  if (acceptanceCriteria.length > MAX_CRITERIA)
    throw new Odd(`${id} has ${acceptanceCriteria.length} criteria; at most ${MAX_CRITERIA} are allowed`);
  return {
    id,
    title,
    description: cleanText(optionalText(item.description, `${id}: description`, MAX_TEXT)).trim(),
    acceptanceCriteria: acceptanceCriteria.map(cleanLine),
    checks: readChecks(item.checks ?? [], id, mode),
    priority: readPriority(item.priority ?? null, id),
    dependsOn: [...new Set(texts(item.dependsOn ?? [], `${id}: dependsOn`, 64))],
    ...UNTRIED,
    depth: readDepth(item.depth ?? null, id),
    tier: null,
    holdouts: texts(item.holdouts ?? [], `${id}: holdouts`, 1_000).map(cleanLine),
  };
}

/** Commands that always exit with 0. */
const EMPTY_COMMAND = /^(?:true|:|exit(?: 0)?|(?:echo|printf)\b[^|&;<>`$]*)$/;

function readChecks(value: unknown, id: string, mode: Mode): readonly string[] {
  const checks = texts(value, `${id}: checks`, 2_000).map((text) => text.trim());
  // A person reads the checks before they run, so they must not contain hidden text.
  const hidden = checks.find((text) => cleanText(text) !== text || text.includes("\n"));
  if (hidden !== undefined) throw new Odd(`${id}: a check has characters that cannot be seen`);
  const [wrong] = faultsOfChecks(checks);
  if (wrong !== undefined) throw new Odd(`${id}: ${wrong.message}`);
  let counted = 0;
  for (const text of checks) {
    const parsed = parseCheckFlag(text);
    if (parsed.kind === "invalid") continue;
    const { name, check } = parsed.criterion;
    const run = runOf(check);
    if (run.kind === "nothing") throw new Odd(`${id}: the check "${name}" only assumes something`);
    if (run.kind !== "command") continue;
    if (EMPTY_COMMAND.test(run.command)) throw new Odd(`${id}: the check "${name}" always passes`);
    counted += 1;
  }
  if (counted === 0 && mode !== "explore") throw new Odd(`${id} has no check with a command`);
  return checks;
}

function readPriority(value: unknown, id: string): number | null {
  if (value === null) return null;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Odd(`${id}: priority is not a whole number (1 comes first)`);
}

function readDepth(value: unknown, id: string): Depth | null {
  if (value === null) return null;
  const depth = DEPTHS.find((known) => known === value);
  if (depth === undefined) throw new Odd(`${id}: depth is not one of ${DEPTHS.join(", ")}`);
  return depth;
}

function only(fields: Fields, known: readonly string[], of: string): void {
  const other = Object.keys(fields).find((key) => !known.includes(key));
  if (other !== undefined)
    throw new Odd(`${of} has a key "${cleanLine(other).slice(0, 60)}" that is not allowed`);
}

function texts(value: unknown, name: string, most: number): readonly string[] {
  if (!Array.isArray(value)) throw new Odd(`${name} is not a list`);
  return value.map((one: unknown) => {
    if (typeof one !== "string" || one.trim() === "")
      throw new Odd(`${name} has an item that is empty or not text`);
    if (one.length > most) throw new Odd(`${name} has an item of more than ${most} characters`);
    return one;
  });
}

/** "" for a missing value. */
function optionalText(value: unknown, name: string, most: number): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw new Odd(`${name} is not text`);
  if (value.length > most) throw new Odd(`${name} has more than ${most} characters`);
  return value;
}
