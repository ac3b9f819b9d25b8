/** The flags of a goal. Each wrong value throws one sentence. */
import { STILL_LIMIT } from "../../core/goal/breakers.ts";
import type { Criterion, GoalPolicy, Reversibility, Shape } from "../../core/goal/goal.ts";
import { parseCheckFlag } from "../../core/spec/check-flag.ts";
import { usageError } from "../../errors.ts";
import type { Config } from "../../schema/config.ts";
import { durationFlag, oneOf } from "../flags/values.ts";

export interface PolicyFlags {
  readonly yes?: boolean;
  readonly exitOn?: string;
  readonly gateTimeout?: string;
  readonly gateDefault?: string;
  readonly timeout?: string;
  readonly checkTimeout?: string;
  readonly protect?: readonly string[];
  readonly allowChanges?: readonly string[];
}

const DEFAULT_CHECK_TIMEOUT_MS = 10 * 60_000;

export function policyFrom(flags: PolicyFlags, config: Config): GoalPolicy {
  return {
    yes: flags.yes ?? false,
    exitOn: oneOf("--exit-on", flags.exitOn ?? "both", ["both", "proof"]),
    gateTimeoutMs: flags.gateTimeout === undefined ? null : durationFlag("--gate-timeout", flags.gateTimeout),
    gateDefault: oneOf("--gate-default", flags.gateDefault ?? "reject", ["approve", "reject"]),
    turnTimeoutMs:
      flags.timeout === undefined ? config.turnTimeoutMs : durationFlag("--timeout", flags.timeout),
    checkTimeoutMs:
      flags.checkTimeout === undefined
        ? DEFAULT_CHECK_TIMEOUT_MS
        : durationFlag("--check-timeout", flags.checkTimeout),
    stillLimit: STILL_LIMIT,
    protect: globs("--protect", flags.protect ?? []),
    allowChanges: globs("--allow-changes", flags.allowChanges ?? []),
  };
}

export function contextFlag(text: string | undefined): "fresh" | "continue" {
  return oneOf("--context", text ?? "continue", ["fresh", "continue"]);
}

export function reversibilityFlag(text: string | undefined): Reversibility | null {
  return text === undefined ? null : oneOf<Reversibility>("--reversibility", text, ["2A", "2B", "1"]);
}

/** A script can set the shape with LOOP_SHAPE. */
export function shapeFrom({ LOOP_SHAPE }: NodeJS.ProcessEnv): Shape | null {
  return LOOP_SHAPE ? oneOf<Shape>("LOOP_SHAPE", LOOP_SHAPE, ["tool", "colleague"]) : null;
}

export function checkFlag(text: string): Criterion {
  const parsed = parseCheckFlag(text);
  if (parsed.kind === "wrong") throw usageError(parsed.message);
  return parsed.criterion;
}

function globs(name: string, given: readonly string[]): readonly string[] {
  if (given.some((glob) => glob.trim() === ""))
    throw usageError(`${name} is empty; write a glob such as 'test/**' after it.`);
  return given;
}
