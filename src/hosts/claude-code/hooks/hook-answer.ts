/** Renders answers in Claude Code's form. With an empty text the client continues as usual. */
import type { ConversationAnswer } from "../../conversation/answer.ts";

export type HookAnswer =
  | ConversationAnswer
  /** Our own tools need no permission prompt. */
  | { readonly kind: "permit" };

export function renderAnswer(event: string, answer: HookAnswer): string {
  switch (answer.kind) {
    case "nothing":
      return "";
    case "tell":
      return JSON.stringify({ systemMessage: answer.message });
    case "context":
      return JSON.stringify({
        hookSpecificOutput: { hookEventName: event, additionalContext: answer.text },
        ...(answer.message === undefined ? {} : { systemMessage: answer.message }),
      });
    case "local":
      return JSON.stringify({
        decision: "block",
        reason: answer.text,
        hookSpecificOutput: { hookEventName: event, suppressOriginalPrompt: true },
      });
    case "permit":
      return JSON.stringify({
        hookSpecificOutput: {
          hookEventName: event,
          permissionDecision: "allow",
          permissionDecisionReason: "this tool belongs to Loopwright",
        },
      });
  }
}
