/** The flags of a goal. Each wrong value throws one sentence. */
import { STILL_LIMIT } from "../../core/goal/breakers.ts";
import type { Criterion, GoalPolicy } from "../../core/goal/goal.ts";
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
    exitOn: oneOf("--exit-on", flags.exitOn, ["both", "proof"]) ?? "both",
    gateTimeoutMs: durationFlag("--gate-timeout", flags.gateTimeout) ?? null,
    gateDefault: oneOf("--gate-default", flags.gateDefault, ["approve", "reject"]) ?? "reject",
    turnTimeoutMs: durationFlag("--timeout", flags.timeout) ?? config.turnTimeoutMs,
    checkTimeoutMs: durationFlag("--check-timeout", flags.checkTimeout) ?? DEFAULT_CHECK_TIMEOUT_MS,
    stillLimit: STILL_LIMIT,
    protect: globs("--protect", flags.protect ?? []),
    allowChanges: globs("--allow-changes", flags.allowChanges ?? []),
  };
}

export function checkFlag(text: string): Criterion {
  const parsed = parseCheckFlag(text);
  if (parsed.kind === "invalid") throw usageError(parsed.message);
  return parsed.criterion;
}

/** The checks of a file; whoever reads the file reports those that do not parse. */
export function validChecks(texts: readonly string[]): readonly Criterion[] {
  return texts.map(parseCheckFlag).flatMap((parsed) => (parsed.kind === "ok" ? [parsed.criterion] : []));
}

function globs(name: string, given: readonly string[]): readonly string[] {
  if (given.some((glob) => glob.trim() === ""))
    throw usageError(`${name} is empty; write a glob such as 'test/**' after it.`);
  return given;
}
