/** Runs the planner: one turn, and a second one if it has questions (C14). Its turns are kept in `.loop/runs/plan/`. */
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
import { surroundingsError } from "../../errors.ts";
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
  /** Returns the answers in the order of the questions; null: the person cancelled. */
  readonly ask: (questions: readonly string[]) => Promise<readonly AnsweredQuestion[] | null>;
}

export type Planned =
  | {
      readonly kind: "planned";
      readonly plan: StoryPlan;
      readonly answered: readonly AnsweredQuestion[];
      readonly costUsd: number | null;
      readonly answerFile: string;
    }
  | { readonly kind: "stopped" };

/** Throws when the planner fails or its answer is invalid. The answer is kept in every case. */
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

/** null: a person stopped it. */
async function takeTurn(
  planner: Planner,
  request: PlanRequest,
  round: number,
  answered: readonly AnsweredQuestion[] | null,
  conversation: Conversation | null,
) {
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
    },
    { signal: planner.signal, onStarted: () => {}, onEvent: planner.onEvent },
  );
  const end = await turn.finally(() => agent.close?.());
  if (end.kind === "cancelled") return null;
  const file = keepAnswer(planner.root, id, end.answer);
  refuseFailure(end, file);
  const answer = parsePlan(end.answer, { nonce, mode: request.mode, mayAsk: answered === null });
  if (answer.kind === "refused")
    throw surroundingsError(
      `The planner's answer was refused: ${answer.message}.`,
      `Nothing was written. The answer is in ${file}`,
    );
  return { answer, conversation: end.conversation, costUsd: end.usage?.costUsd ?? null, file };
}

/** Claude Code reads ANTHROPIC_MODEL; other agents can read LOOP_MODEL. */
function modelEnv({ model, agent }: Planner): Readonly<Record<string, string>> {
  if (model === null) return {};
  return { LOOP_MODEL: model, ...(agent.kind === "named" ? { ANTHROPIC_MODEL: model } : {}) };
}

/** Kept beside the launcher's output, which is a stream of events for some agents. */
function keepAnswer(root: string, id: string, answer: string): string {
  return replaceFile(root, join("runs", "plan", id, "said.md").replaceAll("\\", "/"), answer);
}

function refuseFailure(end: Exclude<TurnEnd, { kind: "cancelled" }>, file: string): void {
  if (end.kind === "ok") return;
  const said = end.answer.trim() === "" ? "" : `. The answer is in ${file}`;
  throw surroundingsError(
    `The planner failed: ${cleanLine(end.failure.reason)}.`,
    `Nothing was written${said}.`,
  );
}
