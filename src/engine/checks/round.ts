/**
 * Runs one round of checks for a goal or a story: a list of checks, a place to run them, and judges to ask. It returns
 * evidence for each check, on one state of the files.
 *
 * 1. The must-not conditions come first. Then the commands run in order, one at a time. The evidence belongs to the tree
 *    before the first of them.
 * 2. Judges are asked last, and only when all commands pass, because judges cost money.
 * 3. When everything passes, the files are compared again: evidence must not be older than the tree. If checks wrote
 *    files (caches, builds), they run a second time on the new tree. If the files still change, the evidence proves
 *    nothing, and the round names the files.
 * 4. A stopped round returns what it has. The caller that stopped it must not use the result.
 */
import type { Criterion, Evidence, MustNot, RoundEvidence } from "../../core/checks/check.ts";
import { evidenceOfOutput, isAllMet, keepTail, noEvidence } from "../../core/checks/evidence.ts";
import type { AgentRun } from "../../core/checks/kind.ts";
import { runOf, verificationOf } from "../../core/checks/kinds.ts";
import { sumUsage } from "../../core/cost/usage.ts";
import type { CheckRound } from "../../core/goal/event.ts";
import type { Checker } from "../../ports/checks.ts";
import type { Clock } from "../../ports/clock.ts";

/** How often checks run until the files stay unchanged. */
export const PASSES = 2;

export interface Round {
  /** Names are unique, because evidence is stored by name. */
  readonly criteria: readonly Criterion[];
  readonly mustNot: readonly MustNot[];
  /** Runs commands in the folder of the round. */
  readonly checker: Checker;
  readonly timeoutMs: number;
  /** Commands run under this mark, so that they are found after a crash. */
  readonly mark: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** null: ask nobody. Criteria that need a judge then get no evidence. */
  readonly judges: Judges | null;
}

/** A criterion that needs a judge, with the question. */
export interface AskedCriterion {
  readonly criterion: Criterion;
  readonly asked: AgentRun;
}

export interface Judges {
  /** `pass`: the number of the pass, from 0. */
  ask(criteria: readonly AskedCriterion[], tree: string, pass: number): Promise<Opinions>;
}

export type Opinions = Pick<CheckRound, "evidence" | "usage" | "failure">;

/** The files that the round checks. */
export interface CheckPlace {
  /** The fingerprint at the start. */
  readonly tree: string;
  /** Called after all checks passed: the fingerprint now, and the files that changed since the last look. */
  look(): Promise<{ readonly tree: string; readonly changed: readonly string[] }>;
}

/** The result of one pass over all checks. */
export type Pass = Opinions & Pick<CheckRound, "mustNot">;

export async function runRound(round: Round, place: CheckPlace): Promise<RoundEvidence & Pass> {
  const { clock, signal, criteria } = round;
  const startedAt = clock.now();
  const names = criteria.map(({ name }) => name);
  let { tree } = place;
  let pass: Pass = { evidence: {}, mustNot: [], usage: null, failure: null };
  let unstable: readonly string[] = [];
  for (let n = 0; n < PASSES && !signal.aborted; n++) {
    const { usage } = pass;
    pass = await runPass(round, tree, n);
    pass = { ...pass, usage: sumUsage(usage, pass.usage) };
    unstable = [];
    if (signal.aborted || names.length === 0 || !isAllMet(pass.evidence, names)) break;
    const seen = await place.look();
    tree = seen.tree;
    unstable = seen.changed;
    if (unstable.length === 0) break;
  }
  // the clock may have been set back
  return { ...pass, tree, unstable, durationMs: Math.max(0, clock.now() - startedAt) };
}

/** Runs all checks once. */
export async function runPass(round: Round, tree: string, n: number): Promise<Pass> {
  const mustNot = await watchMustNot(round);
  const { evidence, asked } = await runCommands(round, tree);
  const found = { evidence, mustNot, usage: null, failure: null };
  const isReady = mustNot.length === 0 && isAllMet(evidence, Object.keys(evidence));
  if (round.judges === null || !isReady || asked.length === 0) return found;
  const opinions = await round.judges.ask(asked, tree, n);
  return { ...found, ...opinions, evidence: { ...evidence, ...opinions.evidence } };
}

/** The must-not conditions that became true. */
async function watchMustNot({ mustNot, checker, timeoutMs, signal, mark }: Round): Promise<Pass["mustNot"]> {
  const found: { name: string; tail: string }[] = [];
  for (const { name, command } of mustNot) {
    if (command === null || signal.aborted) continue;
    const { exitCode, tail } = await checker.run(command, timeoutMs, signal, mark);
    if (exitCode === 0) found.push({ name, tail: keepTail(tail) });
  }
  return found;
}

/** Runs all commands of a round, and returns the criteria that need a judge. */
async function runCommands(
  { criteria, checker, timeoutMs, signal, mark, clock }: Round,
  tree: string,
): Promise<{ readonly evidence: Record<string, Evidence>; readonly asked: readonly AskedCriterion[] }> {
  const evidence: Record<string, Evidence> = {};
  const asked: AskedCriterion[] = [];
  for (const criterion of criteria) {
    if (signal.aborted) break;
    const { name, check } = criterion;
    const run = runOf(check);
    const startedAt = clock.now();
    switch (run.kind) {
      case "command": {
        const output = await checker.run(run.command, timeoutMs, signal, mark);
        evidence[name] = evidenceOfOutput(check, run, output, { tree, startedAt, endedAt: clock.now() });
        break;
      }
      case "ask":
        asked.push({ criterion, asked: run });
        break;
      case "nothing":
        evidence[name] = noEvidence(verificationOf(check), { tree, startedAt, endedAt: startedAt });
        break;
    }
  }
  return { evidence, asked };
}
