/**
 * The tools of an agent whose turn is known to the server (C5, C6): what it says is for its own work, whatever nonce
 * or id it gives, and who has to do the work cannot say how good it is.
 */
import { VERDICT_TOOL } from "../core/backlog/verdict.ts";
import type { McpTool } from "../hosts/mcp/tool.ts";
import type { Turn } from "../ports/agent.ts";
import { cronDelete } from "./cron-tools.ts";
import { reportOnJob, turnReportInput } from "./goal-tools.ts";
import { answerOf, type LoopToolContext, loopTools } from "./loop-tools.ts";
import { type TurnWork, workOf } from "./turn-work.ts";
import { type VerdictToolContext, verdictInput, verdictOnJob } from "./verdict-tool.ts";

export type TurnToolContext = Omit<LoopToolContext, "currentFire" | "session" | "runner"> &
  VerdictToolContext;

/** null: between two turns, when every call is refused. Models are told of those that are for the turn. */
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
      await context.store.catchUp();
      // as it is now: it may have been stopped since the tools were listed
      const current = workOf(context.store, turn);
      const refusal = refusalOf(tool.name, turn, current);
      if (refusal !== null) return { text: refusal, isError: true };
      if (tool.name === "loop_report" && current?.kind === "goal")
        return answerOf(await reportOnJob(context, current, input));
      if (tool.name === VERDICT_TOOL && current?.kind === "story")
        return answerOf(await verdictOnJob(context, current, input));
      if (tool.name === "CronDelete") return answerOf(await cronDelete(context, input, fire));
      return tool.run(input, call);
    },
  }));
}

/** `run` of it is never reached: what it does needs the work of a turn. */
const VERDICT: McpTool = {
  name: VERDICT_TOOL,
  description:
    "Only in the turn of a story's evaluator, as its last act, once: PASS or REJECT. Two that contradict each other count as a rejection.",
  schema: verdictInput,
  alwaysLoad: true,
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  run: async () => ({ text: NOT_EVALUATED, isError: true }),
};

const BETWEEN_TURNS =
  "No turn is running in this conversation just now; what is said between turns has no weight.";
const NOT_EVALUATED = "loop_verdict is for the evaluator of a story, and this turn is not an evaluator's.";
const NOT_REPORTED =
  "loop_report is for a turn of a goal loop that plans or works, and this turn is none; end your last message as the prompt says.";
const NOT_PACED = "Wakeup is for a turn of a self-paced loop (loop auto), and this turn is none.";
const READ_ONLY = "This turn is there to look: it schedules and deletes nothing.";

/** A sentence for the agent; null: it may. */
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

/** Fires have no role: they do what the person asked for. */
function mayChange({ env }: Turn): boolean {
  return env.LOOP_ROLE === undefined || env.LOOP_ROLE === "generator";
}
