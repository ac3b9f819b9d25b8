/**
 * One planner, asked once, or twice when it has questions (C14). It works in the project, so that it can read it; its
 * turns are kept as those of any agent, in `.loop/runs/plan/`.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { agentFor } from "../../compose/agents.ts";
import { parsePlan, type StoryPlan } from "../../core/backlog/prompts/parse-plan.ts";
import {
  type AnsweredQuestion,
  type PlanRequest,
  renderPlanningPrompt,
} from "../../core/backlog/prompts/plan-prompt.ts";
import type { AgentSpec } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { LoopError } from "../../errors.ts";
import type { AgentEvent, Conversation, TurnEnd } from "../../ports/agent.ts";
import { replaceFile } from "../../store/files/backlog-files.ts";

export interface Planner {
  readonly root: string;
  readonly agent: AgentSpec;
  readonly model: string | null;
  readonly timeoutMs: number;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly onEvent: (event: AgentEvent) => void;
  /** Answers to its questions, in their order; null: the person left. */
  readonly ask: (questions: readonly string[]) => Promise<readonly AnsweredQuestion[] | null>;
}

export type Planned =
  | {
      readonly kind: "planned";
      readonly plan: StoryPlan;
      readonly answered: readonly AnsweredQuestion[];
      readonly costUsd: number | null;
      /** Where the answer is kept. */
      readonly answerFile: string;
    }
  | { readonly kind: "stopped" };

/** Throws the sentence when it fails or answers something odd; what it answered is kept then too. */
export async function askPlanner(planner: Planner, request: PlanRequest): Promise<Planned> {
  const first = await takeTurn(planner, request, 1, null, null);
  if (first === null) return { kind: "stopped" };
  if (first.answer.kind === "plan")
    return {
      kind: "planned",
      plan: first.answer.plan,
      answered: [],
      costUsd: first.costUsd,
      answerFile: first.file,
    };
  const answered = await planner.ask(first.answer.questions);
  if (answered === null || planner.signal.aborted) return { kind: "stopped" };
  const second = await takeTurn(planner, request, 2, answered, first.conversation);
  if (second === null) return { kind: "stopped" };
  if (second.answer.kind === "questions")
    throw new Error("a second round of questions is refused by parsePlan");
  const costUsd = first.costUsd === null || second.costUsd === null ? null : first.costUsd + second.costUsd;
  return { kind: "planned", plan: second.answer.plan, answered, costUsd, answerFile: second.file };
}

interface Answered {
  readonly answer: Exclude<ReturnType<typeof parsePlan>, { kind: "refused" }>;
  readonly conversation: Conversation | null;
  readonly costUsd: number | null;
  readonly file: string;
}

/** null: it was stopped. */
async function takeTurn(
  planner: Planner,
  request: PlanRequest,
  round: number,
  answered: readonly AnsweredQuestion[] | null,
  conversation: Conversation | null,
): Promise<Answered | null> {
  const nonce = randomBytes(8).toString("hex");
  const id = `plan-${nonce}`;
  const agent = agentFor(planner.agent, planner.root, planner.env);
  const turn = agent.run(
    {
      id,
      loopId: "plan" as LoopId,
      token: 1,
      text: renderPlanningPrompt(request, nonce, answered),
      deadlineAt: Date.now() + planner.timeoutMs,
      env: { LOOP_KIND: "plan", LOOP_ROLE: "planner", LOOP_ITERATION: String(round), ...modelEnv(planner) },
      conversation,
      budgetUsd: null,
      leavesNothing: true,
    },
    { signal: planner.signal, onStarted: () => {}, onEvent: planner.onEvent },
  );
  const end = await turn.finally(() => agent.close?.());
  if (end.kind === "cancelled") return null;
  const file = keepAnswer(planner.root, id, end.answer);
  refuseFailure(end, file);
  const answer = parsePlan(end.answer, { nonce, mode: request.mode, mayAsk: answered === null });
  if (answer.kind === "refused")
    throw new LoopError(
      "surroundings",
      `The planner's answer was refused: ${answer.message}.`,
      `Nothing was written; what it said is in ${file}`,
    );
  return { answer, conversation: end.conversation, costUsd: end.usage?.costUsd ?? null, file };
}

/** Claude Code takes its model from the environment too; any other agent can look at LOOP_MODEL. */
function modelEnv({ model, agent }: Planner): Readonly<Record<string, string>> {
  if (model === null) return {};
  return { LOOP_MODEL: model, ...(agent.kind === "named" ? { ANTHROPIC_MODEL: model } : {}) };
}

/** Beside what the launcher keeps of the turn, which for some agents is a stream of events. */
function keepAnswer(root: string, id: string, answer: string): string {
  return replaceFile(root, join("runs", "plan", id, "said.md").replaceAll("\\", "/"), answer);
}

function refuseFailure(end: Exclude<TurnEnd, { kind: "cancelled" }>, file: string): void {
  if (end.kind === "ok") return;
  const said = end.answer.trim() === "" ? "" : `; what it said is in ${file}`;
  throw new LoopError(
    "surroundings",
    `The planner failed: ${cleanLine(end.failure.reason)}.`,
    `Nothing was written${said}.`,
  );
}
