/** Agents that do what they say. Their stories pass, in the least number of iterations. */
import { type BacklogOptions, storyFor, TWO_STORIES } from "./backlog-run.ts";

export interface HonestAgents {
  readonly name: string;
  readonly generator?: string;
  readonly evaluator?: string;
  /** Each attempt, as `<story> <outcome>`, in their order. */
  readonly attempts: readonly string[];
  readonly flags?: readonly string[];
  readonly project?: BacklogOptions;
  /** Turns of evaluators; left out: one for each attempt. */
  readonly evaluations?: number;
  /** What the prompt of the last generator begins with, in its first 600 letters. */
  readonly led?: RegExp;
  /** What has to be there at the end that no check asks for. */
  readonly file?: string;
}

const TWO: BacklogOptions = { stories: TWO_STORIES };
const ONCE = ["US-001 passed"];
const TWICE = ["US-001 rejected", "US-001 passed"];
const EACH_ONCE = ["US-001 passed", "US-002 passed"];

export const HONEST_AGENTS: readonly HonestAgents[] = [
  { name: "commits each story", project: TWO, attempts: EACH_ONCE },
  {
    name: "leaves its work uncommitted",
    project: TWO,
    attempts: EACH_ONCE,
    generator: 'word > "$(word).txt"; echo Done.',
  },
  {
    name: "needs a second attempt, and the evaluator's reason leads its prompt",
    attempts: TWICE,
    generator: 'work; grep -q "needs a friend" "$LOOP_PROMPT_FILE" && { echo > friend.txt; commit; }; true',
    evaluator: "if [ -f friend.txt ]; then pass; else reject 'the word needs a friend'; fi",
    led: /rejected[\s\S]*the word needs a friend/,
    file: "friend.txt",
  },
  {
    name: "needs a second attempt, and what the check printed leads its prompt",
    attempts: TWICE,
    project: {
      stories: [storyFor("US-001", "one", { checks: ["one=test -f one.txt || ! echo one-is-missing"] })],
    },
    generator:
      'if grep -q one-is-missing "$LOOP_PROMPT_FILE" && [ "$LOOP_ITERATION" = 2 ]; then work; else junk; fi',
    led: /rejected[\s\S]*one-is-missing/,
    evaluations: 1,
  },
  {
    name: "explores",
    attempts: ONCE,
    flags: ["--mode", "explore"],
    project: { stories: [storyFor("US-001", "one", { checks: [] })] },
    generator:
      'mkdir -p "$PROJECT/.loop/triage"; echo "readme.txt:1 has one word." > "$PROJECT/.loop/triage/US-001-analysis.md"; echo Done.',
    file: ".loop/triage/US-001-analysis.md",
  },
  { name: "fixes", attempts: ONCE, flags: ["--mode", "fix"] },
  {
    ...{
      name: "waits for what a story depends on",
      attempts: ["US-002 passed", "US-003 passed", "US-001 passed"],
    },
    project: {
      stories: [
        storyFor("US-001", "one", { priority: 1, dependsOn: ["US-003"] }),
        storyFor("US-002", "two", { priority: 3 }),
        storyFor("US-003", "three", { priority: 2, dependsOn: ["US-002"] }),
      ],
    },
  },
  { name: "is proved by its checks alone", attempts: ONCE, flags: ["--skip-eval"], evaluations: 0 },
  {
    name: "works in worktrees, several at a time",
    project: TWO,
    flags: ["--parallel", "2"],
    attempts: EACH_ONCE,
  },
  {
    name: "does the one story that was asked for",
    project: TWO,
    flags: ["--story", "US-002"],
    attempts: ["US-002 passed"],
  },
  {
    ...{
      name: "runs the code when it judges, and leaves what that made",
      attempts: ONCE,
      file: "report.txt",
    },
    evaluator: "cat one.txt > report.txt; pass",
  },
  {
    name: "breaks a story by accident, and both are done in the end",
    project: TWO,
    generator: '[ "$LOOP_ITERATION" = 2 ] && git rm -q one.txt; work',
    attempts: [...["US-001 passed", "US-002 rejected", "US-001 rejected", "US-001 passed", "US-002 passed"]],
    evaluations: 3,
  },
];
