/** The agent of the demo: scripted, instant. It claims success every time; that is its part. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent, Clock } from "../ports.ts";
import { createScriptedAgent } from "./scripted.ts";

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
  return createScriptedAgent(
    {
      name: "demo (scripted)",
      turns({ text }) {
        const part = parts.find(({ about }) => about.test(text));
        const count = part === undefined ? 0 : (turns.get(part) ?? 0);
        if (part !== undefined) turns.set(part, count + 1);
        const answer = part?.answers[Math.min(count, part.answers.length - 1)];
        const file = answer?.does;
        return {
          says: answer?.says ?? "Done.",
          takesMs: turnMs,
          does: () => {
            if (file !== undefined) writeFileSync(join(projectDir, file), "");
          },
        };
      },
    },
    clock,
  );
}
