/**
 * Parses `.loop/shape/SHAPE.md` (B5): criteria, must-not conditions, and how each criterion is verified. The file comes
 * from a repository, so its commands run only after a person trusts it (`source` is "shape").
 */
import { type Invalid, invalid } from "../base.ts";
import { ASSUMED } from "../checks/assumption.ts";
import type { KindOfCheck } from "../checks/kind.ts";
import { kindOf, kindOfWord, parseCheck, runOf, VERIFICATIONS } from "../checks/kinds.ts";
import type { Check, Criterion, MustNot } from "../goal/goal.ts";
import { type ProjectFacts, runnerCommand } from "../toolchain/project-commands.ts";
import { faultOfName } from "./check-flag.ts";
import { parsePhrase } from "./phrases.ts";
import { readShapeItems, type ShapeItem, type ShapeSection } from "./shape-lines.ts";

export type ParsedShape =
  | { readonly kind: "ok"; readonly criteria: readonly Criterion[]; readonly mustNot: readonly MustNot[] }
  | Invalid;

/** `facts` give a criterion such as "tests pass" its command. */
export function parseShapeFile(text: string, facts: ProjectFacts): ParsedShape {
  const items = readShapeItems(text);
  const large = items.find(({ text: { length } }, at) => length > MAX_ITEM || at >= MAX_ITEMS);
  if (large !== undefined) return wrong(large.line, TOO_LARGE);
  const of = (wanted: ShapeSection) => items.filter(({ section }) => section === wanted);
  const drafts: Draft[] = [];
  const mustNot: MustNot[] = [];
  for (const item of of("criteria")) {
    const draft = readDraft(item);
    const fault = faultOfDraft(draft, drafts);
    if (fault !== null) return wrong(item.line, fault);
    drafts.push(draft);
  }
  for (const item of of("mustNot")) {
    const draft = readDraft(item);
    const fault = faultOfDraft(draft, mustNot);
    if (fault !== null) return wrong(item.line, fault);
    const check = draft.command === null ? null : commandOf(draft);
    if (typeof check === "string") return wrong(item.line, check);
    const run = check === null ? null : runOf(check);
    if (run !== null && (run.kind !== "command" || run.wanted !== null))
      return wrong(item.line, NO_COMPARISON);
    mustNot.push({ name: draft.name, command: run?.command ?? null, source: "shape" });
  }
  const fault = addVerification(drafts, of("verification"));
  if (fault !== null) return fault;
  const criteria: Criterion[] = [];
  for (const draft of drafts) {
    const check = toCheck(draft, facts);
    if (typeof check === "string") return wrong(draft.line, check);
    criteria.push({ name: draft.name, check, source: "shape" });
  }
  if (criteria.length === 0 && mustNot.length === 0) return invalid(EMPTY);
  return { kind: "ok", criteria, mustNot };
}

const EMPTY =
  'SHAPE.md has no criteria: write "## Criteria" and below it lines such as "- tests pass: `npm test`".';
const NO_COMPARISON =
  "a must-not item takes a command without a comparison; exit 0 means that it is violated";
const MAX_NAME = 60;
const MAX_ITEM = 1_000;
const MAX_ITEMS = 200;
const TOO_LARGE = `the file is too large; at most ${MAX_ITEMS} items of ${MAX_ITEM} characters are read`;

interface Draft {
  readonly line: number;
  readonly name: string;
  /** The whole text, for a judge. */
  readonly text: string;
  command: string | null;
  /** ">= 80" */
  comparison: string | null;
  /** The kind that the file names; null: none. */
  kind: KindOfCheck | null;
  fault: string | null;
}

/** A command at the end of an item. "passes" and similar words may follow. */
const COMMAND =
  /^(?:(.*?)(?:\s*[:–—(]|\s+-|\s+by|\s+with)?\s*)?`([^`]+)`\)?\s*((?:>=|<=|>|<|==|!=)\s*-?\d+(?:\.\d+)?%?|(?:passes|pass|succeeds|is green|is clean|exits? (?:with )?0))?\s*\.?$/i;
const KIND_AT_END = /^(.*?)\s*(?:[:–—]\s*|\s-\s+|[([]\s*)([A-Za-z][A-Za-z -]{2,20}?)\s*[)\]]?\s*$/;

function readDraft({ text, keys, line }: ShapeItem): Draft {
  const said = readSaid(text);
  const command = keys.command?.replace(/^`([^`]*)`/, "$1") ?? said.command;
  const kind = keys.verification === undefined ? said.kind : kindOfWord(keys.verification);
  const fault = keys.verification !== undefined && kind === null ? unknownKind(keys.verification) : null;
  return { ...said, line, name: shorten(said.name), text: said.name, command, kind, fault };
}

