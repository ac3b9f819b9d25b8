/** Questions that can be withdrawn, so that the process can end while nobody has answered. */
import { PassThrough } from "node:stream";
import type { PermissionReply } from "./permission-question.ts";

export type Answer = boolean | "cancelled" | "withdrawn";

export async function askYesNo(message: string, withdrawn: AbortSignal): Promise<Answer> {
  return put(withdrawn, ({ confirm }, terminal) => confirm({ message, initialValue: false, ...terminal }));
}

/** null: withdrawn, or Ctrl-C, which also sends SIGINT. */
export async function askPermission(
  message: string,
  withdrawn: AbortSignal,
): Promise<PermissionReply | null> {
  const options = [
    { value: "no", label: "No" },
    { value: "once", label: "Yes, this once" },
    { value: "always", label: "Yes, and do not ask again for this during the run" },
  ] satisfies { readonly value: PermissionReply; readonly label: string }[];
  const answer = await put(withdrawn, ({ select }, terminal) => select({ message, options, ...terminal }));
  // in raw mode the terminal sends no signal for Ctrl-C
  if (answer === "cancelled") process.kill(process.pid, "SIGINT");
  return answer === "cancelled" || answer === "withdrawn" ? null : answer;
}

type Prompts = typeof import("@clack/prompts");

async function put<T>(
  withdrawn: AbortSignal,
  ask: (prompts: Prompts, terminal: { input: PassThrough; signal: AbortSignal }) => Promise<T>,
): Promise<Exclude<T, symbol> | "cancelled" | "withdrawn"> {
  const prompts = await import("@clack/prompts");
  if (withdrawn.aborted) return "withdrawn";
  const { input, signal, close } = openQuestion(withdrawn);
  try {
    const answer = await ask(prompts, { input, signal });
    if (!prompts.isCancel(answer)) return answer as Exclude<T, symbol>;
    return withdrawn.aborted ? "withdrawn" : "cancelled";
  } finally {
    close();
  }
}

/** stdin without its errors: `readline` re-emits them, so a terminal closed during a question would end the runner. */
function openQuestion(withdrawn: AbortSignal) {
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
