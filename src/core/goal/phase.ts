/**
 * The phase of a goal decides what the engine does next (see `next.ts`). Pauses, questions, waits and the end are not
 * phases: they interrupt a goal, and the phase says where the goal continues.
 *
 *   survey ──► planning ──► approval ──► pre-check ──► working ──► checking ──► proved ──► end
 *
 *   phase      what the engine does                        what follows
 *   survey     records the files before any work           the first stage that the goal needs
 *   planning   runs a turn that plans                      approval
 *   approval   asks a person (G1)                          pre-check; with new checks: survey; rejected: planning
 *   pre-check  asks a second agent, then a person          working
 *   working    runs a turn of work                         checking
 *   checking   runs a round of checks                      proved or the end; not proved: the phase before it
 *   proved     asks a person (G3, proved), or runs         checking; rejected: working
 *              one more turn for the agent's signal
 *
 * A goal skips stages that it does not need. When the files may have changed (a stopped turn, a rollback, an accepted
 * change), any stage goes to `checking` and then back to that stage, so that no gate is skipped.
 */

/** The stages before and during the work, in order. */
export type Stage = "planning" | "approval" | "pre-check" | "working";

export interface AtStage {
  readonly kind: Stage;
}
export interface Working extends AtStage {
  readonly kind: "working";
}

/** Every criterion is proved on this tree, but the agent must signal the end or a person must confirm it. */
export interface Proved {
  readonly kind: "proved";
  readonly tree: string;
}

/** A round of checks is due or running. `from` is the phase to which the goal returns. */
export type Checking =
  /** After a turn that counts as an iteration. */
  | { readonly kind: "checking"; readonly round: "iteration"; readonly from: Working | Proved }
  /** The files may have changed since the last round. */
  | { readonly kind: "checking"; readonly round: "extra"; readonly from: AtStage | Proved }
  /** After the end was confirmed. An ended goal stays in this phase. */
  | { readonly kind: "checking"; readonly round: "final"; readonly from: Proved };

export type Phase = { readonly kind: "survey"; readonly next: Stage } | AtStage | Checking | Proved;

export const WORKING: Working = { kind: "working" };

/** The files may have changed, so a round of checks is due. `counts`: after a turn that counts as an iteration. */
export function owe(phase: Phase, counts = false): Phase {
  // A survey runs the checks anyway.
  if (phase.kind === "survey" || phase.kind === "checking") return phase;
  if (counts && isAtWork(phase)) return { kind: "checking", round: "iteration", from: phase };
  return { kind: "checking", round: "extra", from: phase };
}

/** Moves to a stage. A survey or a round of checks that is due stays due. */
export function moveTo(phase: Phase, stage: Stage): Phase {
  if (phase.kind === "survey") return { kind: "survey", next: stage };
  return phase.kind === "checking" ? owe({ kind: stage }, phase.round === "iteration") : { kind: stage };
}

/** A person or `--yes` confirms the end. Only a proved goal can be confirmed. */
export function confirm(phase: Phase): Phase {
  return phase.kind === "proved" ? { kind: "checking", round: "final", from: phase } : owe(phase);
}

/** After a rollback nothing is proved or confirmed, and a round of checks is due. */
export function rollBack(phase: Phase): Phase {
  return owe(moveTo(phase, stageOf(phase)));
}

/** The phase after a round that proved nothing. */
export function unproved({ from }: Checking): AtStage {
  return from.kind === "proved" ? WORKING : from;
}

export function stageOf(phase: Phase): Stage {
  switch (phase.kind) {
    case "survey":
      return phase.next;
    case "checking":
      return stageOf(phase.from);
    case "proved":
      return "working";
    default:
      return phase.kind;
  }
}

export function isIterationRound(phase: Phase): boolean {
  return phase.kind === "checking" && phase.round === "iteration";
}

export function isConfirmed(phase: Phase): boolean {
  return phase.kind === "checking" && phase.round === "final";
}

export function isAtWork(phase: Phase): phase is Working | Proved {
  return phase.kind === "working" || phase.kind === "proved";
}

const STAGES: ReadonlySet<unknown> = new Set<Stage>(["planning", "approval", "pre-check", "working"]);

/** Journal lines are not trusted. */
export function isPhase(value: unknown): value is Phase {
  const phase = value as { [key: string]: unknown } | null | undefined;
  switch (phase?.kind) {
    case "survey":
      return STAGES.has(phase.next);
    case "proved":
      return typeof phase.tree === "string";
    case "checking":
      return isChecking(phase.round, phase.from);
    default:
      return STAGES.has(phase?.kind);
  }
}

function isChecking(round: unknown, from: unknown): boolean {
  if (!isPhase(from) || from.kind === "survey" || from.kind === "checking") return false;
  if (round === "iteration") return isAtWork(from);
  return round === "extra" || (round === "final" && from.kind === "proved");
}
