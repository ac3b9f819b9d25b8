/**
 * The tools of a goal loop (B10): the agent's report as structured data instead of a block in its last message. The
 * report is a claim; the engine's own checks decide.
 */
import * as z from "zod";
import { tidyLine } from "../core/claims/tidy.ts";
import type { Claims, Goal, Job } from "../core/goal/goal.ts";
import { type GoalView, viewGoal } from "../core/views/goal-view.ts";
import { allGoals, findGoal, requestGoal } from "../engine/goals/goals.ts";
import { usageError } from "../errors.ts";
import type { Store } from "../ports/store.ts";
import { attempt, catchUp, type ToolCall, type ToolResult } from "./attempt.ts";

interface GoalToolContext {
  readonly store: Store;
  readonly now: () => number;
}

const Line = z.string().max(2_000);

export const loopReportInput = z.strictObject({
  nonce: z.string().describe("the nonce of this turn from the prompt"),
  exit_signal: z.boolean().describe("true only when nothing of the spec is left to do"),
  criteria: z.record(z.string(), z.boolean()).default({}).describe("which criteria you believe are met"),
  step_done: z.boolean().default(true).describe("false: the step of this turn is not finished"),
  next: Line.optional().describe("the next step, in one line"),
  steps: z.array(Line).max(50).optional().describe("all remaining steps, if the plan must change"),
  checks: z.array(Line).max(20).optional().describe("for a plan: proposed checks, as name=command"),
  stuck_count: z.int().min(0).optional().describe("how many turns in a row made no progress"),
});

/** For a server that knows the turn. */
export const turnReportInput = loopReportInput.extend({
  nonce: z.string().optional().describe("optional: the nonce of this turn"),
});

export const loopStatusInput = z.strictObject({
  goal: z.string().optional().describe("the goal's id or its first characters"),
});

export const loopReportOutput = z.object({ taken: z.literal("as a claim") });

/** Only what identifies a goal: every field costs tokens, and schemas/ has the rest. */
export const loopStatusOutput = z.object({ goal: z.looseObject({ id: z.string(), status: z.string() }) });

/** Reports for the running turn. */
export function loopReport(
  context: GoalToolContext,
  input: unknown,
  call: ToolCall = {},
): Promise<ToolResult<{ taken: "as a claim" }>> {
  return attempt(loopReportInput, input, async (report) => {
    await catchUp(context.store, call);
    const goal = allGoals(context.store).find(({ job }) => job?.nonce === report.nonce);
    if (goal === undefined || goal.job === null)
      throw usageError("No turn of a goal loop runs with this nonce, so the report does not count.");
    return takeReport(context, goal, goal.job, report);
  });
}

/** Reports for this job only. */
export function reportOnJob(
  context: GoalToolContext,
  { goal, job }: { readonly goal: Goal; readonly job: Job },
  input: unknown,
): Promise<ToolResult<{ taken: "as a claim" }>> {
  return attempt(turnReportInput, input, async ({ nonce = job.nonce, ...report }) => {
    if (nonce !== job.nonce)
      throw usageError(
        "This nonce belongs to another turn, so the report does not count. Leave the nonce out, or copy it from the prompt.",
      );
    return takeReport(context, goal, job, report);
  });
}

type Reported = Omit<z.output<typeof loopReportInput>, "nonce">;

async function takeReport(
  { store, now }: GoalToolContext,
  goal: Goal,
  { id, nonce }: Job,
  report: Reported,
): Promise<{ taken: "as a claim" }> {
  const names = new Set(goal.criteria.map(({ name }) => name));
  const event = { type: "job.reported", jobId: id, nonce, claims: toClaims(report, names) } as const;
  await requestGoal(store, goal, event, now());
  return { taken: "as a claim" };
}

export function loopStatus(
  context: GoalToolContext,
  input: unknown = {},
  call: ToolCall = {},
): Promise<ToolResult<{ goal: GoalView }>> {
  return attempt(loopStatusInput, input, async ({ goal }) => {
    await catchUp(context.store, call);
    return { goal: viewGoal(findGoal(context.store, goal, "any")) };
  });
}

function toClaims(report: Reported, known: ReadonlySet<string>): Claims {
  const tidy = (text: string) => tidyLine(text, 300);
  return {
    exitSignal: report.exit_signal,
    criteria: Object.fromEntries(Object.entries(report.criteria).filter(([name]) => known.has(name))),
    stuckCount: report.stuck_count ?? null,
    next: report.next === undefined ? null : tidy(report.next),
    steps: report.steps?.map(tidy).filter((step) => step !== "") ?? null,
    checks: report.checks ?? null,
    stepDone: report.step_done,
  };
}
