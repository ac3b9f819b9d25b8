/** What happened to a goal between two states, for every surface that shows it. */
import type { Gate, Goal, Job, Receipt } from "../goal/goal.ts";

export type GoalChange =
  | { readonly type: "start" }
  | { readonly type: "survey"; readonly green: readonly string[]; readonly protectedCount: number }
  | { readonly type: "turn"; readonly job: Job }
  | { readonly type: "turn.end"; readonly receipt: Receipt }
  | { readonly type: "checks"; readonly moved: readonly string[] }
  | { readonly type: "plan" }
  | { readonly type: "gate"; readonly gate: Gate }
  | { readonly type: "warning"; readonly limit: string }
  | { readonly type: "wait"; readonly until: number }
  | { readonly type: "go-on" }
  | { readonly type: "pause" }
  | { readonly type: "end" };

/** In order. `before` is null the first time. */
export function changesOf(before: Goal | null, after: Goal): readonly GoalChange[] {
  const changes: GoalChange[] = [];
  if (before === null) changes.push({ type: "start" });
  if (before?.status === "paused" && after.status === "active") changes.push({ type: "go-on" });
  if (before?.baseline == null && after.baseline !== null) {
    const { green, protectedCount } = after.baseline;
    changes.push({ type: "survey", green, protectedCount });
  }
  for (const receipt of after.receipts.slice(before?.receipts.length ?? after.receipts.length))
    changes.push({ type: "turn.end", receipt });
  if (before !== null && before.steps.length === 0 && after.steps.length > 0) changes.push({ type: "plan" });
  if (before !== null && isChecked(before, after))
    changes.push({ type: "checks", moved: after.receipts.at(-1)?.moved ?? [] });
  for (const limit of after.warned.filter((name) => !(before?.warned ?? []).includes(name)))
    changes.push({ type: "warning", limit });
  if (after.job !== null && isTurn(after.job) && before?.job?.id !== after.job.id)
    changes.push({ type: "turn", job: after.job });
  if (after.gate !== null && before?.gate?.askedAt !== after.gate.askedAt)
    changes.push({ type: "gate", gate: after.gate });
  if (after.waitUntil !== null && before?.waitUntil !== after.waitUntil)
    changes.push({ type: "wait", until: after.waitUntil });
  if (after.status === "paused" && before?.pause?.at !== after.pause?.at) changes.push({ type: "pause" });
  if (after.status === "ended" && before?.status !== "ended") changes.push({ type: "end" });
  return changes;
}

export function isTurn({ kind }: Job): boolean {
  return kind === "work" || kind === "plan" || kind === "precheck";
}

function isChecked(before: Goal, after: Goal): boolean {
  if (before.baseline === null) return false;
  return Object.entries(after.evidence).some(([name, { at }]) => before.evidence[name]?.at !== at);
}
