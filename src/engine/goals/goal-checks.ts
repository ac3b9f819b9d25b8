/**
 * One round of all checks of a goal, by the engine itself.
 *
 * 1. The files and what the checks consist of are looked at before the first check, so that evidence is of the
 *    very state that was compared.
 * 2. When everything is green the files are looked at once more: evidence must not be older than the tree. Checks
 *    that write files (caches, builds) are run a second time, on the tree with those files in it. What the checks
 *    consist of is compared once more before that look: it may have changed while they ran, and what was bent and
 *    put back in the meantime shows in its stamp only.
 * 3. Judges are asked last, and only when all commands are green: they cost money.
 */

import { sumUsage } from "../../core/cost/usage.ts";
import type { LoopEvent } from "../../core/event.ts";
import { changedFiles, rewrittenFiles } from "../../core/goal/changed-files.ts";
import type { CheckRound } from "../../core/goal/event.ts";
import type { Criterion, Evidence, Goal } from "../../core/goal/goal.ts";
import { pendingChanges } from "../../core/goal/proof.ts";
import { verificationOf } from "../../core/spec/check-flag.ts";
import { countTests } from "../../core/toolchain/test-output.ts";
import type { CheckpointBegun, CheckpointResult } from "../../ports/checkpoints.ts";
import type { ProtectionRules, ProtectionState, Snapshot } from "../../ports/checks.ts";
import type { GoalParts } from "../parts.ts";
import { askJudges } from "./goal-judges.ts";
import { PASSES, type Round, type Sight, TAIL_KEPT } from "./round.ts";

/** Both at once: one waits for git while the other looks at files. */
export async function lookAround(goals: GoalParts, goal: Goal): Promise<Sight> {
  const [snapshot, protection] = await Promise.all([
    goals.workspace.snapshot(goal.policy.allowChanges),
    compare(goals, goal),
  ]);
  return { snapshot, protection };
}

export interface RoundEnd {
  readonly event: LoopEvent;
  readonly snapshot: Snapshot;
  readonly saved: Snapshot | null;
}

/** Before any work: what is green already, and what the checks consist of. */
export async function runSurvey(round: Round): Promise<RoundEnd> {
  const { goals, goal, job } = round;
  const startedAt = round.parts.clock.now();
  const first = await look(round);
  const before = await goals.protection.stamps(rulesOf(goal));
  const pass = await runPass(round, first, null);
  // After the checks: what they write themselves (a lock file, snapshots) is no change of the agent's.
  const { digest, count } = await goals.protection.record(goal.id, rulesOf(goal), before);
  const last = round.signal.aborted ? first : await look(round);
  const checkpoint = await goals.checkpoints.save(goal.id, "before any work");
  const evidence = Object.fromEntries(
    Object.entries(pass.evidence).map(([name, found]) => [name, { ...found, tree: last.hash }]),
  );
  const event: LoopEvent = {
    type: "job.surveyed",
    jobId: job.id,
    baseline: {
      tree: last.hash,
      protectedDigest: digest,
      protectedCount: count,
      isGit: last.isGit,
    },
    round: {
      ...emptyRound(last.hash, round.parts.clock.now() - startedAt),
      ...pass,
      evidence,
      ...savedAs(checkpoint),
    },
  };
  return { event, snapshot: last, saved: isSaved(goal, checkpoint) ? last : null };
}

export async function runRound(round: Round): Promise<RoundEnd> {
  const { parts, goals, goal, job, signal } = round;
  const startedAt = parts.clock.now();
  const seen = round.known ?? (await lookAround(goals, goal));
  let { snapshot } = seen;
  let protection = seen.protection ?? (await compare(goals, goal));
  const wants = wantsCheckpoint(goal, snapshot);
  const known = round.saved === null ? null : { before: round.saved, after: snapshot };
  const saving = wants ? goals.checkpoints.begin(goal.id, labelOf(goal), known) : null;
  const taken = snapshot;
  let pass: Pass = EMPTY_PASS;
  let unstable: readonly string[] = [];
  for (let n = 0; n < PASSES && !signal.aborted; n++) {
    pass = addUsage(await runPass(round, snapshot, n), pass);
    if (signal.aborted || !isAllMet(goal, pass.evidence)) break;
    // Between two looks that agree: what is compared here is what the checks ran on.
    const compared = await compare(goals, goal);
    const after = await look(round);
    unstable = [...new Set([...changedFiles(snapshot, after), ...bentBetween(goal, protection, compared)])];
    protection = compared;
    snapshot = after;
    if (unstable.length === 0) break;
  }
  const saved = saving === null ? null : await saving;
  const event: LoopEvent = {
    type: "job.checked",
    jobId: job.id,
    round: {
      ...emptyRound(snapshot.hash, parts.clock.now() - startedAt),
      ...pass,
      unstable: isAllMet(goal, pass.evidence) ? unstable : [],
      protectedChanges: protection.kind === "known" ? protection.changes : [],
      tampered: protection.kind === "tampered" ? protection.reason : null,
      ...savedAs(saved),
    },
  };
  const kept = saved === null ? round.saved : isSaved(goal, saved) ? taken : null;
  return { event, snapshot, saved: kept };
}

/** Written to while the checks ran, and as it was again; what is not as it was is for a person anyway. */
function bentBetween(goal: Goal, before: ProtectionState, after: ProtectionState): readonly string[] {
  if (before.kind === "tampered" || after.kind === "tampered") return [];
  const pending = new Set(pendingChanges(goal, after.changes).map(({ path }) => path));
  return rewrittenFiles(before.stamps, after.stamps).filter((path) => !pending.has(path));
}

