/**
 * The tools of an agent whose turn the server knows (C5, C6). A report counts only for the agent's own work, whatever
 * nonce or id it gives, and the agent that does the work cannot give its verdict.
 */
import type { Attempt, AttemptJob, Backlog } from "../core/backlog/backlog.ts";
import { VERDICT_TOOL } from "../core/backlog/verdict.ts";
import type { Goal, Job } from "../core/goal/goal.ts";
import type { Fire, Task } from "../core/loop.ts";
import type { McpTool } from "../hosts/mcp/tool.ts";
import type { Turn } from "../ports/agent.ts";
import type { Store } from "../ports/store.ts";
import { catchUp } from "./attempt.ts";
import { cronDelete } from "./cron-tools.ts";
import { reportOnJob, turnReportInput } from "./goal-tools.ts";
import { answerOf, type LoopToolContext, loopTools } from "./loop-tools.ts";
import { type VerdictToolContext, verdictInput, verdictOnJob, verdictOutput } from "./verdict-tool.ts";

type TurnToolContext = Omit<LoopToolContext, "currentFire" | "session" | "runner"> & VerdictToolContext;

/** `turn` null: between two turns, every call is refused. Only the tools of the turn are listed for models. */
export function turnTools(given: TurnToolContext, turn: Turn | null): readonly McpTool[] {
  const work = turn === null ? null : workOf(given.store, turn);
  const fire = work?.kind === "fire" ? work.fire.id : null;
  const context = { ...given, session: null, currentFire: () => fire };
  const tools = [...loopTools(context), VERDICT];
  return tools.map((tool) => ({
    ...tool,
    ...(tool.name === "loop_report" ? { schema: turnReportInput } : {}),
    isListed: turn === null || refusalOf(tool.name, turn, work) === null,
    run: async (input, call) => {
      if (turn === null) return { text: BETWEEN_TURNS, isError: true };
      await catchUp(context.store, call);
      // read the current state: the work may have been stopped since the tools were listed
      const current = workOf(context.store, turn);
      const refusal = refusalOf(tool.name, turn, current);
      if (refusal !== null) return { text: refusal, isError: true };
      if (tool.name === "loop_report" && current?.kind === "goal")
        return answerOf(await reportOnJob(context, current, input));
      if (tool.name === VERDICT_TOOL && current?.kind === "story")
        return answerOf(await verdictOnJob(context, current, input));
      if (tool.name === "CronDelete") return answerOf(await cronDelete(context, input, fire, call));
      return tool.run(input, call);
    },
  }));
}

/** `turnTools` replaces `run`, because a verdict needs the work of a turn. */
const VERDICT: McpTool = {
  name: VERDICT_TOOL,
  description:
    "Only for the evaluator of a story: call it once, as the last action of the turn, with PASS or REJECT. If you give both, it counts as a rejection.",
  schema: verdictInput,
  output: verdictOutput,
  alwaysLoad: true,
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  run: async () => ({ text: NOT_EVALUATED, isError: true }),
};

const BETWEEN_TURNS = "No turn is running in this conversation now. A report between turns does not count.";
const NOT_EVALUATED =
  "loop_verdict is only for the evaluator of a story. This turn is not an evaluator's turn.";
const NOT_REPORTED =
  "loop_report is only for planning and work turns of a goal loop. This turn is a different one: end your last message as the prompt says.";
const NOT_PACED = "Wakeup is only for a turn of a self-paced loop (loop auto). This turn is a different one.";
const READ_ONLY = "This turn is read-only: it cannot schedule or delete tasks.";

/** The reason for the agent; null: the call is allowed. */
function refusalOf(tool: string, turn: Turn, work: TurnWork | null): string | null {
  switch (tool) {
    case "loop_report":
      return work?.kind === "goal" && (work.job.kind === "work" || work.job.kind === "plan")
        ? null
        : NOT_REPORTED;
    case VERDICT_TOOL:
      return work?.kind === "story" && work.job.phase === "evaluate" ? null : NOT_EVALUATED;
    case "Wakeup":
      return work?.kind === "fire" && work.task.cadence.kind === "paced" ? null : NOT_PACED;
    case "CronCreate":
    case "CronDelete":
      return mayChange(turn) ? null : READ_ONLY;
    default:
      return null;
  }
}

/** Fires have no role: they do what the person scheduled. */
function mayChange({ env }: Turn): boolean {
  return env.LOOP_ROLE === undefined || env.LOOP_ROLE === "generator";
}

/** The work of a turn, as the store has it now. It alone decides what an agent may report. */
type TurnWork =
  | { readonly kind: "fire"; readonly task: Task; readonly fire: Fire }
  | { readonly kind: "goal"; readonly goal: Goal; readonly job: Job }
  | {
      readonly kind: "story";
      readonly backlog: Backlog;
      readonly attempt: Attempt;
      readonly job: AttemptJob;
    };

/** null: the turn of a judge or planner, or its work has ended. */
function workOf(store: Pick<Store, "load">, turn: Turn): TurnWork | null {
  const loop = store.load(turn.loopId);
  switch (loop?.kind) {
    case "task":
      return loop.fire !== null && isOf(turn, loop.fire)
        ? { kind: "fire", task: loop, fire: loop.fire }
        : null;
    case "goal":
      return loop.job !== null && isOf(turn, loop.job) ? { kind: "goal", goal: loop, job: loop.job } : null;
    case "backlog": {
      const attempt = loop.attempts.find(({ job }) => job !== null && isOf(turn, job));
      return attempt?.job == null ? null : { kind: "story", backlog: loop, attempt, job: attempt.job };
    }
    case undefined:
      return null;
  }
}

/** After another owner took over the work (new token), this turn may not report. */
function isOf(turn: Turn, { id, token }: Fire | Job | AttemptJob): boolean {
  return turn.id === id && turn.token === token;
}
