/**
 * Runs all checks that count for a story: its own checks, the project's, and those of every passed story, so that no
 * story breaks an earlier one. A worktree lacks what others merged meanwhile, so only the checks of the stories that it
 * depends on count there; the others count at the merge.
 */
import type { Attempt, Backlog } from "../../core/backlog/backlog.ts";
import type { StoryRound } from "../../core/backlog/event.ts";
import type { Story } from "../../core/backlog/stories.ts";
import { outcomeOfAnalysis } from "../../core/backlog/verdict.ts";
import type { Criterion, EvidenceByName } from "../../core/checks/check.ts";
import { evidenceOfLook, noEvidence, type Taken } from "../../core/checks/evidence.ts";
import { commandOf, verificationOf } from "../../core/checks/kinds.ts";
import { parseCheckFlag } from "../../core/spec/check-flag.ts";
import type { StoryPlaces, WorkPlace } from "../../ports/stories.ts";
import { type CheckPlace, runRound } from "../checks/round.ts";
import type { BacklogParts } from "../parts.ts";
import type { StoryJob } from "./story-job.ts";

interface NamedCheck {
  /** The name in the evidence. */
  readonly name: string;
  readonly criterion: Criterion;
}

/** `isTogether`: the place contains all passed stories. */
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
        if (parsed.kind === "invalid") return [];
        const { criterion } = parsed;
        return [{ name: `${story.id}: ${criterion.name}`, criterion }];
      }),
    ),
  ];
}

/** The story and everything that it depends on, directly or not. */
function behind(stories: readonly Story[], id: string): ReadonlySet<string> {
  const found = new Set([id]);
  for (const each of found)
    for (const story of stories) if (story.id === each) for (const next of story.dependsOn) found.add(next);
  return found;
}

/** `isTogether`: the place contains all passed stories. */
export async function runStoryRound(
  work: StoryJob,
  place: WorkPlace,
  isTogether: boolean,
): Promise<StoryRound> {
  const { parts, backlogParts, backlog, attempt, job, signal } = work;
  const startedAt = parts.clock.now();
  const checks = checksFor(backlog, attempt, isTogether);
  const criteria = checks.map(({ name, criterion }) => ({ ...criterion, name }));
  const files = await openFiles(backlogParts.places, place);
  const { tree, evidence, unstable } = await runRound(
    {
      criteria,
      mustNot: [],
      checker: backlogParts.checkerFor(place.dir),
      timeoutMs: backlog.terms.checkTimeoutMs,
      mark: job.id,
      signal,
      clock: parts.clock,
      judges: null,
    },
    files,
  );
  const at = { tree, startedAt: parts.clock.now(), endedAt: parts.clock.now() };
  return {
    tree,
    evidence: {
      ...withUnrun(criteria, evidence, at),
      ...analysisOf(backlogParts, backlog, attempt, at),
    },
    unstable,
    durationMs: Math.max(0, parts.clock.now() - startedAt),
  };
}

/** One fingerprint covers all files of a story, so it does not show which file changed. */
async function openFiles(places: StoryPlaces, place: WorkPlace): Promise<CheckPlace> {
  let last = await places.tree(place);
  return {
    tree: last,
    async look() {
      const before = last;
      last = await places.tree(place);
      return { tree: last, changed: last === before ? [] : ["files of the work tree"] };
    },
  };
}

/** A check without a command proves nothing here; the evaluator looks at it. */
function withUnrun(criteria: readonly Criterion[], evidence: EvidenceByName, taken: Taken): EvidenceByName {
  return Object.fromEntries(
    criteria.flatMap(({ name, check }) => {
      const found =
        commandOf(check) === null
          ? { ...noEvidence(verificationOf(check), taken), note: "no command runs this check" }
          : evidence[name];
      return found === undefined ? [] : [[name, found]];
    }),
  );
}

/** `explore` changes no files; its result is the analysis. */
function analysisOf(
  { files }: BacklogParts,
  { terms }: Backlog,
  { story }: Attempt,
  taken: Taken,
): EvidenceByName {
  if (terms.mode !== "explore") return {};
  const { met, result } = outcomeOfAnalysis(files.analysis(story).text);
  const seen = { isYes: met, text: result, note: null };
  return { [`${story}: analysis`]: evidenceOfLook("observation", seen, taken) };
}