/** Files that do not count are in no snapshot, so that a snapshot does not tell all that a checkpoint needs. */
function isSaved({ policy }: Goal, saved: CheckpointResult | CheckpointBegun): boolean {
  return saved.kind !== "none" && policy.allowChanges.length === 0;
}

function look({ goals, goal }: Round): Promise<Snapshot> {
  return goals.workspace.snapshot(goal.policy.allowChanges);
}

async function compare(goals: GoalParts, goal: Goal): Promise<ProtectionState> {
  const digest = goal.baseline?.protectedDigest;
  if (digest === undefined) return { kind: "known", changes: [], stamps: new Map() };
  return goals.protection.compare(goal.id, digest, rulesOf(goal));
}

export function rulesOf({ criteria, mustNot, policy }: Goal): ProtectionRules {
  return { criteria, mustNot, protect: policy.protect, allowChanges: policy.allowChanges };
}

/** B4: what is hard to undo gets a checkpoint per step; what is easy is free. */
function wantsCheckpoint(goal: Goal, { hash }: Snapshot): boolean {
  return goal.reversibility !== "2A" && hash !== goal.tree;
}

function labelOf(goal: Goal): string {
  const step = goal.receipts.at(-1)?.step;
  return `iteration ${goal.iteration}${step == null ? "" : `: ${step}`}`;
}

function savedAs(saved: CheckpointResult | CheckpointBegun | null): Pick<CheckRound, "checkpoint" | "notes"> {
  if (saved === null) return { checkpoint: null, notes: [] };
  if (saved.kind === "none") return { checkpoint: null, notes: [saved.reason] };
  return { checkpoint: saved.step, notes: [] };
}

type Pass = Pick<CheckRound, "evidence" | "mustNot" | "usage" | "failure">;

const EMPTY_PASS: Pass = { evidence: {}, mustNot: [], usage: null, failure: null };

function emptyRound(tree: string, durationMs: number): CheckRound {
  return {
    ...EMPTY_PASS,
    // A clock that was set back gives no time back.
    ...{
      tree,
      durationMs: Math.max(0, durationMs),
      unstable: [],
      protectedChanges: [],
      tampered: null,
      checkpoint: null,
      notes: [],
    },
  };
}

/** `n`: which pass of the round; null: without judges. */
async function runPass(round: Round, { hash }: Snapshot, n: number | null): Promise<Pass> {
  const { parts, goal, signal, job } = round;
  const mustNot: { name: string; tail: string }[] = [];
  for (const { name, command } of goal.mustNot) {
    if (command === null || signal.aborted) continue;
    const result = await parts.checker.run(command, goal.policy.checkTimeoutMs, signal, job.id);
    if (result.exitCode === 0) mustNot.push({ name, tail: result.tail.slice(-TAIL_KEPT) });
  }
  const evidence: Record<string, Evidence> = {};
  const judged: Criterion[] = [];
  for (const criterion of goal.criteria) {
    if (signal.aborted) break;
    const { check } = criterion;
    if (check.kind === "judge" || check.kind === "review") judged.push(criterion);
    else evidence[criterion.name] = await runCheck(round, criterion, hash);
  }
  const isReady = Object.values(evidence).every(({ met }) => met) && mustNot.length === 0;
  if (n === null || !isReady || judged.length === 0) return { evidence, mustNot, usage: null, failure: null };
  const opinions = await askJudges(round, judged, hash, n);
  return { mustNot, ...opinions, evidence: { ...evidence, ...opinions.evidence } };
}

async function runCheck(round: Round, criterion: Criterion, tree: string): Promise<Evidence> {
  const { parts, goal, signal, job } = round;
  const { check } = criterion;
  const at = parts.clock.now();
  const blank: Evidence = {
    ...{ met: false, exitCode: null, value: null, timedOut: false, tail: "", durationMs: 0, note: null },
    ...{ verification: verificationOf(check), at, tree },
  };
  if (check.kind !== "command" && check.kind !== "measure") return blank;
  const result = await parts.checker.run(check.command, goal.policy.checkTimeoutMs, signal, job.id);
  const value = check.kind === "measure" ? lastNumber(result.tail) : null;
  const isMet = result.exitCode === 0 && (check.kind === "command" || compares(value, check));
  return {
    ...blank,
    met: isMet,
    exitCode: result.exitCode,
    value,
    timedOut: result.timedOut,
    tail: result.tail.slice(-TAIL_KEPT),
    ...testsIn(result.tail),
    at: parts.clock.now(),
    durationMs: Math.max(0, parts.clock.now() - at),
    note: check.kind === "measure" && result.exitCode === 0 && value === null ? "it printed no number" : null,
  };
}

function testsIn(tail: string): { tests?: number } {
  const tests = countTests(tail);
  return tests === null ? {} : { tests };
}

/** The last number in what was printed: `All files | 82.5 %` is 82.5. */
export function lastNumber(output: string): number | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are not numbers
  const plain = output.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, "");
  const found = plain.match(/(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi)?.at(-1);
  return found === undefined ? null : Number(found);
}

export function compares(
  value: number | null,
  check: Extract<Criterion["check"], { kind: "measure" }>,
): boolean {
  if (value === null) return false;
  switch (check.comparison) {
    case ">=":
      return value >= check.target;
    case "<=":
      return value <= check.target;
    case ">":
      return value > check.target;
    case "<":
      return value < check.target;
    case "==":
      return value === check.target;
    case "!=":
      return value !== check.target;
  }
}

function isAllMet(goal: Goal, evidence: Readonly<Record<string, Evidence>>): boolean {
  return goal.criteria.length > 0 && goal.criteria.every(({ name }) => evidence[name]?.met === true);
}

function addUsage(pass: Pass, before: Pass): Pass {
  return { ...pass, usage: sumUsage(before.usage, pass.usage) };
}
