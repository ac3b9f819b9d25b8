/**
 * Decides whether a goal is reached. The only word of the agent that counts here is its signal to end.
 *
 * 1. A goal without criteria is never proved.
 * 2. Evidence counts only for the current files: its tree is the tree of the last round.
 * 3. An assumption is never met.
 * 4. A check does not count when files it depends on were changed, until a person accepts the change.
 */
import { bestVerdict, commandOf, kindOf } from "../checks/kinds.ts";
import type { CheckRound } from "./event.ts";
import type { Criterion, End, EvidenceByName, Goal, ProtectedChange, Verdict } from "./goal.ts";

/** The evidence of a round. Evidence that does not count gets a note that says why. */
export function weigh(goal: Goal, round: CheckRound): EvidenceByName {
  const pending = pendingChanges(goal, round.protectedChanges);
  const weighed = goal.criteria.flatMap(({ name, check }) => {
    const found = round.evidence[name];
    if (found === undefined) return [];
    const changed = pending.filter((file) => concerns(goal, file, name)).map(({ path }) => path);
    const doubt =
      kindOf(check).blocks ??
      (round.tampered !== null
        ? `the record of the protected files cannot be trusted: ${round.tampered}`
        : changed.length > 0
          ? `files it depends on were changed: ${list(changed)}; see: loop accept ${goal.id}${hintFor(check, changed)}`
          : round.unstable.length > 0
            ? `${list(round.unstable)} changed while the checks ran; if a check writes these files, add them to .gitignore or to --allow-changes`
            : null);
    return [[name, doubt === null ? found : { ...found, met: false, note: doubt }] as const];
  });
  return Object.fromEntries(weighed);
}

/** A check that calls the product by its path seems to depend on it. */
function hintFor(check: Criterion["check"], changed: readonly string[]): string {
  const words = (commandOf(check) ?? "").split(/[\s'"`;&|()<>=]+/);
  const named = changed.filter((path) => words.some((word) => word.replace(/^(?:\.\/)+/, "") === path));
  return named.length === 0
    ? ""
    : `; if this file is the product itself, start with ${named.map((path) => `--allow-changes '${path}'`).join(" ")}`;
}

/** A protected file without a known criterion concerns every check. */
function concerns(goal: Goal, { criteria }: ProtectedChange, name: string): boolean {
  return criteria.includes(name) || !goal.criteria.some((criterion) => criteria.includes(criterion.name));
}

export function pendingChanges(goal: Goal, changes: readonly ProtectedChange[]): readonly ProtectedChange[] {
  return changes.filter(
    ({ path, hash }) => !goal.accepted.some((known) => known.path === path && known.hash === hash),
  );
}

export function isMet({ evidence, tree }: Goal, name: string): boolean {
  const found = evidence[name];
  return found?.met === true && found.tree === tree;
}

export function metCriteria(goal: Goal): readonly Criterion[] {
  return goal.criteria.filter(({ name }) => isMet(goal, name));
}

export function unmetCriteria(goal: Goal): readonly string[] {
  return goal.criteria.map(({ name }) => name).filter((name) => !isMet(goal, name));
}

export function isProved(goal: Goal): boolean {
  return goal.criteria.length > 0 && unmetCriteria(goal).length === 0;
}

/** Everything is green, and only a person's acceptance of changed files is missing. */
export function isOnlyUnaccepted(goal: Goal, round: CheckRound): boolean {
  if (goal.criteria.length === 0 || round.tampered !== null || round.unstable.length > 0) return false;
  return goal.criteria.every(
    ({ name, check }) => kindOf(check).blocks === null && round.evidence[name]?.met === true,
  );
}

/** Since the start no file changed, no tool was used, and every check was green already. */
export function isNoop(goal: Goal): boolean {
  const { baseline, tree, criteria, receipts } = goal;
  if (baseline === null || tree !== baseline.tree) return false;
  const usedTools = receipts.some(({ kind, toolCalls }) => kind === "work" && (toolCalls ?? 0) > 0);
  return !usedTools && criteria.every(({ name }) => baseline.green.includes(name));
}

/** Criteria that are green with fewer tests than before any work: a person must look, even with `--yes`. */
export function fewerTests({ criteria, baseline, evidence }: Goal): readonly string[] {
  return criteria.flatMap(({ name }) => {
    const [before, now] = [baseline?.tests?.[name], evidence[name]?.tests];
    const isFewer = before !== undefined && evidence[name]?.met === true && (now ?? 0) < before;
    return isFewer
      ? [`${name}: ${before} tests ran before any work, now ${now ?? "no number is reported"}`]
      : [];
  });
}

/** The criteria that changed between two rounds, for people: `tests ✓`, `coverage 71 → 76`. */
export function movesBetween(goal: Goal, before: EvidenceByName, after: EvidenceByName): readonly string[] {
  return goal.criteria.flatMap(({ name }) => {
    const [old, now] = [before[name], after[name]];
    if (now === undefined) return [];
    if (now.value !== null && old?.value !== undefined && old.value !== now.value)
      return [`${name} ${old.value ?? "?"} → ${now.value}${now.met ? " ✓" : ""}`];
    if ((old?.met ?? false) === now.met) return [];
    return [`${name} ${now.met ? "✓" : "✗"}`];
  });
}

export function endOf(goal: Goal, notes: readonly string[]): Omit<End, "at"> {
  const fewer = fewerTests(goal).map((line) => `fewer tests: ${line}`);
  return {
    status: "done",
    reason: "every criterion is proved",
    verdict: verdictFor(goal),
    notes: [...notes, ...greenNotes(goal), ...fewer, ...acceptedNotes(goal)],
  };
}

export function greenBefore({ criteria, baseline }: Goal): readonly string[] {
  return (baseline?.green ?? []).filter((name) => criteria.some((each) => each.name === name));
}

export function greenNotes(goal: Goal): readonly string[] {
  const green = greenBefore(goal);
  return green.length === 0 ? [] : [`green before any work: ${green.join(", ")}`];
}

export function acceptedNotes({ accepted }: Goal): readonly string[] {
  return accepted.map(({ path }) => `a person accepted the change to ${path}`);
}

/** SHIP: verified by running it, and easy to undo. MONITOR: weaker. RESEARCH: assumed. */
export function verdictFor(goal: Goal): Verdict {
  const best = bestVerdict(goal.criteria);
  if (best === "RESEARCH" || !isProved(goal)) return "RESEARCH";
  const isWeak =
    best === "MONITOR" ||
    goal.reversibility === "1" ||
    goal.accepted.length > 0 ||
    fewerTests(goal).length > 0 ||
    goal.criteria.every(({ name }) => goal.baseline?.green.includes(name) === true);
  return isWeak ? "MONITOR" : "SHIP";
}

function list(paths: readonly string[]): string {
  const shown = paths.slice(0, 3).join(", ");
  return paths.length > 3 ? `${shown} and ${paths.length - 3} more` : shown;
}
