/** `--score-with agent`: an agent applies the rubric. Its score is an opinion and proves nothing. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { agentFor } from "../../compose/agents.ts";
import type { AgentSpec } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import type { Score } from "../../core/spec/rubric.ts";
import { renderScorePrompt } from "../../core/text/goal/goal-prompt.ts";
import { type LoopError, surroundingsError } from "../../errors.ts";
import type { Agent } from "../../ports/agent.ts";
import { oneOf } from "../flags/values.ts";

const DIMENSIONS = ["outcome", "scope", "constraints", "success", "done"] as const;
const TIMEOUT_MS = 5 * 60_000;

const Rating = z.object({
  score: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  words: z.array(z.string()).default([]),
  raise: z.string().nullable().default(null),
});
const Answer = z.record(z.enum(DIMENSIONS), Rating);

export function isScoredByAgent({ scoreWith }: { readonly scoreWith?: string }): boolean {
  return oneOf("--score-with", scoreWith, ["rubric", "agent"]) === "agent";
}

/** The agent runs in an empty folder, so that it has nothing to change. null: the agent was stopped. */
export async function scoreWithAgent(
  spec: string,
  agentSpec: AgentSpec,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Score | null> {
  const folder = mkdtempSync(join(tmpdir(), "loopwright score "));
  let agent: Agent | null = null;
  try {
    agent = agentFor(agentSpec, folder, env);
    const end = await agent.run(
      {
        id: "score",
        loopId: "score" as LoopId,
        token: 1,
        text: renderScorePrompt(spec),
        deadlineAt: Date.now() + TIMEOUT_MS,
        env: { LOOP_KIND: "score", LOOP_ROLE: "judge" },
        conversation: null,
        budgetUsd: null,
      },
      { signal, onStarted: () => {} },
    );
    if (end.kind === "cancelled") return null;
    if (end.kind === "failed") throw noScore(`The agent gave no score: ${end.failure.reason}.`);
    return readScore(end.answer);
  } finally {
    await agent?.close?.();
    rmSync(folder, { recursive: true, force: true });
  }
}

function readScore(answer: string): Score {
  const parsed = Answer.safeParse(lastObject(answer));
  if (!parsed.success) throw noScore("The answer of the agent has no valid score.");
  const dimensions = DIMENSIONS.map((dimension) => ({ dimension, ...parsed.data[dimension] }));
  return { total: dimensions.reduce((sum, { score }) => sum + score, 0), dimensions };
}

function noScore(message: string): LoopError {
  return surroundingsError(message, "To use the built-in rubric, leave out --score-with agent.");
}

/** The last line that is a JSON object. */
function lastObject(answer: string): unknown {
  for (const line of answer.split("\n").toReversed()) {
    if (!line.trim().startsWith("{")) continue;
    try {
      return JSON.parse(line);
    } catch {
      // prose in braces
    }
  }
  return null;
}
