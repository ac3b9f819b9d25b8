/** The agent of `loop demo tasks`. It runs in this process, always claims success and stores nothing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../../ports/agent.ts";
import type { Clock } from "../../ports/clock.ts";
import { describeError, failedEnd } from "../process/reasons.ts";

/** Answers for prompts that match `about`, in order; the last one repeats. `does` names a file to write. */
export interface DemoPart {
  readonly about: RegExp;
  readonly answers: readonly DemoAnswer[];
}

interface DemoAnswer {
  readonly says: string;
  readonly does?: string;
}

export function createTasksAgent(
  parts: readonly DemoPart[],
  projectDir: string,
  clock: Clock,
  turnMs: number,
): Agent {
  const turns = new Map<DemoPart, number>();

  function answerTo(text: string): DemoAnswer {
    const part = parts.find(({ about }) => about.test(text));
    if (part === undefined) return { says: "Done." };
    const count = turns.get(part) ?? 0;
    turns.set(part, count + 1);
    return part.answers[count] ?? part.answers.at(-1) ?? { says: "Done." };
  }

  return {
    name: "demo (scripted)",
    async run({ text, deadlineAt }, { signal, onStarted }) {
      if (signal.aborted) return { kind: "cancelled" };
      onStarted(null);
      const { says, does } = answerTo(text);
      const endsAt = clock.now() + turnMs;
      await waitUntil(Math.min(endsAt, deadlineAt), clock, signal);
      if (signal.aborted) return { kind: "cancelled" };
      if (endsAt > deadlineAt) return failedEnd("timeout", "timed out");
      try {
        if (does !== undefined) writeFileSync(join(projectDir, does), "");
      } catch (error) {
        return failedEnd("fault", `the script failed: ${describeError(error)}`);
      }
      return { kind: "ok", answer: says, usage: null, conversation: null, activity: null };
    },
    reconcile: async () => ({ kind: "lost", reason: "a turn of the demo ends together with its runner" }),
  };
}

/** Resolves at that time, or when the turn is cancelled. */
function waitUntil(at: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = clock.wake(at, done);
    const onAbort = (): void => {
      timer.cancel();
      done();
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
