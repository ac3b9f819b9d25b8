/** The box at the end of a loop: what was verified and how, and the risks (B15). */
import { isRunOrMeasured, isWeak, kindOf, VERIFICATIONS } from "../../checks/kinds.ts";
import type { Goal, Verdict } from "../../goal/goal.ts";
import { acceptedNotes, greenBefore, greenNotes, isMet, metCriteria, verdictFor } from "../../goal/proof.ts";
import { cleanLine } from "../clean.ts";
import { columnsOf, fitTo, simplify } from "../width.ts";
import { evidenceOf, verifiedBy } from "./goal-facts.ts";

const NARROW = 36;
const WIDE = 76;
const MAX_RISKS = 3;
const LIGHTS: Readonly<Record<Verdict, string>> = { SHIP: "🟢", MONITOR: "🟡", RESEARCH: "🔴" };
/** The verdict at the end; before it, the current one. A loop that is not done proves nothing. */
export function verdictOf(goal: Goal): Verdict {
  if (goal.end === null) return verdictFor(goal);
  return goal.end.status === "done" ? (goal.end.verdict ?? verdictFor(goal)) : "RESEARCH";
}

export function renderVerdictBox(goal: Goal): string {
  const verdict = verdictOf(goal);
  const above = verifiedLines(goal);
  const below = [`↳ Alt: ${alternativeOf(goal)}`, ...shownRisks(goal).map((risk) => `↳ Risk: ${risk}`)];
  const lines = [...above, ...below].map((line) => simplify(cleanLine(line)));
  const width = Math.min(WIDE, Math.max(NARROW, ...lines.map(columnsOf)));
  const title = `─ ${LIGHTS[verdict]} ${verdict} `;
  const row = (line: string) => `│ ${fitTo(line, width)} │`;
  return [
    `╭${title}${"─".repeat(width + 2 - columnsOf(title))}╮`,
    ...lines.slice(0, above.length).map(row),
    `├${"─".repeat(width + 2)}┤`,
    ...lines.slice(above.length).map(row),
    `╰${"─".repeat(width + 2)}╯`,
  ].join("\n");
}

function verifiedLines(goal: Goal): readonly string[] {
  const { criteria, reversibility, score } = goal;
  const met = metCriteria(goal).map((criterion) => verifiedBy(goal, criterion));
  const kinds = VERIFICATIONS.filter((kind) => met.includes(kind)).map((kind) => {
    const amount = met.filter((found) => found === kind).length;
    return `${kind} ×${amount}${isWeak(kind) ? " (weaker)" : ""}`;
  });
  return [
    `Verified: ${kinds.length === 0 ? "nothing" : kinds.join(", ")}`,
    `Checklist: ${met.length}/${criteria.length} criteria verified`,
    `Run or measured: ${met.filter(isRunOrMeasured).length}/${criteria.length} · Type ${reversibility} · ${score}pt`,
  ];
}

function alternativeOf(goal: Goal): string {
  if (goal.status === "paused") return `${goal.pause?.goOn ?? `loop continue ${goal.id}`} goes on`;
  const hasCheckpoint = goal.receipts.some(({ checkpoint }) => checkpoint !== null);
  if (hasCheckpoint) return `loop rollback ${goal.id} puts the files back`;
  return goal.baseline?.isGit === true
    ? "git diff shows the work; there is no checkpoint to roll back to"
    : "no git here, so nothing can be rolled back";
}

function shownRisks(goal: Goal): readonly string[] {
  const risks = risksOf(goal);
  if (risks.length === 0) return ["anything that no check covers"];
  const more = risks.length - MAX_RISKS;
  return more > 0 ? [...risks.slice(0, MAX_RISKS), `${more} more: loop report ${goal.id}`] : risks;
}

/** Known risks, the worst first. */
export function risksOf(goal: Goal): readonly string[] {
  const unmet = goal.criteria.filter(
    ({ name, check }) => kindOf(check).blocks === null && !isMet(goal, name),
  );
  const assumed = goal.criteria.filter(({ check }) => kindOf(check).blocks !== null);
  const weak = goal.criteria.filter((criterion) => isWeak(verifiedBy(goal, criterion)));
  return [
    ...(goal.end !== null && goal.end.status !== "done" ? [`${goal.end.status}: ${goal.end.reason}`] : []),
    ...(goal.criteria.length === 0 ? ["there is no criterion"] : []),
    ...assumed.map(({ name }) => `${name} is assumed, nothing checks it`),
    ...unmet.map(({ name }) => `${name} is not met`),
    ...(goal.reversibility === "1" ? ["it takes hours or more to undo"] : []),
    ...goal.accepted.map(({ path }) => `checks depend on ${path}, and a person accepted its change`),
    ...greenBefore(goal).map((name) => `${name} was green before any work`),
    ...weak.map(({ name }) => `${name} was reviewed, not run`),
    ...notesOf(goal),
  ];
}

/** Notes that no other line shows. */
function notesOf(goal: Goal): readonly string[] {
  const told = [...greenNotes(goal), ...acceptedNotes(goal)];
  const own = (goal.end?.notes ?? []).filter((note) => !told.includes(note));
  const ofChecks = goal.criteria.flatMap(({ name }) => {
    const evidence = evidenceOf(goal, name);
    return evidence?.met === true && evidence.note !== null ? [`${name}: ${evidence.note}`] : [];
  });
  return [...own, ...ofChecks];
}
