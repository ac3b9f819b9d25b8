/** A yes or no that can be taken back: the process must be able to end while nobody has answered. */
import { PassThrough } from "node:stream";
import type { PermissionReply } from "./permission-question.ts";

export type Answer = boolean | "cancelled" | "withdrawn";

export async function askYesNo(message: string, withdrawn: AbortSignal): Promise<Answer> {
  const { confirm, isCancel } = await import("@clack/prompts");
  if (withdrawn.aborted) return "withdrawn";
  const { input, signal, close } = openQuestion(withdrawn);
  try {
    const answer = await confirm({ message, initialValue: false, signal, input });
    if (!isCancel(answer)) return answer;
    return withdrawn.aborted ? "withdrawn" : "cancelled";
  } finally {
    close();
  }
}

/** null: it was taken back, or Ctrl-C, which stops more than this question. */
export async function askPermission(
  message: string,
  withdrawn: AbortSignal,
): Promise<PermissionReply | null> {
  const { select, isCancel } = await import("@clack/prompts");
  if (withdrawn.aborted) return null;
  const { input, signal, close } = openQuestion(withdrawn);
  try {
    const answer = await select<PermissionReply>({
      message,
      options: [
        { value: "no", label: "No" },
        { value: "once", label: "Yes, this once" },
        { value: "always", label: "Yes, this very thing for the rest of the run" },
      ],
      signal,
      input,
    });
    if (!isCancel(answer)) return answer;
    // in raw mode the terminal sends no signal for Ctrl-C
    if (!withdrawn.aborted) process.kill(process.pid, "SIGINT");
    return null;
  } finally {
    close();
  }
}

/**
 * stdin as the prompt sees it, without its errors: `readline` emits those again, where nobody listens, and a
 * terminal that is closed during a question would be the end of the runner.
 */
function openQuestion(withdrawn: AbortSignal): {
  readonly input: PassThrough;
  readonly signal: AbortSignal;
  close(): void;
} {
  const { stdin } = process;
  // the prompt listens to its signal for ever, and would take the keyboard from the question after it
  const withdrawal = new AbortController();
  const withdraw = () => withdrawal.abort();
  withdrawn.addEventListener("abort", withdraw);
  const setRawMode = (on: boolean) => {
    stdin.setRawMode(on);
    return input;
  };
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode });
  if (!stdin.listeners("error").includes(ignore)) stdin.on("error", ignore);
  stdin.pipe(input, { end: false });
  return {
    input,
    signal: withdrawal.signal,
    close: () => {
      withdrawn.removeEventListener("abort", withdraw);
      stdin.unpipe(input);
      stdin.pause();
      input.destroy();
    },
  };
}

function ignore(): void {}
