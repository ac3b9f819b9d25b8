/** What happens in a conversation, whatever client it is in. An adapter makes it of what its client tells. */
import type { Failure } from "../../core/goal/goal.ts";
import type { UsedTool } from "./tool-use.ts";

/** The prompt that it happened under. */
export interface PromptRef {
  /** The client's name for the prompt. */
  readonly promptId: string;
  /** The client's own record of the conversation; null: it has none that we read. */
  readonly transcript: string | null;
}

export type ConversationEvent = PromptRef &
  (
    | {
        readonly type: "stopped";
        /** What the agent said last. */
        readonly answer: string;
      }
    /** The turn ended with an error of the client's or its model's. */
    | { readonly type: "failed"; readonly failure: Failure }
    /** A command of ours; `words` is what stands behind its name. */
    | { readonly type: "typed"; readonly words: string }
    | {
        readonly type: "prompted";
        /** The wake-up of ours that the client made a prompt of; null: the person typed it. */
        readonly wake: string | null;
      }
    | { readonly type: "tool"; readonly used: UsedTool }
    /** Nothing runs any more: whatever ran is over, or somebody stopped it. */
    | { readonly type: "idle" }
    | {
        readonly type: "session-started";
        /** Not a beginning: the conversation became too long and was made shorter. */
        readonly isCompacted: boolean;
      }
    | { readonly type: "session-ended" }
    /** Nothing that concerns a loop. */
    | { readonly type: "other" }
  );
