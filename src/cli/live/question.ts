/** A yes or no that can be taken back: the process must be able to end while nobody has answered. */

export type Answer = boolean | "cancelled" | "withdrawn";

export async function askYesNo(message: string, withdrawn: AbortSignal): Promise<Answer> {
  const { confirm, isCancel } = await import("@clack/prompts");
  if (withdrawn.aborted) return "withdrawn";
  // a terminal that is closed while it is read from must not be the end of the runner
  if (!process.stdin.listeners("error").includes(ignore)) process.stdin.on("error", ignore);
  const answer = await confirm({ message, initialValue: false, signal: withdrawn });
  if (!isCancel(answer)) return answer;
  return withdrawn.aborted ? "withdrawn" : "cancelled";
}

function ignore(): void {}
