/** JSON with comments and trailing commas, as a tree with positions, so that an edit keeps all other bytes. */

export type Node = ObjectNode | ArrayNode | ValueNode;

interface Place {
  /** Position of the first character, and position after the last one. */
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

/** `from` is the position of the key. */
export interface Member extends Place {
  readonly key: string;
  readonly value: Node;
}

/** The text is invalid. `at` is the position of the first wrong character. */
export class JsoncError extends SyntaxError {
  readonly at: number;

  constructor(problem: string, at: number) {
    super(`${problem} at ${at}`);
    this.at = at;
  }
}

/** Throws a JsoncError. */
export function parseJsonc(text: string): Node {
  const node = readValue(text, skipSpace(text, text.startsWith("\ufeff") ? 1 : 0));
  const end = skipSpace(text, node.to);
  if (end !== text.length) throw new JsoncError("unexpected text after the end", end);
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

/** The last member with this name, as in JSON.parse. */
export function memberOf(node: Node | undefined, key: string): Member | undefined {
  return node?.kind === "object" ? node.parts.findLast((member) => member.key === key) : undefined;
}

function readValue(text: string, from: number): Node {
  if (text[from] === "{") return readObject(text, from);
  if (text[from] === "[") return readArray(text, from);
  const to = text[from] === '"' ? endOf(STRING, text, from) : endOf(WORD, text, from);
  return { kind: "value", from, to, value: parseWord(text, from, to) };
}

function readObject(text: string, from: number): ObjectNode {
  const parts: Member[] = [];
  const to = readParts(text, from, "}", (at) => {
    const keyEnd = endOf(STRING, text, at);
    const colon = skipSpace(text, keyEnd);
    if (text[colon] !== ":") throw new JsoncError("no colon", colon);
    const value = readValue(text, skipSpace(text, colon + 1));
    parts.push({ from: at, to: value.to, key: String(parseWord(text, at, keyEnd)), value });
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

/** `read` gets the position of a part and returns its end. */
function readParts(text: string, from: number, close: string, read: (at: number) => number): number {
  let at = skipSpace(text, from + 1);
  while (text[at] !== close) {
    at = skipSpace(text, read(at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
    else if (text[at] !== close) throw new JsoncError("no comma", at);
  }
  return at + 1;
}

function parseWord(text: string, from: number, to: number): unknown {
  try {
    return JSON.parse(text.slice(from, to)) as unknown;
  } catch {
    throw new JsoncError("no JSON", from);
  }
}

const STRING = /"(?:\\.|[^"\\])*"/y;
const WORD = /[^\s,\]}/"]+/y;
const SPACE = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;

/** The position after white space and comments. */
export function skipSpace(text: string, from: number): number {
  SPACE.lastIndex = from;
  SPACE.test(text);
  return Math.max(from, SPACE.lastIndex);
}

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  if (from >= text.length || !pattern.test(text)) throw new JsoncError("no JSON", from);
  return pattern.lastIndex;
}
