/** What a model says in the turns of a goal: calls, reports with the nonce of the turn, verdicts, refusals. */
import type { Asked, Reply, Script, Tokens } from "../claude/scripted-model.ts";

/** Its list price is that of 3 and 15 dollars for a million tokens in and out. */
export const MODEL = "claude-sonnet-4-5";

/** What an answer uses where a test does not say otherwise. */
export const DEFAULT: Tokens = [1_000, 50];

export const worth = (...answers: Tokens[]) =>
  answers.reduce((sum, [input, output]) => sum + (3 * input + 15 * output) / 1_000_000, 0);

export function write(path: string, tokens: Tokens = DEFAULT): Reply {
  return { kind: "tool", name: "Write", input: { file_path: path, content: "hello\n" }, tokens };
}

export function report(exit: boolean, tokens: Tokens = DEFAULT): (asked: Asked) => Reply {
  return (asked) => ({
    kind: "text",
    text: [
      "That is it for this turn.",
      "",
      "---LOOP_STATUS---",
      `NONCE: ${nonceOf(asked)}`,
      `EXIT_SIGNAL: ${exit}`,
      `CRITERIA: {"done": ${exit}}`,
      `STEP: ${exit ? "done" : "open"}`,
      "NEXT: none",
      "---END_STATUS---",
    ].join("\n"),
    tokens,
  });
}

export const say = (text: string): Reply => ({ kind: "text", text });

export const verdict: Script = (asked) =>
  say(`It is there.\n\n<verdict nonce="${verdictNonceOf(asked)}">PASS</verdict>`);

export function verdictNonceOf(asked: Asked | undefined): string {
  return /<verdict nonce="(\w+)">/.exec(promptsOf(asked).at(-1) ?? "")?.[1] ?? "none";
}

export function refuse(status: number, type: string, message: string): Extract<Reply, { kind: "error" }> {
  return { kind: "error", status, type, message };
}

/** Takes one turn per conversation, and cannot make it shorter either, as the client asks it to several times. */
export function fullAfterOneTurn(path: (name: string) => string): Script {
  return (asked) => {
    const isToShorten = asked.messages.some(({ text }) => text.includes("Respond with TEXT ONLY"));
    const [first = "", ...more] = promptsOf(asked);
    if (isToShorten || more.length > 0)
      return refuse(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum");
    const isSecond = first.includes("[LOOP RESUME]");
    const hasWritten = asked.messages.some(({ role }) => role === "assistant");
    return hasWritten ? report(isSecond)(asked) : write(path(isSecond ? "done.txt" : "one.md"));
  };
}

export function usedUp(resetsAt: number): Record<string, string> {
  return {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": `${resetsAt}`,
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-5h-reset": `${resetsAt}`,
    "anthropic-ratelimit-unified-5h-utilization": "1.0",
    "retry-after": "3600",
  };
}

/** The prompts of turns that a request contains, in their order. */
export function promptsOf(asked: Asked | undefined): readonly string[] {
  const texts = (asked?.messages ?? []).filter(({ role }) => role === "user").map(({ text }) => text);
  return texts.filter((text) => text.includes("[LOOP"));
}

/** The last one: after a turn that the model refused the client puts both prompts into one message. */
export function nonceOf(asked: Asked): string {
  const found = promptsOf(asked).flatMap((text) => [...text.matchAll(/Nonce of this turn: (\w+)/g)]);
  return found.at(-1)?.[1] ?? "none";
}
