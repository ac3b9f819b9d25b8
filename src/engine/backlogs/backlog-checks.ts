/**
 * One round of all checks that count for a story, by the engine itself: its own, the project's, and those of every
 * story that has passed, so that none is broken by the next. In a worktree of its own there is nothing of what others
 * merged since: there, those count that it depends on, and all the others once it is merged. Evidence is of files that
 * stood still.
 */
import type { Attempt, Backlog } from "../../core/backlog/backlog.ts";
import type { StoryRound } from "../../core/backlog/event.ts";
import type { Story } from "../../core/backlog/stories.ts";
import { outcomeOfAnalysis } from "../../core/backlog/verdict.ts";
import type { Criterion, Evidence } from "../../core/goal/goal.ts";
import { parseCheckFlag, verificationOf } from "../../core/spec/check-flag.ts";
import type { WorkPlace } from "../../ports/stories.ts";
import { compares, lastNumber } from "../goals/goal-checks.ts";
import { PASSES, TAIL_KEPT } from "../goals/round.ts";
import type { BacklogParts, EngineParts } from "../parts.ts";

export interface NamedCheck {
  /** As evidence names it. */
  readonly name: string;
  readonly criterion: Criterion;
}

/** `isTogether`: where all that has passed is. */
export function checksFor(
  { stories, terms }: Backlog,
  attempt: Attempt,
  isTogether: boolean,
): readonly NamedCheck[] {
  const there = isTogether ? null : behind(stories, attempt.story);
  const isCounted = ({ id, passes }: Story) =>
    id === attempt.story || (passes && (there === null || there.has(id)));
  return [
    ...terms.checks.map((criterion) => ({ name: `project: ${criterion.name}`, criterion })),
    ...stories.filter(isCounted).flatMap((story) =>
      story.checks.flatMap((text) => {
        const parsed = parseCheckFlag(text);
        if (parsed.kind === "wrong") return [];
        const { criterion } = parsed;
        return [{ name: `${story.id}: ${criterion.name}`, criterion }];
      }),
    ),
  ];
}

/** What a story depends on in the end, and itself. */
function behind(stories: readonly Story[], id: string): ReadonlySet<string> {
  const found = new Set([id]);
  for (const each of found)
    for (const story of stories) if (story.id === each) for (const next of story.dependsOn) found.add(next);
  return found;
}

export async function runStoryRound(
  parts: EngineParts,
  backlogParts: BacklogParts,
  backlog: Backlog,
  attempt: Attempt,
  place: WorkPlace,
  isTogether: boolean,
  mark: string,
  signal: AbortSignal,
): Promise<StoryRound> {
  const { places } = backlogParts;
  const startedAt = parts.clock.now();
  const checks = checksFor(backlog, attempt, isTogether);
  let tree = await places.tree(place);
  let evidence: Readonly<Record<string, Evidence>> = {};
  let isUnstable = false;
  for (let n = 0; n < PASSES && !signal.aborted; n++) {
    evidence = await runAll(parts, backlogParts, backlog, checks, place, tree, mark, signal);
    if (Object.values(evidence).some(({ met }) => !met)) break;
    const after = await places.tree(place);
    isUnstable = after !== tree;
    tree = after;
    if (!isUnstable) break;
  }
  return {
    tree,
    evidence: { ...evidence, ...analysisOf(parts, backlogParts, backlog, attempt, tree) },
    unstable: isUnstable ? ["files of the work tree"] : [],
    durationMs: Math.max(0, parts.clock.now() - startedAt),
  };
}

/** `explore` changes nothing: what it has to show is what it found out. */
function analysisOf(
  { clock }: EngineParts,
  { files }: BacklogParts,
  { terms }: Backlog,
  { story }: Attempt,
  tree: string,
): Readonly<Record<string, Evidence>> {
  if (terms.mode !== "explore") return {};
  const { path, text } = files.analysis(story);
  const { met, result } = outcomeOfAnalysis(path, text);
  const at = clock.now();
  return {
    [`${story}: analysis`]: {
      ...{ met, at, tree, exitCode: null, value: null, timedOut: false, durationMs: 0, note: null },
      ...{ verification: "observation", tail: result },
    },
  };
}

async function runAll(
  { clock }: EngineParts,
  backlogParts: BacklogParts,
  { terms }: Backlog,
  checks: readonly NamedCheck[],
  place: WorkPlace,
  tree: string,
  mark: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, Evidence>>> {
  const checker = backlogParts.checkerFor(place.dir);
  const found: Record<string, Evidence> = {};
  for (const { name, criterion } of checks) {
    const { check } = criterion;
    if (signal.aborted) break;
    const at = clock.now();
    const blank: Evidence = {
      ...{ met: false, exitCode: null, value: null, timedOut: false, tail: "", durationMs: 0, note: null },
      ...{ verification: verificationOf(check), at, tree },
    };
    if (check.kind !== "command" && check.kind !== "measure") {
      // an evaluator looks; what nothing can run proves nothing
      found[name] = { ...blank, note: "nothing runs it" };
      continue;
    }
    const result = await checker.run(check.command, terms.checkTimeoutMs, signal, mark);
    const value = check.kind === "measure" ? lastNumber(result.tail) : null;
    found[name] = {
      ...blank,
      met: result.exitCode === 0 && (check.kind === "command" || compares(value, check)),
      exitCode: result.exitCode,
      value,
      timedOut: result.timedOut,
      tail: result.tail.slice(-TAIL_KEPT),
      at: clock.now(),
      durationMs: Math.max(0, clock.now() - at),
    };
  }
  return found;
}
