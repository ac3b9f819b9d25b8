/**
 * Adds missing fields to loops of earlier versions. Every new field in `core/loop.ts` needs a line here and an older
 * journal in test/journals. Never remove a line here.
 */
import type { NoticeKind } from "../../core/base.ts";
import { asksForEnd } from "../../core/goal/change.ts";
import type { Goal, Pause } from "../../core/goal/goal.ts";
import { type AtStage, confirm, owe, type Phase, type Proved } from "../../core/goal/phase.ts";
import { isNoop, isProved } from "../../core/goal/proof.ts";
import type { Loop } from "../../core/loop.ts";

export function upgradeLoop(loop: Loop): Loop {
  const noticed = upgradeNotice(loop);
  if (noticed.kind === "goal") return upgradeGoal(noticed);
  // from a version without conversations
  const isOldTask = noticed.kind !== "backlog" && noticed.where === undefined;
  return isOldTask ? { ...noticed, where: "either" } : noticed;
}

function upgradeNotice(loop: Loop): Loop {
  // from a version that did not keep notices
  if (loop.notice === undefined) return { ...loop, notice: null };
  // from a version in which notices had no kind
  if (loop.notice === null || loop.notice.kind !== undefined) return loop;
  return { ...loop, notice: { ...loop.notice, kind: noticeKindOf(loop) } };
}

/** A notice is about the last event, so its kind follows from the state of the loop. */
function noticeKindOf(loop: Loop): NoticeKind {
  if (loop.kind === "task") return loop.status === "missed" ? "missed" : "failing";
  if (loop.status === "paused") return "paused";
  if (loop.kind === "backlog") return loop.end?.outcome === "done" ? "done" : "ended";
  if (loop.status === "ended") return loop.end?.status === "done" ? "done" : "ended";
  if (loop.gate !== null) return "asks";
  return loop.waitUntil === null ? "near-limit" : "waits";
}

/** The fields of a goal in format 1, which had no phase. */
interface Flags {
  readonly approved: boolean;
  readonly prechecked: boolean;
  /** A round of checks was due. `uncounted`: it was due for a turn that counts. */
  readonly unchecked: boolean;
  readonly uncounted: boolean;
  readonly confirmed: boolean;
  readonly provedTree: string | null;
}

function upgradeGoal(goal: Goal & Partial<Flags>): Goal {
  if (goal.phase !== undefined) return goal;
  const { approved, prechecked, unchecked, uncounted, confirmed, provedTree, ...rest } = goal;
  const phase = phaseOf(goal);
  // the phase does not allow this question about the end, so the checks run again first
  const isVoid = asksForEnd(goal.gate) && phase.kind !== "proved";
  return {
    ...rest,
    phase: isVoid ? owe(phase) : phase,
    gate: isVoid ? null : goal.gate,
    pause: upgradePause(goal.pause),
  };
}

/** In older versions only the reason of a pause told whether a person or the default answer rejected a question. */
function upgradePause(pause: Pause | null): Pause | null {
  const isUnanswered = pause?.code === "rejected" && pause.reason.startsWith("nobody answered in time");
  return isUnanswered ? { ...pause, unanswered: true } : pause;
}

/** Contradictory flags never skip a gate and never count as proved or confirmed. */
function phaseOf(goal: Goal & Partial<Flags>): Phase {
  const stage = stageOf(goal);
  if (goal.baseline == null) return { kind: "survey", next: stage.kind };
  const isDue = goal.unchecked === true || goal.uncounted === true || goal.job?.kind === "checks";
  const isConfirmed =
    goal.confirmed === true && goal.uncounted !== true && (isDue || goal.status === "ended");
  if (isConfirmed && stage.kind === "working" && goal.tree !== null)
    return confirm({ kind: "proved", tree: goal.tree });
  if (isDue) return owe(provedBefore(goal, stage), goal.uncounted);
  return provedNow(goal, stage) ?? stage;
}

function stageOf({ needsPlan, steps, approved, prechecked }: Goal & Partial<Flags>): AtStage {
  if (needsPlan && steps.length === 0) return { kind: "planning" };
  if (approved !== true) return { kind: "approval" };
  return { kind: prechecked === true ? "working" : "pre-check" };
}

/** The phase that the next round is compared with. */
function provedBefore({ provedTree }: Goal & Partial<Flags>, stage: AtStage): AtStage | Proved {
  return stage.kind === "working" && typeof provedTree === "string"
    ? { kind: "proved", tree: provedTree }
    : stage;
}

function provedNow(goal: Goal & Partial<Flags>, stage: AtStage): Proved | null {
  const { tree, provedTree, gate, end } = goal;
  const isTold = provedTree === tree || asksForEnd(gate) || end?.status === "done";
  if (tree === null || stage.kind !== "working" || !isTold) return null;
  return isProved(goal) && !isNoop(goal) ? { kind: "proved", tree } : null;
}
