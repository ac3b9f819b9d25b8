/** A yes or no question to the person at the terminal. Ctrl-C gives the initial answer. */
export async function confirmInTerminal(message: string, initialValue = false): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message, initialValue });
  return isCancel(answer) ? initialValue : answer;
}
