/**
 * JSON with comments, as places in its text: for settings that belong to somebody else, where every byte that is not
 * ours stays. Comments and a comma behind the last part are read as clients read them; all else is strict.
 */

export type Node = ObjectNode | ArrayNode | ValueNode;

interface Place {
  /** Of its first letter, and behind its last. */
  readonly from: number;
  readonly to: number;
}

export interface ValueNode extends Place {
  readonly kind: "value";
  readonly value: unknown;
}

export interface ArrayNode extends Place {
  readonly kind: "array";
  readonly parts: readonly Node[];
}

export interface ObjectNode extends Place {
  readonly kind: "object";
  readonly parts: readonly Member[];
}

/** `from` is that of its key. */
export interface Member extends Place {
  readonly key: string;
  readonly value: Node;
}

/** Throws where the text is no such JSON. */
export function parseJsonc(text: string): Node {
  const node = readValue(text, skipSpace(text, 0));
  if (skipSpace(text, node.to) !== text.length) throw new SyntaxError(`more behind the end at ${node.to}`);
  return node;
}

export function toValue(node: Node): unknown {
  switch (node.kind) {
    case "value":
      return node.value;
    case "array":
      return node.parts.map(toValue);
    case "object":
      return Object.fromEntries(node.parts.map(({ key, value }) => [key, toValue(value)]));
  }
}

/** The last of the same name, as JSON.parse has it. */
export function memberOf(node: Node | undefined, key: string): Member | undefined {
  return node?.kind === "object" ? node.parts.findLast((member) => member.key === key) : undefined;
}

function readValue(text: string, from: number): Node {
  if (text[from] === "{") return readObject(text, from);
  if (text[from] === "[") return readArray(text, from);
  const to = text[from] === '"' ? endOf(STRING, text, from) : endOf(WORD, text, from);
  return { kind: "value", from, to, value: JSON.parse(text.slice(from, to)) as unknown };
}

function readObject(text: string, from: number): ObjectNode {
  const parts: Member[] = [];
  const to = readParts(text, from, "}", (at) => {
    const keyEnd = endOf(STRING, text, at);
    const colon = skipSpace(text, keyEnd);
    if (text[colon] !== ":") throw new SyntaxError(`no colon at ${colon}`);
    const value = readValue(text, skipSpace(text, colon + 1));
    parts.push({ from: at, to: value.to, key: JSON.parse(text.slice(at, keyEnd)) as string, value });
    return value.to;
  });
  return { kind: "object", from, to, parts };
}

function readArray(text: string, from: number): ArrayNode {
  const parts: Node[] = [];
  const to = readParts(text, from, "]", (at) => {
    const value = readValue(text, at);
    parts.push(value);
    return value.to;
  });
  return { kind: "array", from, to, parts };
}

/** `read` takes the part that starts there and returns where it ends. */
function readParts(text: string, from: number, close: string, read: (at: number) => number): number {
  let at = skipSpace(text, from + 1);
  while (text[at] !== close) {
    at = skipSpace(text, read(at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
    else if (text[at] !== close) throw new SyntaxError(`no comma at ${at}`);
  }
  return at + 1;
}

const STRING = /"(?:\\.|[^"\\])*"/y;
const WORD = /[^\s,\]}/"]+/y;
const SPACE = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;

export function skipSpace(text: string, from: number): number {
  SPACE.lastIndex = from;
  SPACE.test(text);
  return Math.max(from, SPACE.lastIndex);
}

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  if (from >= text.length || !pattern.test(text)) throw new SyntaxError(`no JSON at ${from}`);
  return pattern.lastIndex;
}
