/** `loop status`: one goal on one screen. */
import { isWeak, renderFinding } from "../../checks/kinds.ts";
import { ERROR_LIMIT, NOOP_LIMIT, STUCK_LIMIT } from "../../goal/breakers.ts";
import type { Criterion, Goal } from "../../goal/goal.ts";
import { isMet, metCriteria, pendingChanges } from "../../goal/proof.ts";
import { renderDuration } from "../../task/interval.ts";
import { cleanLine, cleanText } from "../clean.ts";
import { count, renderBudget, renderCost, renderMoment, renderPricesNote, renderTokens } from "../figures.ts";
import { joinParts } from "../quote.ts";
import { tellingLine } from "../telling-line.ts";
import { cutTo, fitTo, simplify } from "../width.ts";
import { renderGate, renderWaiting } from "./announcements.ts";
import { evidenceOf, iterationOf, stepCounts, verifiedBy } from "./goal-facts.ts";
import { suggestLearnable } from "./learnable.ts";
import { renderReceiptLine } from "./receipt.ts";
import { renderVerdictBox } from "./verdict-box.ts";

const COLUMNS = 100;
const NAME_COLUMNS = 24;
const SPEC_LINES = 4;
const MAX_ROWS = 12;

export function renderGoalStatus(goal: Goal, now: number): string {
  const blocks = [
    `Goal ${goal.id} | ${standOf(goal, now)}`,
    renderSpec(goal.spec),
    renderNeed(goal, now),
    renderCriteria(goal, now),
    renderSteps(goal),
    renderFigures(goal),
    goal.end === null ? "" : renderVerdictBox(goal),
    suggestLearnable(goal) ?? "",
    `Files: .loop/state.json, .loop/runs/${goal.id}/`,
  ];
  return joinParts(blocks);
}

function standOf(goal: Goal, now: number): string {
  const { end, pause, gate, job, waitUntil } = goal;
  if (end !== null) return `${end.status} ${ago(end.at, now)}: ${short(end.reason)}`;
  if (pause !== null) return `paused ${ago(pause.at, now)} (${pause.code})`;
  if (gate !== null) return `waits for a person (${gate.kind}), asked ${ago(gate.askedAt, now)}`;
  if (job !== null) {
    const since = job.startedAt ?? job.intendedAt;
    const what = job.kind === "work" ? `iteration ${iterationOf(goal)}` : job.kind;
    return `${what} under way, started ${ago(since, now)}`;
  }
  if (waitUntil !== null) return "waits for the agent";
  return `in progress, next is iteration ${iterationOf(goal)}`;
}

function renderSpec(spec: string): string {
  const lines = cleanText(spec).trim().split("\n");
  const shown = lines.slice(0, SPEC_LINES).map((line) => `  ${short(line)}`);
  const more = lines.length - shown.length;
  return ["Spec", ...shown, ...(more > 0 ? [`  … ${count(more, "line")} more`] : [])].join("\n");
}

/** Why the goal waits, and what a person can do about it. */
function renderNeed(goal: Goal, now: number): string {
  const { pause } = goal;
  const paused =
    pause === null
      ? []
      : [
          `⏸ ${cleanLine(pause.reason)}`,
          ...pause.evidence.slice(0, MAX_ROWS).map((line) => `  - ${short(line)}`),
          `Resume: ${cleanLine(pause.goOn)}`,
        ];
  const pending = goal.status === "ended" ? [] : pendingChanges(goal, goal.protectedChanges);
  const changes = pending.slice(0, MAX_ROWS).map(({ path, change }) => {
    return `Protected file ${change}: ${cleanLine(path)} | See it: loop accept ${goal.id}`;
  });
  return [...paused, renderGate(goal), renderWaiting(goal, now), ...changes]
    .filter((line) => line !== null)
    .join("\n");
}

function renderCriteria(goal: Goal, now: number): string {
  const lines = goal.criteria.map((criterion) => renderCriterion(goal, criterion, now));
  const proposed = goal.proposed.map(
    ({ name }) => `  ? ${fitName(name)}  proposed by the agent, not accepted yet`,
  );
  return [
    `Criteria ${metCriteria(goal).length}/${goal.criteria.length} met`,
    ...capped([...lines, ...proposed]),
  ].join("\n");
}

