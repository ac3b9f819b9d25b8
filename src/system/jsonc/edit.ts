/** Adds and removes parts of a JSON text. All other bytes stay, comments included. Returns the new text. */
import {
  type ArrayNode,
  memberOf,
  type Node,
  type ObjectNode,
  parseJsonc,
  skipSpace,
  toValue,
} from "./tree.ts";

type Container = ArrayNode | ObjectNode;

/** The value at the path; undefined: none. */
export function readMember(text: string, path: readonly string[]): unknown {
  const { node, missing } = descend(text, path);
  return missing.length === 0 ? toValue(node) : undefined;
}

/** Adds the member at the end of its object. Creates missing objects. The member must not exist yet. */
export function addMember(text: string, path: readonly string[], value: unknown): string {
  const { node, missing } = descend(text, path);
  return insertMember(text, node, missing, value);
}

/** Adds the item at the end of the list at the path. Creates the list and its objects when they are missing. */
export function appendItem(text: string, path: readonly string[], item: unknown): string {
  const { node, missing } = descend(text, path);
  if (missing.length > 0) return insertMember(text, node, missing, [item]);
  if (node.kind !== "array") throw new SyntaxError(`${path.join(".")} is not a list`);
  return insert(text, node, (indent) => render(item, text, indent));
}

/** Undoes `addMember`. `withParents` also removes objects that become empty. */
export function removeMember(text: string, path: readonly string[], withParents: boolean): string {
  const objects: ObjectNode[] = [];
  let node: Node | undefined = parseJsonc(text);
  for (const key of path) {
    if (node?.kind !== "object") return text;
    objects.push(node);
    node = memberOf(node, key)?.value;
  }
  if (node === undefined) return text;
  let depth = path.length - 1;
  while (withParents && depth > 0 && objects[depth]?.parts.length === 1) depth--;
  const object = objects[depth];
  const member = memberOf(object, path[depth] ?? "");
  return object === undefined || member === undefined
    ? text
    : removePart(text, object, object.parts.indexOf(member));
}

export function replaceNode(text: string, node: Node, value: unknown): string {
  const isTight = !text.slice(node.from, node.to).includes("\n");
  const rendered = render(value, text, isTight ? null : indentAt(text, node.from));
  return `${text.slice(0, node.from)}${rendered}${text.slice(node.to)}`;
}

/** Removes one part of a container, with its comma. Comments around it stay. */
export function removePart(text: string, { parts, from, to }: Container, index: number): string {
  const [before, part, next] = [parts[index - 1], parts[index], parts[index + 1]];
  if (part === undefined) return text;
  const comma = skipSpace(text, part.to);
  const hasComma = text[comma] === ",";
  const beside = hasComma ? text.slice(part.to, comma).trimStart() : "";
  const end = hasComma ? comma + 1 : part.to;
  if (next !== undefined)
    return text.slice(0, part.from) + beside + text.slice(end).replace(/^[ \t\r\n]+/, "");
  const rest = beside + text.slice(end);
  if (before === undefined) {
    const left = text.slice(from + 1, part.from);
    const isBare = (left + rest.slice(0, rest.length - (text.length - to) - 1)).trim() === "";
    return text.slice(0, from + 1) + (isBare ? text.slice(to - 1) : closeGap(left, rest));
  }
  const between = skipSpace(text, before.to);
  // with a trailing comma, the part before keeps its comma
  const head = text.slice(0, hasComma ? between + 1 : between);
  return head + closeGap(text.slice(between + 1, part.from), rest);
}

/** Removes white space at the end of a gap, unless the rest would become part of a line comment. */
function closeGap(gap: string, rest: string): string {
  const kept = gap.trimEnd();
  const isOpen = skipSpace(`${kept}x`, 0) > kept.length;
  return (isOpen && !/^[\r\n]/.test(rest) ? gap : kept) + rest;
}

/** Follows the path as far as it exists. */
function descend(
  text: string,
  path: readonly string[],
): { readonly node: Node; readonly missing: readonly string[] } {
  let node = parseJsonc(text);
  for (const [depth, key] of path.entries()) {
    const member = memberOf(node, key);
    if (member === undefined) return { node, missing: path.slice(depth) };
    node = member.value;
  }
  return { node, missing: [] };
}

function insertMember(text: string, node: Node, [key, ...rest]: readonly string[], value: unknown): string {
  if (key === undefined) throw new SyntaxError("the member already exists");
  if (node.kind !== "object") throw new SyntaxError("not an object");
  const nested = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return insert(text, node, (indent) => `${JSON.stringify(key)}: ${render(nested, text, indent)}`);
}

function insert(
  text: string,
  { from, to, parts }: Container,
  renderAt: (indent: string | null) => string,
): string {
  const end = lineEnd(text);
  const close = to - 1;
  const base = indentAt(text, from);
  const last = parts.at(-1);
  if (last === undefined) {
    const inner = base + unitOf(text);
    const kept = text.slice(from + 1, close).trimEnd();
    return `${text.slice(0, from + 1)}${kept}${end}${inner}${renderAt(inner)}${end}${base}${text.slice(close)}`;
  }
  const rest = text.slice(last.to, close);
  const kept = rest.trimEnd();
  const tail = rest.slice(kept.length);
  const hasComma = text[skipSpace(text, last.to)] === ",";
  const indent = indentOfParts(text, from, last.from, close);
  const space = indent === null ? " " : `${end}${indent}`;
  const [before, after] = hasComma ? ["", ","] : [",", ""];
  return `${text.slice(0, last.to)}${before}${kept}${space}${renderAt(indent)}${after}${tail}${text.slice(close)}`;
}

/** null: the container is on one line. */
function indentOfParts(text: string, open: number, lastPart: number, close: number): string | null {
  if (text.slice(open, lastPart).includes("\n")) return indentAt(text, lastPart);
  return text.slice(open, close).includes("\n") ? indentAt(text, open) + unitOf(text) : null;
}

function render(value: unknown, text: string, indent: string | null): string {
  if (indent === null) return JSON.stringify(value);
  return JSON.stringify(value, null, unitOf(text)).replaceAll("\n", `${lineEnd(text)}${indent}`);
}

function lineEnd(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function indentAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1))?.[0] ?? "";
}

function unitOf(text: string): string {
  return /\n([ \t]+)["{]/.exec(text)?.[1] ?? "  ";
}
