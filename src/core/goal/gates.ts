/** A person's answers (B14). */
import { asksForEnd, change, type GoalDecision, pause, refused } from "./change.ts";
import type { GoalEvent } from "./event.ts";
import type { Gate, Goal } from "./goal.ts";
import { confirm, moveTo } from "./phase.ts";
import { stageAfterApproval } from "./stages.ts";

/** The note of the default answer. */
export const UNANSWERED = "nobody answered in time";

type Answered = Extract<GoalEvent, { type: "goal.answered" }>;

export function decideAnswer(goal: Goal, { gate: kind, answer, note }: Answered, now: number): GoalDecision {
  const { gate } = goal;
  if (gate === null || gate.kind !== kind)
    return refused(`Goal ${goal.id} does not ask this${gate === null ? "" : ` but: ${gate.question}`}`);
  return answerGate(goal, gate, answer, note, now);
}

export function answerGate(
  goal: Goal,
  gate: Gate,
  answer: "approve" | "reject",
  note: string | null,
  now: number,
): GoalDecision {
  const answered: Goal = { ...goal, gate: null, remarks: withNote(goal.remarks, answer, note) };
  return answer === "approve" ? approve(answered, gate) : reject(answered, gate, note, now);
}

function approve(goal: Goal, gate: Gate): GoalDecision {
  switch (gate.kind) {
    case "G1":
      return approvePlan(goal);
    case "G2":
      return change(goal, {});
    case "pre-check":
      return change(goal, { phase: moveTo(goal.phase, "working") });
    // The files may have changed while the question stood there: the checks have the last word.
    case "G3":
    case "proved":
      return change(goal, { phase: confirm(goal.phase) });
  }
}

function approvePlan(goal: Goal): GoalDecision {
  const { criteria, proposed, phase } = goal;
  const stage = stageAfterApproval(goal);
  if (proposed.length === 0) return change(goal, { phase: moveTo(phase, stage) });
  return change(goal, {
    criteria: [...criteria, ...proposed],
    proposed: [],
    // What new checks consist of has to be known before any work.
    baseline: null,
    phase: { kind: "survey", next: stage },
  });
}

function reject(goal: Goal, gate: Gate, note: string | null, now: number): GoalDecision {
  // Proved, and still not what the person wants: the work goes on.
  if (asksForEnd(gate))
    return change(goal, {
      exitSignal: false,
      phase: moveTo(goal.phase, "working"),
      remarks:
        note === null
          ? [...goal.remarks, "A person looked at it and said that it is not done."]
          : goal.remarks,
    });
  const what =
    gate.kind === "G1" ? "the plan" : gate.kind === "pre-check" ? "an irreversible change" : "going on";
  const reason =
    note === UNANSWERED
      ? `nobody answered in time, so ${what} was turned down`
      : `a person said no to ${what}${note === null ? "" : `: ${note}`}`;
  // Steps that were turned down are made anew.
  const replanned: Goal =
    gate.kind === "G1" && goal.needsPlan
      ? { ...goal, steps: [], proposed: [], phase: moveTo(goal.phase, "planning") }
      : goal;
  return pause(replanned, { code: "rejected", reason }, now);
}

function withNote(
  remarks: readonly string[],
  answer: "approve" | "reject",
  note: string | null,
): readonly string[] {
  if (note === null || note === UNANSWERED) return remarks;
  return [...remarks, `A person said ${answer === "approve" ? "yes" : "no"}: ${note}`];
}
