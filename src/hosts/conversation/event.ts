/** The events of a conversation, the same for every client. An adapter translates what its client sends. */
import type { Failure } from "../../core/goal/goal.ts";
import type { UsedTool } from "./tool-use.ts";

/** The prompt in which the event happened. */
export interface PromptRef {
  /** The client's id of the prompt. */
  readonly promptId: string;
  /** The path of the client's transcript; null: there is none that we read. */
  readonly transcript: string | null;
}

export type ConversationEvent = PromptRef &
  (
    | {
        readonly type: "stopped";
        /** The agent's last message. */
        readonly answer: string;
      }
    /** The turn ended with an error of the client or its model. */
    | { readonly type: "failed"; readonly failure: Failure }
    /** A loop command; `words` is the text after its name. */
    | { readonly type: "typed"; readonly words: string }
    | {
        readonly type: "prompted";
        /** The id of our wake-up; null: the person typed the prompt. */
        readonly wake: string | null;
      }
    | { readonly type: "tool"; readonly used: UsedTool }
    /** Nothing runs: the turn ended or the person stopped it. */
    | { readonly type: "idle" }
    | {
        readonly type: "session-started";
        /** The client shortened a conversation that was too long. */
        readonly isCompacted: boolean;
      }
    | { readonly type: "session-ended" }
    /** An event that concerns no loop. */
    | { readonly type: "other" }
  );
