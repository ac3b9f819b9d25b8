/** Decides what follows a person's answer at a gate (B14). */
import { change, refuse } from "../decision.ts";
import { asksForEnd, type GoalDecision, pause } from "./change.ts";
import type { EventOf } from "./event.ts";
import type { Gate, Goal } from "./goal.ts";
import { confirm, moveTo } from "./phase.ts";
import { stageAfterApproval } from "./stages.ts";

export interface GateAnswer extends Pick<EventOf<"goal.answered">, "answer" | "note"> {
  /** `nobody`: the default answer, because the time to answer is over. */
  readonly by: "person" | "nobody";
}

export function decideAnswer(goal: Goal, event: EventOf<"goal.answered">, now: number): GoalDecision {
  const { gate } = goal;
  const { answer, note } = event;
  if (gate === null || gate.kind !== event.gate)
    return refuse(
      `Goal ${goal.id} does not ask this question.${gate === null ? "" : ` It asks: ${gate.question}`}`,
    );
  return answerGate(goal, gate, { answer, note, by: "person" }, now);
}

export function answerGate(goal: Goal, gate: Gate, given: GateAnswer, now: number): GoalDecision {
  const { answer, note } = given;
  const said = note === null ? [] : [`A person said ${answer === "approve" ? "yes" : "no"}: ${note}`];
  const answered: Goal = { ...goal, gate: null, remarks: [...goal.remarks, ...said] };
  return answer === "approve" ? approve(answered, gate) : reject(answered, gate, given, now);
}

function approve(goal: Goal, gate: Gate): GoalDecision {
  switch (gate.kind) {
    case "G1":
      return approvePlan(goal);
    case "G2":
      return change(goal, {});
    case "pre-check":
      return change(goal, { phase: moveTo(goal.phase, "working") });
    // The files may have changed while the question was open, so the checks run once more.
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
    // The files that new checks depend on must be recorded before any work.
    baseline: null,
    phase: { kind: "survey", next: stage },
  });
}

function reject(goal: Goal, gate: Gate, { note, by }: GateAnswer, now: number): GoalDecision {
  // The goal is proved, but the person wants more: the work goes on.
  if (asksForEnd(gate))
    return change(goal, {
      exitSignal: false,
      phase: moveTo(goal.phase, "working"),
      remarks:
        note === null
          ? [...goal.remarks, "A person reviewed the work and says that it is not done."]
          : goal.remarks,
    });
  const what =
    gate.kind === "G1" ? "the plan" : gate.kind === "pre-check" ? "an irreversible change" : "continuing";
  const reason =
    by === "nobody"
      ? `nobody answered in time, so ${what} was rejected`
      : `a person said no to ${what}${note === null ? "" : `: ${note}`}`;
  // A rejected plan is planned again.
  const replanned: Goal =
    gate.kind === "G1" && goal.needsPlan
      ? { ...goal, steps: [], proposed: [], phase: moveTo(goal.phase, "planning") }
      : goal;
  const wish = { code: "rejected", reason } as const;
  return pause(replanned, by === "nobody" ? { ...wish, unanswered: true } : wish, now);
}
