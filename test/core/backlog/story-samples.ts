/** Stories for tests: what is not said is open, without a priority and without dependencies. */
import fc from "fast-check";
import type { StoryDraft } from "../../../src/core/backlog/prd/registry.ts";
import type { Story } from "../../../src/core/backlog/stories.ts";

export function aStory(id: string, fields: Partial<Story> = {}): Story {
  return {
    id,
    title: `Do ${id}`,
    description: "",
    acceptanceCriteria: [],
    checks: [],
    priority: null,
    dependsOn: [],
    passes: false,
    notes: "",
    rejections: 0,
    blocked: false,
    depth: null,
    tier: null,
    holdouts: [],
    ...fields,
  };
}

export function aDraft(fields: Partial<StoryDraft> = {}): StoryDraft {
  return {
    id: null,
    title: "Add a login",
    description: "",
    acceptanceCriteria: [],
    checks: [],
    dependsOn: [],
    priority: null,
    depth: null,
    ...fields,
  };
}

/** Any few stories at all, also with ids twice, dependencies that lead nowhere, and circles. */
export const ANY_STORIES = fc.array(
  fc
    .record({
      id: fc.constantFrom("A", "B", "C", "D", "E", "a"),
      priority: fc.option(fc.integer({ min: 0, max: 3 })),
      dependsOn: fc.array(fc.constantFrom("A", "B", "C", "D", "E", "Z"), { maxLength: 3 }),
      passes: fc.boolean(),
      blocked: fc.boolean(),
    })
    .map(({ id, ...fields }) => aStory(id, fields)),
  { maxLength: 8 },
);
