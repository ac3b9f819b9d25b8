/** Evidence as the engine records it, for every kind of loop. */
import { countTests } from "../toolchain/test-output.ts";
import type { Check, Evidence, EvidenceByName, Verification } from "./check.ts";
import type { CommandOutput, CommandRun } from "./kind.ts";
import { verificationOf } from "./kinds.ts";

const TAIL_KEPT = 4_000;

export interface Taken {
  readonly tree: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Evidence of a check that did not run. */
export function noEvidence(verification: Verification, { tree, startedAt, endedAt }: Taken): Evidence {
  return {
    met: false,
    verification,
    exitCode: null,
    value: null,
    timedOut: false,
    tail: "",
    at: endedAt,
    // The clock may be set back.
    durationMs: Math.max(0, endedAt - startedAt),
    tree,
    note: null,
  };
}

export function evidenceOfOutput(
  check: Check,
  run: CommandRun,
  output: CommandOutput,
  taken: Taken,
): Evidence {
  const { exitCode, timedOut, tail } = output;
  const tests = countTests(tail);
  return {
    ...noEvidence(verificationOf(check), taken),
    ...run.read(output),
    exitCode,
    timedOut,
    tail: keepTail(tail),
    ...(tests === null ? {} : { tests }),
  };
}

/** Evidence from a judge, a reviewer or a person. */
export function evidenceOfLook(
  verification: Verification,
  { isYes, text, note }: { readonly isYes: boolean; readonly text: string; readonly note: string | null },
  taken: Taken,
): Evidence {
  return { ...noEvidence(verification, taken), met: isYes, tail: keepTail(text), note };
}

export function keepTail(text: string): string {
  return text.slice(-TAIL_KEPT);
}

export function isAllMet(evidence: EvidenceByName, names: readonly string[]): boolean {
  return names.every((name) => evidence[name]?.met === true);
}
