/** Edits hooks in a settings file that other programs use too: `hooks.<event>` is a list, and one item is ours. */
import { isDeepStrictEqual } from "node:util";
import { addMember, appendItem, removePart, replaceNode } from "../../../system/jsonc/edit.ts";
import {
  type ArrayNode,
  memberOf,
  type Node,
  type ObjectNode,
  parseJsonc,
  toValue,
} from "../../../system/jsonc/tree.ts";

/** Keys are the client's event names. */
export type HookItems = Readonly<Record<string, unknown>>;

interface HookFile {
  readonly items: HookItems;
  /** Did any version of Loopwright write this list item? */
  readonly isOurs: (item: unknown) => boolean;
  /** Other members that the file needs. */
  readonly header: Readonly<Record<string, unknown>>;
}

/** Throws if the text is not a JSON object, or if a list is missing where one is needed. */
export function putHooks(before: string | null, { items, isOurs, header }: HookFile): string {
  if (before === null || before.trim() === "") {
    const hooks = Object.fromEntries(Object.entries(items).map(([event, item]) => [event, [item]]));
    return `${JSON.stringify({ ...header, hooks }, null, 2)}\n`;
  }
  let text = before;
  for (const [key, value] of Object.entries(header))
    if (memberOf(topOf(text), key) === undefined) text = addMember(text, [key], value);
  // events that an older version used
  for (const event of listsOf(text).keys())
    if (!Object.hasOwn(items, event)) text = takeFrom(text, event, isOurs);
  for (const [event, item] of Object.entries(items)) text = putItem(text, event, item, isOurs);
  return text;
}

/** null: nothing is left in the file. */
export function takeHooks(before: string, { isOurs, header }: Omit<HookFile, "items">): string | null {
  let text = before;
  for (const event of listsOf(before).keys()) text = takeFrom(text, event, isOurs);
  const top = topOf(text);
  const hooks = memberOf(top, "hooks");
  if (text !== before && hooks?.value.kind === "object" && hooks.value.parts.length === 0)
    text = removePart(text, top, top.parts.indexOf(hooks));
  const left = toValue(topOf(text)) as object;
  return text !== before && isDeepStrictEqual({ ...header, ...left }, header) ? null : text;
}

/** Is one of the hooks ours? */
export function hasHooks(text: string, isOurs: HookFile["isOurs"]): boolean {
  return [...listsOf(text).values()].some((list) => ownIn(list, isOurs).length > 0);
}

/** The items of a list that are not ours. */
export function foreignItems(text: string, event: string, isOurs: HookFile["isOurs"]): readonly unknown[] {
  const parts = listsOf(text).get(event)?.parts ?? [];
  return parts.map(toValue).filter((item) => !isOurs(item));
}

function putItem(text: string, event: string, item: unknown, isOurs: HookFile["isOurs"]): string {
  const [first, second] = ownIn(listsOf(text).get(event), isOurs);
  if (first === undefined) return appendItem(text, ["hooks", event], item);
  if (second !== undefined) return putItem(removePart(text, second.list, second.index), event, item, isOurs);
  const there = first.list.parts[first.index];
  const wanted = first.isInner ? innerItem(item) : item;
  if (there === undefined || isDeepStrictEqual(toValue(there), wanted)) return text;
  return replaceNode(text, there, wanted);
}

function takeFrom(text: string, event: string, isOurs: HookFile["isOurs"]): string {
  const list = listsOf(text).get(event);
  const [place] = ownIn(list, isOurs);
  if (place === undefined) return text;
  if (place.isInner || place.list.parts.length > 1)
    return takeFrom(removePart(text, place.list, place.index), event, isOurs);
  const hooks = memberOf(topOf(text), "hooks")?.value;
  const member = memberOf(hooks, event);
  if (hooks?.kind !== "object" || member === undefined) return text;
  return removePart(text, hooks, hooks.parts.indexOf(member));
}

/** The position of one of our items; `isInner`: inside a group that also has other hooks. */
interface Place {
  readonly list: ArrayNode;
  readonly index: number;
  readonly isInner: boolean;
}

function ownIn(list: ArrayNode | undefined, isOurs: HookFile["isOurs"]): readonly Place[] {
  if (list === undefined) return [];
  return list.parts.flatMap((part, index): readonly Place[] => {
    if (isOurs(toValue(part))) return [{ list, index, isInner: false }];
    const inner = memberOf(part, "hooks")?.value;
    if (inner?.kind !== "array") return [];
    return inner.parts.flatMap((each, at) =>
      isOurs(toValue(each)) ? [{ list: inner, index: at, isInner: true }] : [],
    );
  });
}

function innerItem(item: unknown): unknown {
  const { hooks } = item as { readonly hooks?: readonly unknown[] };
  return hooks?.[0] ?? item;
}

function topOf(text: string): ObjectNode {
  const top = parseJsonc(text);
  if (top.kind !== "object") throw new SyntaxError("not an object");
  return top;
}

function listsOf(text: string): ReadonlyMap<string, ArrayNode> {
  const hooks: Node | undefined = memberOf(topOf(text), "hooks")?.value;
  if (hooks === undefined) return new Map();
  if (hooks.kind !== "object") throw new SyntaxError("hooks is not an object");
  // other values next to the lists belong to the client
  return new Map(
    hooks.parts.flatMap(({ key, value }): [string, ArrayNode][] =>
      value.kind === "array" ? [[key, value]] : [],
    ),
  );
}
