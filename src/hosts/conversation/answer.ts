/** What a conversation is answered. Each client has its own form for it. */

export type ConversationAnswer =
  /** What was about to happen happens. */
  | { readonly kind: "nothing" }
  /** One line for the person; the model does not see it. */
  | { readonly kind: "tell"; readonly message: string }
  /** More for the model: after a stop, the conversation goes on with it. */
  | { readonly kind: "context"; readonly text: string; readonly message?: string }
  /** The prompt was for us: it is answered here and never reaches the model. */
  | { readonly kind: "local"; readonly text: string };

export const NOTHING: ConversationAnswer = { kind: "nothing" };

export function tell(message: string | null): ConversationAnswer {
  return message === null ? NOTHING : { kind: "tell", message };
}
