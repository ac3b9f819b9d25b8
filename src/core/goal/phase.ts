/**
 * The phase of a goal: what is settled, and therefore what the engine does next (`next.ts` is one switch over it).
 * Pauses, questions, waits and the end are not phases. They hold a goal up, and the phase says where it goes on.
 *
 *   survey ──► planning ──► approval ──► pre-check ──► working ──► checking ──► proved ──► end
 *
 *   phase      what the engine does                        what follows
 *   survey     looks at the files before any work          the first stage that the goal needs
 *   planning   takes a turn that plans                     approval
 *   approval   asks a person (G1)                          pre-check; with new checks: survey; rejected: planning
 *   pre-check  asks a second agent, then a person          working
 *   working    takes a turn of work                        checking
 *   checking   runs a round of checks                      proved or the end; not proved: the phase before it
 *   proved     asks a person (G3, proved), or takes        checking; rejected: working
 *              one more turn for the agent's signal
 *
 * A goal leaves out the stages that it does not need. Whatever may have changed the files (a stopped turn, a
 * rollback, an accepted change) leads from any stage to `checking` and back to that stage: no gate is skipped.
 */

/** The stages before and during the work, in their order. Each is reached only after those before it. */
export type Stage =
  /** The first turn takes the spec apart into steps. */
  | "planning"
  /** A person has to approve the plan. */
  | "approval"
  /** A second agent looks at an irreversible change, and a person decides. */
  | "pre-check"
  /** Turns of work. */
  | "working";

export interface AtStage {
  readonly kind: Stage;
}
export interface Working extends AtStage {
  readonly kind: "working";
}

/** Every criterion was proved on this tree, but the agent did not signal the end or a person has to confirm it. */
export interface Proved {
  readonly kind: "proved";
  readonly tree: string;
}

/** A round of checks is due or under way. `from` is the phase that it interrupts, and goes back to. */
export type Checking =
  /** It settles a turn that counted as an iteration. */
  | { readonly kind: "checking"; readonly round: "iteration"; readonly from: Working | Proved }
  /** The files may have changed since the last round. */
  | { readonly kind: "checking"; readonly round: "extra"; readonly from: AtStage | Proved }
  /** The end was confirmed. The checks have the last word. An ended goal stays in it. */
  | { readonly kind: "checking"; readonly round: "final"; readonly from: Proved };

export type Phase =
  /** The state before any work is not known yet. */
  { readonly kind: "survey"; readonly next: Stage } | AtStage | Checking | Proved;

export const WORKING: Working = { kind: "working" };

/** The files may have changed, so a round of checks is due. `counts`: by a turn that counts as an iteration. */
export function owe(phase: Phase, counts = false): Phase {
  // A survey looks at everything anyway.
  if (phase.kind === "survey" || phase.kind === "checking") return phase;
  if (counts && isAtWork(phase)) return { kind: "checking", round: "iteration", from: phase };
  return { kind: "checking", round: "extra", from: phase };
}

/** The stage is reached. What is still due before it stays due. */
export function moveTo(phase: Phase, stage: Stage): Phase {
  if (phase.kind === "survey") return { kind: "survey", next: stage };
  return phase.kind === "checking" ? owe({ kind: stage }, phase.round === "iteration") : { kind: stage };
}

/** The end is confirmed. Only what was proved can be. */
export function confirm(phase: Phase): Phase {
  return phase.kind === "proved" ? { kind: "checking", round: "final", from: phase } : owe(phase);
}

/** The files were put back: nothing is proved or confirmed any more, and a round of checks is due. */
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

/** Does the round settle a turn that counted? */
export function isIterationRound(phase: Phase): boolean {
  return phase.kind === "checking" && phase.round === "iteration";
}

/** Has somebody confirmed the end? */
export function isConfirmed(phase: Phase): boolean {
  return phase.kind === "checking" && phase.round === "final";
}

export function isAtWork(phase: Phase): phase is Working | Proved {
  return phase.kind === "working" || phase.kind === "proved";
}

const STAGES: ReadonlySet<unknown> = new Set<Stage>(["planning", "approval", "pre-check", "working"]);

/** For lines of a journal, which anybody can write. */
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
