/** The prompt of an agent when a task fires. */
import type { Cadence, Fire, FireKind, Task } from "../loop.ts";
import { remember } from "../task/remember.ts";
import { renderCadence } from "./human.ts";

/** Turning an expression into words takes longer than the rest of a fire. */
const words = new Map<string, string>();
const MAX_WORDS = 2048;

/**
 * A line that names the source of the prompt, a blank line, the prompt. A slash command goes out alone, because hosts
 * recognise it only at the start of the text.
 */
export function renderFireText(task: Task, fire: Fire): string {
  const prompt = task.cadence.kind === "paced" ? `${task.prompt}\n\n${PACING}` : task.prompt;
  if (task.prompt.startsWith("/")) return prompt;
  const label = [`Scheduled task ${task.id}`, renderWhen(task.cadence), remark(fire) ?? []]
    .flat()
    .join(" — ");
  return `[${label}]\n\n${prompt}`;
}

function renderWhen(cadence: Cadence): string {
  if (cadence.kind !== "cron") return renderCadence(cadence);
  return words.get(cadence.expr) ?? remember(words, cadence.expr, renderCadence(cadence), MAX_WORDS);
}

const REMARKS: Readonly<Partial<Record<FireKind, string>>> = {
  initial: "initial run",
  manual: "run by hand",
  final: "final run: the task expires with it and will not fire again",
};

function remark({ kind, dueAt }: Fire): string | undefined {
  if (kind !== "late") return REMARKS[kind];
  return `late: was due at ${new Date(dueAt).toISOString()}, when nothing was running`;
}

const PACING = `This loop is self-paced: before you end the turn, say when to wake you.
Run: loop wakeup <60-3600 seconds, or 5m> "<why>"   or, when there is nothing left to watch: loop wakeup --stop "<why>"
If you cannot run commands, make the last line of your answer {"wakeup":{"delaySeconds":300,"reason":"<why>"}} or {"wakeup":{"stop":true,"reason":"<why>"}}.
If you do neither, the loop ends.`;
