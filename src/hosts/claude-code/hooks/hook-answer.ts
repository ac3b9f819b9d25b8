/** What a hook is answered, in the client's form. An empty text lets happen what was about to happen. */

export type HookAnswer =
  | { readonly kind: "nothing" }
  /** One line for the person; the model does not see it. */
  | { readonly kind: "tell"; readonly message: string }
  /** More for the model: after a stop, the conversation goes on with it. */
  | { readonly kind: "context"; readonly text: string; readonly message?: string }
  /** The prompt was for us: it is answered here and never reaches the model. */
  | { readonly kind: "local"; readonly text: string }
  /** A tool of ours needs no question. */
  | { readonly kind: "permit" };

export const NOTHING: HookAnswer = { kind: "nothing" };

export function tell(message: string | null): HookAnswer {
  return message === null ? NOTHING : { kind: "tell", message };
}

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
          permissionDecisionReason: "a tool of Loopwright",
        },
      });
  }
}
