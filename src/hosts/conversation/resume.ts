/** The message to a conversation that starts, resumes or was compacted (B20, A10). */
import type { Goal } from "../../core/goal/goal.ts";
import type { Loop } from "../../core/loop.ts";
import { decideDue } from "../../core/task/due.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { renderResumeHeader, renderResumePrompt } from "../../core/text/goal/goal-prompt.ts";
import { renderCriteria, renderRules, renderSpec } from "../../core/text/goal/prompt-parts.ts";
import { type ConversationAnswer, NOTHING, tell } from "./answer.ts";

export interface Resumed {
  /** The goal of this conversation that has not ended. */
  readonly goal: Goal | undefined;
  readonly loops: readonly Loop[];
  /** The loop's turn that runs in the conversation; null: none. */
  readonly turnId: string | null;
  /** The command that a person types in this client, such as `/loop`. */
  readonly commandName: string;
}

export function resumeAnswer({ goal, loops, turnId, commandName }: Resumed): ConversationAnswer {
  const missed = loops.filter((loop) => loop.kind === "task").filter(({ status }) => status === "missed");
  const messages = [
    ...(goal === undefined ? [] : [goalMessage(goal, commandName)]),
    ...missed.map(
      (task) =>
        `[LOOP] Missed while nothing ran: ${task.id} ${cleanLine(task.prompt).slice(0, 80)}. Run it: ${commandName} run ${task.id}. Delete it: ${commandName} delete ${task.id}`,
    ),
  ];
  const message = messages.join("\n");
  if (goal?.status === "active") return { kind: "context", text: reminderOf(goal, turnId), message };
  return message === "" ? NOTHING : tell(message);
}

/**
 * Marks one-shot tasks as missed when their time passed while nothing ran. The owner writes this to the journal only
 * when it can wake the conversation, but the person reads the message now.
 */
export function withMissed(loops: readonly Loop[], now: number): readonly Loop[] {
  return loops.map((loop) => {
    if (loop.kind !== "task" || loop.cadence.kind !== "once") return loop;
    const decision = decideDue(loop, { now, token: 0, awakeSince: now });
    return decision.kind === "change" && decision.loop.status === "missed" ? decision.loop : loop;
  });
}

/** After a compaction inside a turn, the whole prompt of the turn: the model has forgotten it. */
function reminderOf(goal: Goal, turnId: string | null): string {
  const { job } = goal;
  if (job !== null && job.id === turnId && job.kind === "work") return renderResumePrompt(goal, job);
  // the compaction may have removed the spec and the rules
  return [renderResumeHeader(goal), renderSpec(goal), renderCriteria(goal), renderRules(goal), RULE].join(
    "\n\n",
  );
}

const RULE =
  "This goal loop is bound to this conversation. Loopwright sends its next turn when you stop; do not start that turn yourself.";

function goalMessage(goal: Goal, commandName: string): string {
  if (goal.status === "active")
    return `[LOOP] Goal ${goal.id} goes on in this conversation. Stop it: ${commandName} pause`;
  const why = goal.pause === null ? "" : `: ${cleanLine(goal.pause.reason)}`;
  return `[LOOP] ⏸ Goal ${goal.id} is paused${why}. Go on with: ${commandName} continue`;
}
