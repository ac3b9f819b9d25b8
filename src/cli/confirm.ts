/** Questions to the person at the terminal. The first one loads the prompt library. */

/** Ctrl-C gives the initial answer. */
export async function confirmInTerminal(message: string, initialValue = false): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message, initialValue });
  return isCancel(answer) ? initialValue : answer;
}

/** Questions before a backlog runs. null: the person cancelled. */
export interface Questions {
  confirm(message: string): Promise<boolean>;
  choose(message: string, options: readonly string[], first: string): Promise<string | null>;
  text(message: string): Promise<string | null>;
}

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
