/**
 * Parses the status block of an agent (B10). Anything unknown in a block makes it void, because a half-understood block
 * is a false claim. The next prompt tells the agent the reason.
 */
import type { Claims, Report } from "../goal/goal.ts";
import { isRecord, parseJson } from "../json.ts";
import type { OwnLines } from "./own-lines.ts";
import { tidyLine, trimSpace } from "./tidy.ts";

export const START = "---LOOP_STATUS---";
export const END = "---END_STATUS---";

const MAX_TEXT = 300;
const MAX_STEPS = 50;
const MAX_CHECKS = 20;
const MAX_CHECK = 1000;
const KEYS = ["NONCE", "EXIT_SIGNAL", "CRITERIA", "STUCK_COUNT", "STEP", "STEPS", "CHECKS", "NEXT"] as const;
type Key = (typeof KEYS)[number];

export interface Expected {
  readonly nonce: string;
  readonly criteria: readonly string[];
}

export type Void = Extract<Report, { kind: "void" }>;

/** The lines of a block, without blank lines. */
export type Block = readonly string[];

/** All blocks in the agent's own words, in order. A marker out of order voids all of them. */
export function findBlocks({ lines, isOwn, startsOwn }: OwnLines): readonly Block[] | Void {
  const blocks: Block[] = [];
  let open: string[] | null = null;
  for (const [index, line] of lines.entries()) {
    const text = textOf(line);
    if (open === null) {
      if (text === START && startsOwn(index)) open = [];
      else if (text === END && startsOwn(index))
        return voided("its end marker comes before its start marker");
    } else if (!isOwn(index)) {
      return voided("a part of it is inside code, a quote, a comment or a tag");
    } else if (text === START) {
      return voided("it starts a second time before it ends");
    } else if (text === END) {
      blocks.push(open);
      open = null;
    } else if (text !== "") {
      open.push(text);
    }
  }
  return open === null ? blocks : voided("its end marker is missing");
}

export function parseBlock(block: Block, expected: Expected): Report {
  const values = readKeys(block);
  if (!(values instanceof Map)) return values;
  const nonce = values.get("NONCE");
  if (nonce === undefined) return voided("NONCE is missing");
  if (nonce !== expected.nonce || nonce === "") return voided("NONCE is not the nonce of this turn");
  const faults: Faults = [];
  const claims = readClaims(values, expected.criteria, faults);
  return faults.length === 0 ? { kind: "valid", claims } : voided(faults.join("; "));
}

/** Whether a line of the block has this nonce. The other lines do not matter. */
export function hasNonce(block: Block, nonce: string): boolean {
  return block.some((line) => line.startsWith("NONCE:") && trimSpace(line.slice("NONCE:".length)) === nonce);
}

export function voided(what: string): Void {
  return { kind: "void", reason: `The status block does not count: ${what}.` };
}

/** `<…>` is a placeholder of a template. */
export function isPlaceholder(value: string): boolean {
  return value.startsWith("<") && value.indexOf(">") === value.length - 1;
}

/** Markers and keys start their line. Indented text is code, a diff, or other output. */
function textOf(line: string): string {
  const text = trimSpace(line);
  return text === "" || line.startsWith(text) ? text : line;
}

function readKeys(block: Block): Map<Key, string> | Void {
  const values = new Map<Key, string>();
  for (const line of block) {
    const key = KEYS.find((known) => line.startsWith(`${known}:`));
    if (key === undefined) return voided(`${quote(line)} is not one of its keys`);
    if (values.has(key)) return voided(`${key} appears twice`);
    values.set(key, trimSpace(line.slice(key.length + 1)));
  }
  return values;
}

/** What is wrong with the values. After a fault the returned value does not matter. */
type Faults = string[];

