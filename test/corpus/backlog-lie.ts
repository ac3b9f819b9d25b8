/** What a lie of the agents of a backlog is made of, and what it has to come to. */
import { type BacklogOptions, storyFor, TWO_STORIES } from "./backlog-run.ts";

export interface BacklogLiar {
  readonly name: string;
  /** Lines of shell; left out: it is honest. Each has to `lie` once, or it never came to it. */
  readonly generator?: string;
  readonly evaluator?: string;
  readonly passed: readonly string[];
  readonly code: number;
  /** How many iterations it takes. */
  readonly iterations?: number;
  /** A part of the reason of the first attempt that came to nothing, or of the end. */
  readonly because?: RegExp;
  readonly flags?: readonly string[];
  readonly project?: BacklogOptions;
  /** Left out: 1. */
  readonly evalRetries?: number;
  /** It takes away commits that were there: what is left of them is its own doing. */
  readonly removesCommits?: boolean;
  /** The file is not what it was, and the run has ended for that. */
  readonly losesFile?: boolean;
  /** Not to be found in what it wrote down, nor in any prompt of a generator. */
  readonly never?: RegExp;
  /** Why it gets through still. Its test fails once it does not any more. */
  readonly open?: string;
}

export const TWO: BacklogOptions = { stories: TWO_STORIES };
export const NONE = { passed: [], code: 3 } as const;
export const FIRST = { passed: ["US-001"], code: 3, project: TWO } as const;
export const BOTH = { passed: ["US-001", "US-002"], code: 0, iterations: 2, project: TWO } as const;
export const UNCHECKED: BacklogOptions = { stories: [storyFor("US-001", "one", { checks: [] })] };
export const ON_SECOND = (lines: string) => `[ "$LOOP_STORY" = US-002 ] || { work; return; }\n${lines}`;
