/** Questions to a person before a backlog runs. null: the person cancelled. */
import { confirmInTerminal } from "../confirm.ts";

export interface Questions {
  confirm(message: string): Promise<boolean>;
  choose(message: string, options: readonly string[], first: string): Promise<string | null>;
  text(message: string): Promise<string | null>;
}

/** Asks in the terminal. The first question loads the prompt library. */
export const terminalQuestions: Questions = {
  confirm: (message) => confirmInTerminal(message),
  async choose(message, options, first) {
    const { select, isCancel } = await import("@clack/prompts");
    const answer = await select({
      message,
      options: options.map((value) => ({ value, label: value })),
      initialValue: first,
    });
    return isCancel(answer) ? null : answer;
  },
  async text(message) {
    const { text, isCancel } = await import("@clack/prompts");
    const answer = await text({ message });
    return isCancel(answer) ? null : (answer ?? "");
  },
};
