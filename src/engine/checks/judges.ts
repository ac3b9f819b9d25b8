/**
 * Asks judges and reviewers, agents with their own context, whether a criterion is met. Their answer is weaker evidence
 * than a command. Owns the order of the questions and the ids of their turns, which are found by id after a crash.
 */
import type { Criterion, Evidence } from "../../core/checks/check.ts";
import { evidenceOfLook, type Taken } from "../../core/checks/evidence.ts";
import { questionOf, verificationOf } from "../../core/checks/kinds.ts";
import { parseJudgement } from "../../core/claims/claims.ts";
import { sumUsage } from "../../core/cost/usage.ts";
import type { Usage } from "../../core/event.ts";
import type { Failure } from "../../core/goal/goal.ts";
import type { Agent, Turn, TurnEnd } from "../../ports/agent.ts";
import type { Clock } from "../../ports/clock.ts";
import { type AskedCriterion, type Judges, type Opinions, PASSES } from "./round.ts";

/** The agent to ask, and its turns. */
export interface Panel {
  /** Throws a sentence for the person when the agent is not available. */
  agent(): Agent;
  readonly nonce: string;
  readonly clock: Clock;
  /** `number` is part of the id of the turn. */
  turn(asked: AskedCriterion, number: string, at: number): Turn;
}

export function createJudges(panel: Panel, signal: AbortSignal): Judges {
  return { ask: (criteria, tree, pass) => askJudges(panel, signal, criteria, tree, pass) };
}

async function askJudges(
  panel: Panel,
  signal: AbortSignal,
  criteria: readonly AskedCriterion[],
  tree: string,
  pass: number,
): Promise<Opinions> {
  const { clock, nonce } = panel;
  const agent = panel.agent();
  const evidence: Record<string, Evidence> = {};
  let usage: Usage | null = null;
  let failure: Failure | null = null;
  for (const [index, each] of criteria.entries()) {
    if (signal.aborted || failure !== null) break;
    const startedAt = clock.now();
    const [first, again] = numbersOf(index, pass);
    const control = { signal, onStarted: () => {} };
    let end = await agent.run(panel.turn(each, first, startedAt), control);
    // a judge that answered in the wrong form is asked once more
    if (end.kind === "ok" && parseJudgement(end.answer, { nonce }).kind === "none") {
      usage = sumUsage(usage, end.usage);
      end = await agent.run(panel.turn(each, again, startedAt), control);
    }
    if (end.kind === "cancelled") break;
    usage = sumUsage(usage, end.usage);
    if (end.kind === "failed" && end.failure.class !== "fault") failure = end.failure;
    evidence[each.criterion.name] = opinionOf(each, end, nonce, {
      tree,
      startedAt,
      endedAt: clock.now(),
    });
  }
  return { evidence, usage, failure };
}

function opinionOf(
  { criterion }: AskedCriterion,
  end: Exclude<TurnEnd, { kind: "cancelled" }>,
  nonce: string,
  taken: Taken,
): Evidence {
  const { kind, reason } = parseJudgement(end.answer, { nonce });
  const isYes = end.kind === "ok" && kind === "pass";
  const note = kind === "none" ? `the judge gave no verdict: ${reason ?? "none"}` : null;
  return evidenceOfLook(verificationOf(criterion.check), { isYes, text: reason ?? end.answer, note }, taken);
}

/** The numbers of the turns for a criterion in one pass. The second turn runs only if the first gave no verdict. */
function numbersOf(index: number, pass: number): readonly [first: string, again: string] {
  return [`${index + 1}.${pass}`, `${index + 1}.${pass}again`];
}

/** Stops judges that a crashed owner left running. */
export async function stopJudges(panel: Panel, criteria: readonly AskedCriterion[]): Promise<void> {
  if (criteria.length === 0) return;
  const agent = panel.agent();
  for (const [index, each] of criteria.entries()) {
    for (let pass = 0; pass < PASSES; pass++) {
      for (const number of numbersOf(index, pass)) {
        const abort = new AbortController();
        const turn = panel.turn(each, number, panel.clock.now());
        const fate = await agent.reconcile(turn, { signal: abort.signal, onStarted: () => {} });
        abort.abort();
        if (fate.kind === "running") await fate.end;
      }
    }
  }
}

/** The criteria that need a judge, in their order. */
export function askedOf(criteria: readonly Criterion[]): readonly AskedCriterion[] {
  return criteria.flatMap((criterion) => {
    const asked = questionOf(criterion.check);
    return asked === null ? [] : [{ criterion, asked }];
  });
}
