/** Evidence as the engine records it, whatever loop the check belongs to. */
import { countTests } from "../toolchain/test-output.ts";
import type { Check, Evidence, EvidenceByName, Verification } from "./check.ts";
import type { CommandOutput, CommandRun } from "./kind.ts";
import { verificationOf } from "./kinds.ts";

/** So many characters of an output, or of what a judge said, are kept. */
const TAIL_KEPT = 4_000;

/** When it was taken, and on which state of the files. */
export interface Taken {
  readonly tree: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Nothing was run for it. */
export function noEvidence(verification: Verification, { tree, startedAt, endedAt }: Taken): Evidence {
  return {
    met: false,
    verification,
    exitCode: null,
    value: null,
    timedOut: false,
    tail: "",
    at: endedAt,
    // A clock that was set back gives no time back.
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

/** Somebody looked: what was said or seen, and whether that is a yes. */
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
