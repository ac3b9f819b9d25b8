/** Parts of a JSON text added and taken out, and every other byte left as it is. What was added leaves no trace. */
import { type ArrayNode, memberOf, type Node, type ObjectNode, parseJsonc, skipSpace } from "./jsonc.ts";

/** At the end of the array at the path; what is missing on the way is made. */
export function appendItem(text: string, path: readonly string[], item: unknown): string {
  let node = parseJsonc(text);
  for (const [depth, key] of path.entries()) {
    const member = memberOf(node, key);
    if (member === undefined) {
      const rest = path.slice(depth + 1).reduceRight<unknown>((value, name) => ({ [name]: value }), [item]);
      return insert(
        text,
        objectOf(node),
        (indent) => `${JSON.stringify(key)}: ${render(rest, text, indent)}`,
      );
    }
    node = member.value;
  }
  if (node.kind !== "array") throw new SyntaxError(`${path.join(".")} is not a list`);
  return insert(text, node, (indent) => render(item, text, indent));
}

/** At the end of the object; it must not be there. */
export function addMember(text: string, key: string, value: unknown): string {
  return insert(
    text,
    objectOf(parseJsonc(text)),
    (indent) => `${JSON.stringify(key)}: ${render(value, text, indent)}`,
  );
}

/** Puts another value in the place of one. */
export function replaceNode(text: string, node: Node, value: unknown): string {
  const [indent = ""] = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", node.from) + 1)) ?? [];
  return `${text.slice(0, node.from)}${render(value, text, isTight(text, node) ? null : indent)}${text.slice(node.to)}`;
}

/** One part of a container; the comma that it needed goes with it. */
export function removePart(text: string, container: ArrayNode | ObjectNode, index: number): string {
  const { parts, from, to } = container;
  const [before, part, next] = [parts[index - 1], parts[index], parts[index + 1]];
  if (part === undefined) return text;
  if (next !== undefined) return text.slice(0, part.from) + text.slice(next.from);
  const behind = skipSpace(text, part.to);
  const end = text[behind] === "," ? behind + 1 : part.to;
  if (before === undefined) {
    const isBare = (text.slice(from + 1, part.from) + text.slice(end, to - 1)).trim() === "";
    return isBare
      ? `${text.slice(0, from + 1)}${text.slice(to - 1)}`
      : `${text.slice(0, part.from).trimEnd()}${text.slice(end)}`;
  }
  const comma = text[before.to] === "," ? before.to : skipSpace(text, before.to);
  const between = text.slice(comma + 1, part.from).trimEnd();
  return `${text.slice(0, comma)}${between}${text.slice(end)}`;
}

function objectOf(node: Node): ObjectNode {
  if (node.kind !== "object") throw new SyntaxError("not an object");
  return node;
}

function insert(
  text: string,
  container: ArrayNode | ObjectNode,
  renderAt: (indent: string | null) => string,
): string {
  const { from, to, parts } = container;
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const close = to - 1;
  const last = parts.at(-1);
  if (last === undefined) {
    const base = indentAt(text, from);
    const inner = base + unitOf(text);
    const kept = text.slice(from + 1, close).trimEnd();
    return `${text.slice(0, from + 1)}${kept}${end}${inner}${renderAt(inner)}${end}${base}${text.slice(close)}`;
  }
  const rest = text.slice(last.to, close);
  const hasComma = text[skipSpace(text, last.to)] === ",";
  const kept = rest.trimEnd();
  const tail = rest.slice(kept.length);
  const indent = text.slice(from, last.from).includes("\n") ? indentAt(text, last.from) : null;
  const space = indent === null ? " " : `${end}${indent}`;
  return `${text.slice(0, last.to)}${hasComma ? "" : ","}${kept}${space}${renderAt(indent)}${tail}${text.slice(close)}`;
}

/** null: all on one line. */
function render(value: unknown, text: string, indent: string | null): string {
  if (indent === null) return JSON.stringify(value);
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  return JSON.stringify(value, null, unitOf(text)).replaceAll("\n", `${end}${indent}`);
}

function isTight(text: string, node: Node): boolean {
  return !text.slice(node.from, node.to).includes("\n");
}

function indentAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1))?.[0] ?? "";
}

function unitOf(text: string): string {
  return /\n([ \t]+)["{]/.exec(text)?.[1] ?? "  ";
}