function readClaims(values: ReadonlyMap<Key, string>, criteria: readonly string[], faults: Faults): Claims {
  const exit = values.get("EXIT_SIGNAL");
  if (exit === undefined) faults.push("EXIT_SIGNAL is missing");
  return {
    exitSignal: isFirst("EXIT_SIGNAL", exit ?? "false", ["true", "false"], faults),
    criteria: readCriteria(values.get("CRITERIA") ?? "{}", criteria, faults),
    stuckCount: readCount(values.get("STUCK_COUNT"), faults),
    next: readText("NEXT", values.get("NEXT") ?? "", faults) || null,
    steps: readList("STEPS", values.get("STEPS"), MAX_STEPS, faults),
    checks: readList("CHECKS", values.get("CHECKS"), MAX_CHECKS, faults),
    stepDone: isFirst("STEP", values.get("STEP") ?? "done", ["done", "open"], faults),
  };
}

function isFirst(key: Key, value: string, words: readonly [string, string], faults: Faults): boolean {
  if (!words.includes(value)) faults.push(`${key} must be ${words.join(" or ")}, and is ${quote(value)}`);
  return value === words[0];
}

/** Claims about unknown criteria are ignored. */
function readCriteria(json: string, criteria: readonly string[], faults: Faults): Record<string, boolean> {
  const value = parseJson(json);
  if (!isRecord(value)) {
    faults.push(`CRITERIA must be a JSON object on one line, and is ${quote(json)}`);
    return {};
  }
  const claimed = new Map<string, unknown>(Object.entries(value));
  for (const [name, met] of claimed) {
    if (typeof met === "boolean") continue;
    faults.push(`CRITERIA must say true or false of ${quote(name)}`);
    return {};
  }
  if (countStrings(json) !== claimed.size) faults.push("CRITERIA names a criterion twice");
  const known = criteria.map((name) => [name, claimed.get(name)] as const);
  return Object.fromEntries(known.filter((entry): entry is [string, boolean] => entry[1] !== undefined));
}

/** All values are booleans, so more strings than names mean that a name appears twice. */
function countStrings(json: string): number {
  let quotes = 0;
  for (let n = 0; n < json.length; n++) {
    if (json[n] === "\\") n++;
    else if (json[n] === '"') quotes++;
  }
  return quotes / 2;
}

function readCount(value: string | undefined, faults: Faults): number | null {
  if (value === undefined) return null;
  if (/^\d{1,4}$/.test(value)) return Number(value);
  faults.push(`STUCK_COUNT must be a whole number from 0 to 9999, and is ${quote(value)}`);
  return null;
}

/** An empty list counts as no list, so that steps are never dropped silently. */
function readList(key: "STEPS" | "CHECKS", json: string | undefined, max: number, faults: Faults) {
  if (json === undefined) return null;
  const value = parseJson(json);
  if (!isTexts(value)) faults.push(`${key} must be a JSON list of texts on one line, and is ${quote(json)}`);
  else if (value.length > max) faults.push(`${key} has ${value.length} entries, and at most ${max} are read`);
  else {
    const read = key === "CHECKS" ? readCheck : readText;
    const texts = value.map((text) => read(key, text, faults)).filter((text) => text !== "");
    return texts.length === 0 ? null : texts;
  }
  return null;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}

function readText(key: Key, value: string, faults: Faults): string {
  if (isPlaceholder(value)) faults.push(`${key} still has the placeholder ${quote(value)}`);
  return tidyLine(value, MAX_TEXT);
}

/** A command is never shortened: a part of a command is another command. */
function readCheck(key: Key, value: string, faults: Faults): string {
  const text = trimSpace(value);
  if (isPlaceholder(text)) faults.push(`${key} still has the placeholder ${quote(text)}`);
  if (text.length > MAX_CHECK) faults.push(`${key} has an entry of over ${MAX_CHECK} characters`);
  if (UNSEEN.test(text)) faults.push(`${key} has an entry with invisible characters: ${quote(text)}`);
  return text;
}

/** Control characters, half characters, and format marks except the joiners that some scripts need. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|[^\P{Cf}\u200c\u200d]/u;

function quote(text: string): string {
  return JSON.stringify(tidyLine(text.slice(0, 200), 60));
}
