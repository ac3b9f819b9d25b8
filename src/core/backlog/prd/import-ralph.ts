/**
 * Imports JSON backlogs of other tools (C2): Ralph's prd.json and plain lists of features. The result has the shape of
 * prd.json; `parsePrd` and `problemsOf` validate it.
 */
import { isRecord } from "../../json.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface ImportedBacklog {
  /** In the shape of prd.json. Unknown keys stay. */
  readonly content: Fields & { readonly userStories: readonly Fields[] };
  /** What a person should know, one sentence each. */
  readonly remarks: readonly string[];
}

/** The message is a sentence without its full stop. */
export type ImportResult =
  | ({ readonly kind: "ok" } & ImportedBacklog)
  | { readonly kind: "refused"; readonly message: string };

export function importRalph(content: unknown): ImportResult {
  const [header, list] = readList(content);
  if (list === null)
    return {
      kind: "refused",
      message: "it has no list of stories; name it userStories, stories, tasks or features",
    };
  if (list.length === 0) return { kind: "refused", message: "its list of stories is empty" };
  const remarks = new Set<string>();
  const userStories: Fields[] = [];
  for (const [index, item] of list.entries()) {
    if (!isRecord(item)) return { kind: "refused", message: `story ${index + 1} is not an object` };
    userStories.push(toStory(item, index, remarks));
  }
  return { kind: "ok", content: { ...header, userStories }, remarks: [...remarks] };
}

const LISTS = ["userStories", "stories", "tasks", "features"] as const;

/** The other fields, and the list. */
function readList(content: unknown): [Fields, readonly unknown[] | null] {
  if (Array.isArray(content)) return [{}, content];
  if (!isRecord(content)) return [{}, null];
  const key = LISTS.find((name) => Array.isArray(content[name]));
  if (key === undefined) return [{}, null];
  const { [key]: list, ...header } = content;
  return [header, list as unknown[]];
}

/** Names that other tools use. The first one found counts. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  title: ["title", "name", "summary"],
  acceptanceCriteria: ["acceptanceCriteria", "acceptance_criteria", "criteria", "steps"],
  dependsOn: ["dependsOn", "depends_on", "blockedBy", "blocked_by", "dependencies"],
};

function toStory(item: Fields, index: number, remarks: Set<string>): Fields {
  const rest = { ...item };
  const take = (name: string) => {
    const key = (ALIASES[name] ?? []).find((alias) => rest[alias] !== undefined && rest[alias] !== null);
    const value = key === undefined ? undefined : rest[key];
    if (key !== undefined) delete rest[key];
    if (key !== undefined && key !== name) remarks.add(`The field ${key} was read as ${name}.`);
    return value;
  };
  const title = take("title") ?? firstLine(item.description);
  const lists = { acceptanceCriteria: take("acceptanceCriteria"), dependsOn: take("dependsOn") };
  const id = item.id ?? numbered(index);
  if (item.id === undefined || item.id === null) remarks.add("Stories without an id got a number.");
  const said = Object.entries({ title, ...lists }).filter(([, value]) => value !== undefined);
  return {
    ...rest,
    // Some tools use numbers as ids.
    id: typeof id === "number" ? String(id) : id,
    ...Object.fromEntries(said.map(([key, value]) => [key, key === "title" ? value : toTexts(value)])),
  };
}

/** A text becomes a list of its lines. The schema reports any other type. */
function toTexts(value: unknown): unknown {
  if (typeof value === "string") return linesOf(value);
  if (typeof value === "number") return [String(value)];
  if (!Array.isArray(value)) return value;
  return value.map((one: unknown) => (typeof one === "number" ? String(one) : one));
}

function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.replace(/^\s*(?:[-*]\s+(?:\[.\]\s+)?)?/, "").trim())
    .filter((line) => line !== "");
}

function firstLine(description: unknown): unknown {
  return typeof description === "string" ? linesOf(description)[0] : description;
}

function numbered(index: number): string {
  return `US-${String(index + 1).padStart(3, "0")}`;
}
