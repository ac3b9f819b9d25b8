/**
 * `.loop/prd.json` (C2): the stories of a backlog, written by a person, a planning agent or Ralph. An optional field may
 * be missing or null. Unknown fields stay unchanged when the engine writes the file.
 */
import * as z from "zod";
import { faultOfStoryId, faultsOfChecks } from "../core/backlog/prd/registry.ts";
import { DEPTHS, type Story } from "../core/backlog/stories.ts";
import { faultOf, type Invalid, parseJsonText, renderFault } from "./fault.ts";

const text = z.string();
const texts = z.array(text);
const count = z.int({ error: "expected a whole number from 0 up" }).min(0);

const id = text.superRefine((given, context) => {
  const fault = faultOfStoryId(given);
  if (fault !== null) context.addIssue(fault);
});

const checks = texts.superRefine((given, context) => {
  for (const { index, message } of faultsOfChecks(given))
    context.addIssue({ code: "custom", message, path: [index] });
});

const storySchema = z.looseObject({
  id,
  title: text.min(1, { error: "it is empty" }),
  description: text.nullish(),
  acceptanceCriteria: texts.nullish(),
  /** Have the form of `--check`: 'name=command'. */
  checks: checks.nullish(),
  /** 1 is first; missing is last. */
  priority: z.int({ error: "expected a whole number, 1 for the first story" }).min(0).nullish(),
  dependsOn: texts.nullish(),
  passes: z.boolean().nullish(),
  notes: text.nullish(),
  rejections: count.nullish(),
  blocked: z.boolean().nullish(),
  depth: z.enum(DEPTHS).nullish(),
  tier: count.nullish(),
  /** Criteria that the generator does not see. */
  holdouts: texts.nullish(),
});

export const prdSchema = z.looseObject({
  $schema: text.optional(),
  project: text.nullish(),
  branchName: text.nullish(),
  description: text.nullish(),
  userStories: z.array(storySchema),
});

export interface Prd {
  readonly project: string | null;
  readonly branchName: string | null;
  readonly stories: readonly Story[];
  /** The whole file, unknown keys included. */
  readonly content: PrdContent;
}

export type PrdContent = Readonly<Record<string, unknown>> & {
  readonly userStories: readonly StoryContent[];
};

type StoryContent = Readonly<Record<string, unknown>>;

/** The message has no full stop and starts with the place: `userStories[2].priority: …`. */
type PrdResult = { readonly kind: "ok"; readonly prd: Prd } | Invalid;

export function parsePrd(content: unknown): PrdResult {
  const result = prdSchema.safeParse(content, { error: faultOf });
  if (!result.success) return { kind: "invalid", message: renderFault(result.error, placeOf) };
  const { project, branchName, userStories } = result.data;
  return {
    kind: "ok",
    prd: {
      project: project ?? null,
      branchName: branchName ?? null,
      stories: userStories.map(toStory),
      // not zod's copy, which lacks keys such as __proto__
      content: content as PrdContent,
    },
  };
}

export function parsePrdText(given: string): PrdResult {
  // some editors put a byte order mark in front
  return parseJsonText(given.replace(/^\uFEFF/, ""), parsePrd);
}

/** The content for a backlog without a file. */
export function emptyPrd(project: string): Prd {
  const named = { project, branchName: "" };
  return { ...named, stories: [], content: { ...named, description: "", userStories: [] } };
}

/** The content with these stories. Only keys whose meaning changed are written; ids are unique. */
export function withStories({ content }: Prd, stories: readonly Story[]): PrdContent {
  const known = new Map(content.userStories.map((one) => [one.id, one]));
  return { ...content, userStories: stories.map((story) => mergeStory(known.get(story.id), story)) };
}

/** Keeps the indentation of the text that it replaces. */
export function renderPrd(content: PrdContent, replaced: string | null): string {
  const [, indent = "  "] = /^\s*\{\r?\n([ \t]{1,8})"/.exec(replaced ?? "") ?? [];
  return `${JSON.stringify(content, null, indent)}\n`;
}

function toStory(one: z.infer<typeof storySchema>): Story {
  return {
    id: one.id,
    title: one.title,
    description: one.description ?? "",
    acceptanceCriteria: one.acceptanceCriteria ?? [],
    checks: one.checks ?? [],
    priority: one.priority ?? null,
    dependsOn: one.dependsOn ?? [],
    passes: one.passes ?? false,
    notes: one.notes ?? "",
    rejections: one.rejections ?? 0,
    blocked: one.blocked ?? false,
    depth: one.depth ?? null,
    tier: one.tier ?? null,
    holdouts: one.holdouts ?? [],
  };
}

/** Keys that a new story has even when they are empty, because people and other tools expect them. */
const ALWAYS: ReadonlySet<string> = new Set(
  "id title description acceptanceCriteria checks dependsOn passes notes rejections blocked".split(" "),
);

function mergeStory(before: StoryContent | undefined, story: Story): StoryContent {
  if (before === undefined) {
    const isSaid = ([key, value]: [string, unknown]) =>
      ALWAYS.has(key) || (value !== null && !(Array.isArray(value) && value.length === 0));
    return Object.fromEntries(Object.entries(story).filter(isSaid));
  }
  const meant: Story = toStory(storySchema.parse(before));
  const isSame = ([key, value]: [string, unknown]) =>
    JSON.stringify(value) === JSON.stringify(meant[key as keyof Story]);
  const changed = Object.entries(story).filter((entry) => !isSame(entry));
  return { ...before, ...Object.fromEntries(changed) };
}

/** `userStories[2].checks[0]` */
function placeOf(path: readonly PropertyKey[]): string {
  const parts = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  return parts.join("").replace(/^\./, "");
}
