/**
 * The rounds of checks of a goal: the survey before any work, and the round after each turn. The checks themselves run
 * in `engine/checks/`. This file owns what only goals have: protected files and checkpoints.
 *
 * The files and the protected files are compared before the first check, so that the evidence belongs to exactly this
 * state. The protected files are compared again before each later look: they may change while the checks run. A file
 * that was changed and restored meanwhile shows only by its stamp.
 */

import { changedFiles, rewrittenFiles } from "../../core/checks/changed-files.ts";
import type { LoopEvent } from "../../core/event.ts";
import type { CheckRound } from "../../core/goal/event.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { pendingChanges } from "../../core/goal/proof.ts";
import type { CheckpointBegun, CheckpointResult } from "../../ports/checkpoints.ts";
import type { ProtectionRules, ProtectionState, Snapshot } from "../../ports/checks.ts";
import { createJudges } from "../checks/judges.ts";
import { type CheckPlace, type Round, runPass, runRound } from "../checks/round.ts";
import type { GoalParts } from "../parts.ts";
import { type GoalJob, panelOf } from "./goal-judges.ts";

interface GoalRound extends GoalJob {
  /** The state at the end of the last turn, if it is still current. */
  readonly known: Sight | null;
  /** The files at the last checkpoint of this process. */
  readonly saved: Snapshot | null;
}

/** The files and the protected files at one moment. */
export interface Sight {
  readonly snapshot: Snapshot;
  /** null: not compared. */
  readonly protection: ProtectionState | null;
}

/** Both run in parallel: one waits for git while the other reads files. */
export async function lookAround(goals: GoalParts, goal: Goal): Promise<Sight> {
  const [snapshot, protection] = await Promise.all([
    goals.workspace.snapshot(goal.policy.allowChanges),
    compare(goals, goal),
  ]);
  return { snapshot, protection };
}

interface RoundEnd {
  readonly event: LoopEvent;
  readonly snapshot: Snapshot;
  readonly saved: Snapshot | null;
}

/** Runs before any work: finds the checks that already pass and records the protected files. Asks no judge. */
export async function runSurvey(round: GoalRound): Promise<RoundEnd> {
  const { parts, goals, goal, job } = round;
  const startedAt = parts.clock.now();
  const first = await look(round);
  const before = await goals.protection.stamps(rulesOf(goal));
  const pass = await runPass({ ...checksOf(round), judges: null }, first.hash, 0);
  // after the checks: files that the checks write themselves (a lock file, snapshots) are not the agent's changes
  const { digest, count } = await goals.protection.record(goal.id, rulesOf(goal), before);
  const last = round.signal.aborted ? first : await look(round);
  const checkpoint = await goals.checkpoints.save(goal.id, "before any work");
  const evidence = Object.fromEntries(
    Object.entries(pass.evidence).map(([name, found]) => [name, { ...found, tree: last.hash }]),
  );
  const event: LoopEvent = {
    type: "job.surveyed",
    jobId: job.id,
    baseline: { tree: last.hash, protectedDigest: digest, protectedCount: count, isGit: last.isGit },
    round: {
      ...pass,
      evidence,
      tree: last.hash,
      unstable: [],
      durationMs: since(round, startedAt),
      protectedChanges: [],
      tampered: null,
      ...savedAs(checkpoint),
    },
  };
  return { event, snapshot: last, saved: isSaved(goal, checkpoint) ? last : null };
}

/** Runs all checks after a turn. */
export async function runGoalRound(round: GoalRound): Promise<RoundEnd> {
  const { parts, goals, goal, job } = round;
  const startedAt = parts.clock.now();
  const seen = round.known ?? (await lookAround(goals, goal));
  const { snapshot } = seen;
  const protection = seen.protection ?? (await compare(goals, goal));
  const wants = wantsCheckpoint(goal, snapshot);
  const known = round.saved === null ? null : { before: round.saved, after: snapshot };
  const saving = wants ? goals.checkpoints.begin(goal.id, labelOf(goal), known) : null;
  const watched = new WatchedFiles(round, snapshot, protection);
  const result = await runRound(checksOf(round), watched);
  const saved = saving === null ? null : await saving;
  const event: LoopEvent = {
    type: "job.checked",
    jobId: job.id,
    round: {
      ...result,
      durationMs: since(round, startedAt),
      ...watched.protectedState(),
      ...savedAs(saved),
    },
  };
  const kept = saved === null ? round.saved : isSaved(goal, saved) ? snapshot : null;
  return { event, snapshot: watched.snapshot, saved: kept };
}

function checksOf(round: GoalRound): Round {
  const { parts, goal, job, signal } = round;
  return {
    criteria: goal.criteria,
    mustNot: goal.mustNot,
    checker: parts.checker,
    timeoutMs: goal.policy.checkTimeoutMs,
    mark: job.id,
    signal,
    clock: parts.clock,
    judges: createJudges(panelOf(round), signal),
  };
}

/** Never negative, because the clock may have been set back. */
function since({ parts }: GoalRound, startedAt: number): number {
  return Math.max(0, parts.clock.now() - startedAt);
}

/** The state of the project's files at the last look. */
class WatchedFiles implements CheckPlace {
  readonly #round: GoalRound;
  readonly tree: string;
  snapshot: Snapshot;
  #protection: ProtectionState;

  constructor(round: GoalRound, snapshot: Snapshot, protection: ProtectionState) {
    this.#round = round;
    this.tree = snapshot.hash;
    this.snapshot = snapshot;
    this.#protection = protection;
  }

  async look(): Promise<{ readonly tree: string; readonly changed: readonly string[] }> {
    const { goals, goal } = this.#round;
    const [before, known] = [this.snapshot, this.#protection];
    // before the snapshot: if both looks agree, the checks ran on the compared files
    this.#protection = await compare(goals, goal);
    this.snapshot = await look(this.#round);
    const rewritten = rewrittenBetween(goal, known, this.#protection);
    const changed = [...new Set([...changedFiles(before, this.snapshot), ...rewritten])];
    return { tree: this.snapshot.hash, changed };
  }

  protectedState(): Pick<CheckRound, "protectedChanges" | "tampered"> {
    const state = this.#protection;
    return state.kind === "tampered"
      ? { protectedChanges: [], tampered: state.reason }
      : { protectedChanges: state.changes, tampered: null };
  }
}

/** Files that were changed and restored while the checks ran. A person reviews the other changes anyway. */
function rewrittenBetween(goal: Goal, before: ProtectionState, after: ProtectionState): readonly string[] {
  if (before.kind === "tampered" || after.kind === "tampered") return [];
  const pending = new Set(pendingChanges(goal, after.changes).map(({ path }) => path));
  return rewrittenFiles(before.stamps, after.stamps).filter((path) => !pending.has(path));
}

/** A snapshot lacks the allowed files, so with such files it does not describe a whole checkpoint. */
function isSaved({ policy }: Goal, saved: CheckpointResult | CheckpointBegun): boolean {
  return saved.kind !== "none" && policy.allowChanges.length === 0;
}

function look({ goals, goal }: GoalRound): Promise<Snapshot> {
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

/** B4: work that is hard to undo gets a checkpoint per step. */
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
