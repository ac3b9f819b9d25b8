/**
 * Masks secrets in text. A secret reads `[masked: GITHUB_TOKEN]`: the name of its variable, or the name of its form.
 *
 * 1. No value of the given secrets is left in the result, also not escaped for JSON or for an address.
 * 2. The time grows with the length of the text, whatever the text is.
 */
import { FORMS } from "./forms.ts";
import { LEAST_LENGTH, type Secret } from "./secret-env.ts";

export interface Span {
  /** Where the text begins that shows the secret, such as `Authorization: `. It stays. */
  readonly from: number;
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

export interface Mask {
  /** No value of the environment is longer, in any of its spellings. */
  readonly longest: number;
  text(text: string): string;
  /** In order, without overlaps. */
  find(text: string): readonly Span[];
}

/** Neither a value of the environment nor a form is shorter. */
const SHORTEST = LEAST_LENGTH;

export const NO_MASK: Mask = { longest: 0, text: (text) => text, find: () => [] };

export function createMask(secrets: readonly Secret[]): Mask {
  const names = new Map(secrets.flatMap(({ name, value }) => spellings(value).map((each) => [each, name])));
  const values = [...names.keys()].sort((a, b) => b.length - a.length);
  const literals = values.length === 0 ? null : new RegExp(values.map(escaped).join("|"), "g");
  const find = (text: string): readonly Span[] => {
    if (text.length < SHORTEST) return [];
    return joined(literals === null ? [] : findValues(text, literals, names), findForms(text));
  };
  return { longest: values[0]?.length ?? 0, find, text: (text) => render(text, find(text), labelOf) };
}

/** Masks every text in a value, also the keys of objects. */
export function maskAll<T>(mask: Mask, value: T): T {
  if (typeof value === "string") return mask.text(value) as T;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => maskAll(mask, each)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [mask.text(key), maskAll(mask, each)]),
  ) as T;
}

/** The last `length` characters, masked. A secret that begins before them is masked as a whole. */
export function maskTail(mask: Mask, text: string, length: number): string {
  const spans = mask.find(text);
  const from = Math.max(0, text.length - length);
  const cut = spans.find(({ start, end }) => start < from && end > from)?.start ?? from;
  const seen = spans.filter(({ start }) => start >= cut);
  return render(text.slice(cut), moved(seen, -cut), labelOf);
}

export function moved(spans: readonly Span[], by: number): readonly Span[] {
  return spans.map(({ from, start, end, name }) => ({
    from: from + by,
    start: start + by,
    end: end + by,
    name,
  }));
}

export function render(
  text: string,
  spans: readonly Omit<Span, "from">[],
  replacement: (name: string, length: number) => string,
): string {
  if (spans.length === 0) return text;
  let result = "";
  let at = 0;
  for (const { start, end, name } of spans) {
    result += text.slice(at, start) + replacement(name, end - start);
    at = end;
  }
  return result + text.slice(at);
}

export function labelOf(name: string): string {
  return `[masked: ${name.replaceAll(/[^\w ./-]/g, "_").slice(0, 60)}]`;
}

/** As long as the secret, for a file whose places must not move. */
export function filledLabel(name: string, length: number): string {
  const label = [labelOf(name), "[masked]"].find((each) => each.length <= length);
  return label === undefined ? "*".repeat(length) : `${label.slice(0, -1).padEnd(length - 1, "*")}]`;
}

/** The value itself, in a JSON text, in an address, and each as bytes: a file is read byte by byte. */
function spellings(value: string): readonly string[] {
  const inAddress = encodeURIComponent(value.replaceAll(/\p{Cs}/gu, ""));
  const texts = [value, JSON.stringify(value).slice(1, -1), inAddress];
  const bytes = texts.map((text) => String.fromCharCode(...new TextEncoder().encode(text)));
  return [...new Set([...texts, ...bytes])];
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function findValues(text: string, pattern: RegExp, names: ReadonlyMap<string, string>): readonly Span[] {
  const spans: Span[] = [];
  for (const { 0: value, index } of text.matchAll(pattern))
    spans.push({ from: index, start: index, end: index + value.length, name: names.get(value) ?? "" });
  return spans;
}

/** Two groups for each form: the text that stays, and the secret. */
const FORMS_PATTERN = new RegExp(FORMS.map(({ keep = "", secret }) => `(${keep})(${secret})`).join("|"), "g");

function findForms(text: string): readonly Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(FORMS_PATTERN)) {
    const group = match.findIndex((found, index) => index > 0 && index % 2 === 0 && found !== undefined);
    const end = match.index + match[0].length;
    const start = end - (match[group]?.length ?? 0);
    spans.push({ from: match.index, start, end, name: FORMS[group / 2 - 1]?.name ?? "" });
  }
  return spans;
}

/** Overlapping spans become one. The name of a variable says more than the name of a form, so it comes first. */
function joined(values: readonly Span[], forms: readonly Span[]): readonly Span[] {
  if (values.length === 0 || forms.length === 0) return values.length === 0 ? forms : values;
  const result: { from: number; start: number; end: number; name: string }[] = [];
  const named = new Set(values);
  for (const span of [...values, ...forms].sort((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last === undefined || span.start >= last.end) {
      result.push({ ...span });
      continue;
    }
    if (named.has(span)) last.name = span.name;
    last.from = Math.min(last.from, span.from);
    last.end = Math.max(last.end, span.end);
  }
  return result;
}
