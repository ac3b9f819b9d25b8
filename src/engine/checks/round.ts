/**
 * One round of checks, by the engine itself, for goals and for stories: a list of checks, a place to run them in, and
 * judges to ask. Evidence comes back for each check, on one state of the files.
 *
 * 1. What must not become true is looked at first, then the commands run in their order, one at a time. Evidence is
 *    of the tree that the place was in before the first of them.
 * 2. Judges are asked last, and only when all commands are green: they cost money.
 * 3. When everything is green the place is looked at once more: evidence must not be older than the tree. Checks that
 *    write files (caches, builds) are run a second time, on the tree with those files in it. Evidence that does not
 *    settle proves nothing, and the round names the files.
 * 4. A round that is stopped returns what it has. Whoever stopped it does not use it.
 */
import type { Criterion, Evidence, MustNot, RoundEvidence } from "../../core/checks/check.ts";
import { evidenceOfOutput, isAllMet, keepTail, noEvidence } from "../../core/checks/evidence.ts";
import type { AgentRun } from "../../core/checks/kind.ts";
import { runOf, verificationOf } from "../../core/checks/kinds.ts";
import { sumUsage } from "../../core/cost/usage.ts";
import type { CheckRound } from "../../core/goal/event.ts";
import type { Checker } from "../../ports/checks.ts";
import type { Clock } from "../../ports/clock.ts";

/** How often checks are run until the files stand still. */
export const PASSES = 2;

export interface Round {
  /** Names are unique: evidence is found by them. */
  readonly criteria: readonly Criterion[];
  readonly mustNot: readonly MustNot[];
  /** Runs commands in the folder that the round is about. */
  readonly checker: Checker;
  readonly timeoutMs: number;
  /** Commands run under this mark, so that they are found again after a crash. */
  readonly mark: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** null: nobody is asked, and no evidence comes back for what only a judge can tell. */
  readonly judges: Judges | null;
}

/** A criterion that an agent is asked about, with the question. */
export interface AskedCriterion {
  readonly criterion: Criterion;
  readonly asked: AgentRun;
}

export interface Judges {
  /** `pass`: which pass of the round, from 0. */
  ask(criteria: readonly AskedCriterion[], tree: string, pass: number): Promise<Opinions>;
}

export type Opinions = Pick<CheckRound, "evidence" | "usage" | "failure">;

/** The state of the files that the round is about. */
export interface CheckPlace {
  /** Fingerprint at the start. */
  readonly tree: string;
  /** After everything was green: the fingerprint now, and what changed since the last look. */
  look(): Promise<{ readonly tree: string; readonly changed: readonly string[] }>;
}

/** What one pass over all checks found. */
export type Pass = Opinions & Pick<CheckRound, "mustNot">;

export type RoundResult = RoundEvidence & Pass;

export async function runRound(round: Round, place: CheckPlace): Promise<RoundResult> {
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
  // A clock that was set back gives no time back.
  return { ...pass, tree, unstable, durationMs: Math.max(0, clock.now() - startedAt) };
}

/** All checks once. */
export async function runPass(round: Round, tree: string, n: number): Promise<Pass> {
  const mustNot = await watchMustNot(round);
  const { evidence, asked } = await runCommands(round, tree);
  const found = { evidence, mustNot, usage: null, failure: null };
  const isReady = mustNot.length === 0 && isAllMet(evidence, Object.keys(evidence));
  if (round.judges === null || !isReady || asked.length === 0) return found;
  const opinions = await round.judges.ask(asked, tree, n);
  return { ...found, ...opinions, evidence: { ...evidence, ...opinions.evidence } };
}

/** Those that turned true. */
async function watchMustNot({ mustNot, checker, timeoutMs, signal, mark }: Round): Promise<Pass["mustNot"]> {
  const found: { name: string; tail: string }[] = [];
  for (const { name, command } of mustNot) {
    if (command === null || signal.aborted) continue;
    const { exitCode, tail } = await checker.run(command, timeoutMs, signal, mark);
    if (exitCode === 0) found.push({ name, tail: keepTail(tail) });
  }
  return found;
}

/**
 * Runs what the engine can run itself, and returns what is left for judges. This is the one place that knows all
 * commands of a round.
 */
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
