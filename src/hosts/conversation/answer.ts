/** The answers to a conversation's events. Each client renders them in its own form. */
export type ConversationAnswer =
  /** The client continues as usual. */
  | { readonly kind: "nothing" }
  /** One line for the person; the model does not see it. */
  | { readonly kind: "tell"; readonly message: string }
  /** Added text for the model. After a stop, the conversation continues with it. */
  | { readonly kind: "context"; readonly text: string; readonly message?: string }
  /** The prompt was a loop command: it is answered here and never reaches the model. */
  | { readonly kind: "local"; readonly text: string };

export const NOTHING: ConversationAnswer = { kind: "nothing" };

export function tell(message: string | null): ConversationAnswer {
  return message === null ? NOTHING : { kind: "tell", message };
}