function readSaid(text: string): Pick<Draft, "name" | "command" | "comparison" | "kind"> {
  const [, before, command, after = ""] = COMMAND.exec(text) ?? [];
  if (command !== undefined) {
    const isCompared = /^[<>=!]/.test(after);
    const plain = readSaid(before ?? "");
    const name =
      plain.name === "" ? `${command}${isCompared || after === "" ? "" : ` ${after}`}` : plain.name;
    return { name, command, comparison: isCompared ? after : null, kind: plain.kind };
  }
  const [, name = "", word = ""] = KIND_AT_END.exec(text) ?? [];
  const kind = name === "" ? null : kindOfWord(word);
  if (kind !== null) return { ...readSaid(name), kind };
  const [, named, typed] = /^(.+?):\s+(.+)$/.exec(text) ?? [];
  const runner = typed === undefined ? null : runnerCommand(typed.split(/\s+/));
  if (named !== undefined && runner !== null)
    return { name: named, command: runner, comparison: null, kind: null };
  return { name: text.trim().replace(/[:.]$/, ""), command: null, comparison: null, kind: null };
}

function addVerification(drafts: readonly Draft[], items: readonly ShapeItem[]): Invalid | null {
  for (const [index, { text, line }] of items.entries()) {
    const alone = kindOfWord(text);
    const said = alone === null ? readSaid(text) : null;
    const draft = said === null ? drafts[index] : findDraft(drafts, said.name);
    if (said === null || draft === undefined) {
      if (draft === undefined) return wrong(line, faultOfVerification(text, drafts));
      draft.kind = alone;
      continue;
    }
    if (said.command === null && said.kind === null) return wrong(line, unknownKind(text));
    draft.kind = said.kind ?? draft.kind;
    draft.command = said.command ?? draft.command;
    draft.comparison = said.comparison ?? draft.comparison;
  }
  return null;
}

function findDraft(drafts: readonly Draft[], name: string): Draft | undefined {
  const same = (text: string) => text.toLowerCase() === name.trim().toLowerCase();
  return drafts.find((draft) => same(draft.name) || same(draft.text));
}

function toCheck(draft: Draft, facts: ProjectFacts): Check | string {
  const { command, kind, text } = draft;
  if (command !== null) {
    const check = commandOf(draft);
    const mismatch =
      typeof check === "string" || kind === kindOf(check) ? null : (kind?.shape.mismatch ?? null);
    return mismatch === null ? check : `"${draft.name}" ${mismatch}`;
  }
  const named = kind?.shape.ofText(text) ?? null;
  if (named !== null) return named;
  const known = parsePhrase(text, facts);
  const [only, ...others] = known.kind === "known" ? known.criteria : [];
  return only !== undefined && others.length === 0 ? only.check : ASSUMED;
}

function commandOf({ command, comparison }: Draft): Check | string {
  const compared = comparison === null ? "" : comparison.replace(/^([<>=!]+)\s*/, " $1 ");
  const check = parseCheck(`${command?.trim() ?? ""}${compared}`);
  return typeof check === "string" && command?.trim() === "" ? "the command is empty" : check;
}

function unknownKind(text: string): string {
  return `"${shorten(text)}" is not a way to verify; write ${VERIFICATIONS.slice(0, -1).join(", ")} or ${VERIFICATIONS.at(-1)}`;
}

function faultOfVerification(text: string, drafts: readonly Draft[]): string {
  const [, name, word] = /^(.+):\s*(.+)$/.exec(text) ?? [];
  if (word !== undefined && findDraft(drafts, name ?? "") !== undefined) return unknownKind(word);
  const names = drafts.map(({ name }) => `"${name}"`).join(", ");
  return `"${shorten(text)}" belongs to no criterion; ${names === "" ? "there are none" : `the criteria are: ${names}`}`;
}

function faultOfDraft(draft: Draft, others: readonly { readonly name: string }[]): string | null {
  if (draft.fault !== null) return draft.fault;
  const isTaken = others.some(({ name }) => name === draft.name);
  return isTaken ? `"${draft.name}" appears twice` : faultOfName(draft.name);
}

function shorten(text: string): string {
  const letters = [...text.trim()];
  if (letters.length <= MAX_NAME) return letters.join("");
  const start = letters.slice(0, MAX_NAME - 1).join("");
  return `${start.trimEnd()}…`;
}

function wrong(line: number, fault: string): Invalid {
  return invalid(`SHAPE.md line ${line}: ${fault}.`);
}