function renderCriterion(goal: Goal, criterion: Criterion, now: number): string {
  const evidence = evidenceOf(goal, criterion.name);
  const verification = verifiedBy(goal, criterion);
  const isFresh = evidence === null || evidence.tree === goal.tree;
  const said =
    evidence === null || evidence.met ? "" : tellingLine(cleanText(evidence.note ?? evidence.tail));
  const parts = [
    renderFinding(criterion, evidence),
    `${verification}${isWeak(verification) ? " (weaker)" : ""}`,
    ...(evidence === null ? [] : [ago(evidence.at, now)]),
    ...(isFresh ? [] : ["from before the last change"]),
    ...(goal.baseline?.green.includes(criterion.name) === true ? ["green before any work"] : []),
    ...(said === "" ? [] : [said]),
  ];
  const mark = isMet(goal, criterion.name) ? "✓" : "✗";
  return cutTo(`  ${mark} ${fitName(criterion.name)}  ${simplify(cleanLine(parts.join(", ")))}`, COLUMNS);
}

function renderSteps(goal: Goal): string {
  if (goal.steps.length === 0) return goal.needsPlan ? "Steps: planned first" : "";
  const { done, total } = stepCounts(goal);
  const current = goal.steps.findIndex(({ status }) => status === "open");
  const lines = goal.steps.map(({ name, status }, index) => {
    const mark = status === "done" ? "✓" : index === current ? "→" : status === "replaced" ? "~" : " ";
    return `  ${mark} ${short(name)}${status === "replaced" ? " (replaced)" : ""}`;
  });
  return [`Steps ${done}/${total} done`, ...capped(lines)].join("\n");
}

function renderFigures(goal: Goal): string {
  const { limits, spent, iteration } = goal;
  const limited = (show: (amount: number) => string, amount: number, limit: number | null) =>
    limit === null ? show(amount) : `${show(amount)}/${show(limit)}`;
  const used = [
    `Cost: ${renderCost(spent)}/${renderBudget(limits.budgetUsd)}`,
    `Iterations: ${iteration}/${limits.iterations}`,
    `Tokens: ${limited(renderTokens, spent.tokens, limits.tokens)}`,
    `Time: ${limited(renderDuration, spent.timeMs, limits.timeMs)}`,
  ].join(" | ");
  const near = nearBreakers(goal);
  const last = goal.receipts.at(-1);
  const note = renderPricesNote(goal);
  return [
    used,
    ...(note === null ? [] : [note]),
    ...(near.length === 0 ? [] : [`Near a breaker: ${near.join("; ")}`]),
    ...(last === undefined ? [] : [`Last: ${renderReceiptLine(last)}`]),
  ].join("\n");
}

/** Breakers that are one or two counts away from a pause. */
function nearBreakers({ breakers, policy, status }: Goal): readonly string[] {
  if (status === "ended") return [];
  const all: readonly (readonly [string, number, number])[] = [
    ["same criteria unmet", breakers.stuckCount, STUCK_LIMIT],
    ["same error", breakers.errorCount, ERROR_LIMIT],
    ["no check moved", breakers.stillCount, policy.stillLimit],
    ["done claimed without any change", breakers.noopCount, NOOP_LIMIT],
  ];
  return all
    .filter(([, times, limit]) => times > 0 && times >= limit - (limit > 3 ? 2 : 1))
    .map(([what, times, limit]) => `${what} ${times}/${limit}`);
}

function capped(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_ROWS;
  return more > 0 ? [...lines.slice(0, MAX_ROWS), `  … ${more} more`] : lines;
}

function ago(at: number, now: number): string {
  return at > now ? `at ${renderMoment(at)}` : `${renderDuration(now - at)} ago`;
}

function short(text: string): string {
  return cutTo(simplify(cleanLine(text)), COLUMNS);
}

function fitName(name: string): string {
  return fitTo(simplify(cleanLine(name)), NAME_COLUMNS);
}
