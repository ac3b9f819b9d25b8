/** The agent of the demo: in this process, scripted, instant. It claims success every time; that is its part. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent, Clock, TurnEnd } from "../ports.ts";

/** What it answers to prompts about `about`, in turn; the last one stays. `does` names a file it really writes. */
export interface DemoPart {
  readonly about: RegExp;
  readonly answers: readonly { readonly says: string; readonly does?: string }[];
}

export function createDemoAgent(
  parts: readonly DemoPart[],
  projectDir: string,
  clock: Clock,
  turnMs: number,
): Agent {
  const turns = new Map<DemoPart, number>();
  return {
    name: "demo (scripted)",
    run: (turn, { signal, onStarted }) =>
      new Promise<TurnEnd>((resolve) => {
        onStarted(null);
        const part = parts.find(({ about }) => about.test(turn.text));
        const count = part === undefined ? 0 : (turns.get(part) ?? 0);
        if (part !== undefined) turns.set(part, count + 1);
        const answer = part?.answers[Math.min(count, part.answers.length - 1)];
        const timer = clock.wake(clock.now() + turnMs, () => {
          if (answer?.does !== undefined) writeFileSync(join(projectDir, answer.does), "");
          resolve({ kind: "ok", answer: answer?.says ?? "Done.", usage: null });
        });
        signal.addEventListener("abort", () => {
          timer.cancel();
          resolve({ kind: "cancelled" });
        });
      }),
    reconcile: async () => ({ kind: "lost", reason: "the demo agent ended with it" }),
  };
}
