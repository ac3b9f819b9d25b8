/**
 * One setting in a JSON file that belongs to somebody else: added or taken out, and every other byte stays as it is.
 * The text must parse; who calls has seen to that.
 */

/** A key at the top, or one inside an object at the top. */
export type SettingPath = readonly [string] | readonly [string, string];

/** What stands there; undefined: nothing. */
export function readSetting(text: string, path: SettingPath): unknown {
  let value: unknown = JSON.parse(text);
  for (const key of path) {
    if (!isObject(value)) return undefined;
    value = Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

/** It must not be there yet, and what is on the way to it must be an object. */
export function addSetting(text: string, path: SettingPath, value: unknown): string {
  const top = objectAt(text, skipSpace(text, 0));
  const [key, inner] = path;
  if (inner === undefined) return insert(text, top, key, value);
  const parent = find(top, key);
  if (parent === undefined) return insert(text, top, key, { [inner]: value });
  return insert(text, objectAt(text, parent.valueFrom), inner, value);
}

/** The reverse of `addSetting`; an object that is empty then goes too if `withParent`. */
export function removeSetting(text: string, path: SettingPath, withParent: boolean): string {
  const top = objectAt(text, skipSpace(text, 0));
  const [key, inner] = path;
  const parent = find(top, key);
  if (inner === undefined || parent === undefined) return cut(text, top, key);
  const object = objectAt(text, parent.valueFrom);
  const isAlone = object.members.length === 1 && find(object, inner) !== undefined;
  return isAlone && withParent ? cut(text, top, key) : cut(text, object, inner);
}

interface Member {
  readonly key: string;
  readonly from: number;
  readonly valueFrom: number;
  readonly to: number;
}

interface ObjectText {
  readonly open: number;
  readonly close: number;
  readonly members: readonly Member[];
}

/** As JSON.parse has it: the last of the same name. */
function find({ members }: ObjectText, key: string): Member | undefined {
  return members.findLast((member) => member.key === key);
}

function insert(text: string, { open, close, members }: ObjectText, key: string, value: unknown): string {
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  const last = members.at(-1);
  if (last !== undefined) {
    const [space = ""] = /\s*$/.exec(text.slice(0, last.from)) ?? [];
    const isTight = !space.includes("\n");
    const member = render(
      key,
      value,
      isTight ? null : { unit, base: space.slice(space.lastIndexOf("\n") + 1) },
    );
    return `${text.slice(0, last.to)},${space}${member}${text.slice(last.to)}`;
  }
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const [base = ""] = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", open) + 1)) ?? [];
  const member = render(key, value, { unit, base: base + unit });
  return `${text.slice(0, open)}{${end}${base}${unit}${member}${end}${base}}${text.slice(close + 1)}`;
}

/** null: all on one line. */
function render(
  key: string,
  value: unknown,
  lines: { readonly unit: string; readonly base: string } | null,
): string {
  if (lines === null) return `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  return `${JSON.stringify(key)}: ${JSON.stringify(value, null, lines.unit).replaceAll("\n", `\n${lines.base}`)}`;
}

function cut(text: string, { open, close, members }: ObjectText, key: string): string {
  const at = members.findLastIndex((member) => member.key === key);
  const member = members[at];
  if (member === undefined) return text;
  const [before, after] = [members[at - 1], members[at + 1]];
  if (before !== undefined) return text.slice(0, before.to) + text.slice(member.to);
  if (after !== undefined) return text.slice(0, member.from) + text.slice(after.from);
  return `${text.slice(0, open)}{}${text.slice(close + 1)}`;
}

function objectAt(text: string, open: number): ObjectText {
  const members: Member[] = [];
  let at = skipSpace(text, open + 1);
  while (text[at] !== "}") {
    const from = at;
    const keyEnd = skipValue(text, from);
    const valueFrom = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const to = skipValue(text, valueFrom);
    members.push({ key: JSON.parse(text.slice(from, keyEnd)) as string, from, valueFrom, to });
    at = skipSpace(text, to);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return { open, close: at, members };
}

/** The place behind the value that starts here. */
function skipValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return behind(/"(?:\\.|[^"\\])*"/y, text, from);
  if (first !== "{" && first !== "[") return behind(/[^\s,\]}]+/y, text, from);
  let depth = 0;
  let at = from;
  do {
    const letter = text[at];
    if (letter === '"') at = skipValue(text, at);
    else {
      if (letter === "{" || letter === "[") depth++;
      else if (letter === "}" || letter === "]") depth--;
      at++;
    }
  } while (depth > 0 && at < text.length);
  return at;
}

function skipSpace(text: string, from: number): number {
  return behind(/\s*/y, text, from);
}

/** Throws where the text is not what JSON.parse saw: going on would never end. */
function behind(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  if (from >= text.length || !pattern.test(text)) throw new Error(`no JSON at ${from}`);
  return pattern.lastIndex;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
