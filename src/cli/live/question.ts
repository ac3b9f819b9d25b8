/** Questions that can be withdrawn, so that the process can end while nobody has answered. */
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

/** null: withdrawn, or Ctrl-C, which also sends SIGINT. */
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
        { value: "always", label: "Yes, and do not ask again for this during the run" },
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

/** stdin without its errors: `readline` re-emits them, so a terminal closed during a question would end the runner. */
function openQuestion(withdrawn: AbortSignal): {
  readonly input: PassThrough;
  readonly signal: AbortSignal;
  close(): void;
} {
  const { stdin } = process;
  // the prompt never stops listening to its signal, so each question has its own
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
