/**
 * Any order of events keeps the invariants of backlogs. What is checked at every step:
 *
 * (1) A story passes only with all evidence green, on the files that were judged, judged well where it is judged;
 *     or by the word of a person who goes on with a run, between attempts.
 * (2) At most `parallel` attempts, each at a story of its own, and one merge at a time.
 * (3) A run that is paused or over intends nothing. What has ended stays as it ended.
 * (4) Iterations are never more than allowed. What is not the story's doing costs it nothing, an outage no iteration.
 * (5) A story that was rejected as often as `evalRetries` says is blocked, and one rejection counts as one.
 * (6) The same events give the same states, and news of a job come once. Versions rise by one; it survives JSON.
 * (7) An active run is never silent, and a look at it that it asks for changes something.
 * (8) Every attempt that is over has one receipt, unless its agent never saw it; the receipts are what was spent.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Attempt, Backlog, BacklogTerms, Diff } from "../../../src/core/backlog/backlog.ts";
import { backlogWakeAt, decideBacklog } from "../../../src/core/backlog/decide-backlog.ts";
import type {
  BacklogEvent,
  EvaluatorRecord,
  GeneratorRecord,
  MergeRecord,
  StoryRound,
} from "../../../src/core/backlog/event.ts";
import type { Story } from "../../../src/core/backlog/stories.ts";
import type { LoopId } from "../../../src/core/base.ts";
import type { Evidence, FailureClass, JobId } from "../../../src/core/goal/goal.ts";
import { runs } from "../../support/runs.ts";
import { aStory } from "./story-samples.ts";

const START = Date.UTC(2026, 0, 5, 9);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const RUNS = runs(500, 10_000);

const TERMS: BacklogTerms = {
  mode: "implement",
  maxIterations: 20,
  branchPrefix: "loop/",
  target: "main",
  evalRetries: 2,
  skipEval: false,
  parallel: 1,
  only: null,
  checks: [],
  budgetUsd: 25,
  scope: { maxFilesToRead: 40, maxLinesToWrite: 800, maxFilesToModify: 20 },
  ...{ generator: { kind: "command", command: "x" }, evaluator: { kind: "command", command: "x" } },
  models: { generator: null, evaluator: null, depths: { quick: null, standard: null, thorough: null } },
  turnTimeoutMs: HOUR,
  checkTimeoutMs: HOUR,
};

function aBacklog(stories: readonly Story[], terms: Partial<BacklogTerms> = {}): Backlog {
  return {
    kind: "backlog",
    id: "abcd0123" as LoopId,
    version: 1,
    session: null,
    status: "active",
    ...{ createdAt: START, terms: { ...TERMS, ...terms }, stories, attempts: [], places: [], iteration: 0 },
    jobs: 0,
    receipts: [],
    freeFailures: 0,
    waitUntil: null,
    waitReason: null,
    isStopping: false,
    pause: null,
    end: null,
    notice: null,
    spent: { costUsd: 0, tokens: 0, timeMs: 0, unpriced: 0 },
  } as Backlog;
}

const anEvidence = (met: boolean): Evidence => ({
  met,
  exitCode: met ? 0 : 1,
  value: null,
  timedOut: false,
  tail: met ? "" : "it is red",
  durationMs: 5,
  note: null,
  verification: "execution output",
  at: START,
  tree: "t",
});

const aDiff = (fields: Partial<Diff> = {}): Diff => ({
  sha: "c0ffee",
  treeBefore: "t0",
  tree: "t1",
  filesChanged: 1,
  files: ["a"],
  linesWritten: 3,
  filesRead: null,
  isRewritten: false,
  ...fields,
});

const aGenerated = (fields: Partial<GeneratorRecord> = {}): GeneratorRecord => ({
  failure: null,
  isSilent: false,
  usage: null,
  durationMs: 10,
  diff: aDiff(),
  overScope: null,
  bentStories: false,
  ...fields,
});

const aRound = (met = true, fields: Partial<StoryRound> = {}): StoryRound => ({
  ...{ tree: "t1", evidence: { check: anEvidence(met) }, unstable: [], durationMs: 7, ...fields },
});

const anEvaluated = (
  kind: "pass" | "reject" | "none" = "pass",
  fields: Partial<EvaluatorRecord> = {},
): EvaluatorRecord => ({
  ...{ failure: null, usage: null, durationMs: 3, verdict: { kind, reason: null }, tree: "t1" },
  bentStories: false,
  ...fields,
});

const failing = (type: FailureClass, resetsAt: number | null = null) => ({
  failure: { class: type, reason: `it was ${type}`, resetsAt },
});

/** One backlog and what happens to it, with everything above held against every step. */
class Run {
  backlog: Backlog;
  now = START;
  /** As prd.json has them. */
  file: readonly Story[];
  readonly first: Backlog;
  readonly history: { readonly event: BacklogEvent; readonly now: number }[] = [];
  readonly intended = new Set<JobId>();

  constructor(backlog: Backlog) {
    this.backlog = backlog;
    this.first = backlog;
    this.file = backlog.stories;
  }

  get due(): BacklogEvent {
    return { type: "backlog.due", token: 1, nonce: "n", stories: this.file, problem: null };
  }

  job(story?: string): NonNullable<Attempt["job"]> {
    const found = this.backlog.attempts.find(
      (attempt) => attempt.job !== null && (story === undefined || attempt.story === story),
    );
    if (found?.job == null)
      throw new Error(`nothing is under way${story === undefined ? "" : ` for ${story}`}`);
    return found.job;
  }

  /** Waits as long as it says. */
  look(): this {
    this.now = Math.max(this.now, backlogWakeAt(this.backlog) ?? this.now);
    return this.tell(this.due);
  }

  generated(turn: GeneratorRecord = aGenerated(), story?: string): this {
    return this.tell({ type: "attempt.generated", jobId: this.job(story).id, turn, nextNonce: "n" });
  }

  checked(round: StoryRound = aRound(), story?: string): this {
    return this.tell({ type: "attempt.checked", jobId: this.job(story).id, round, nextNonce: "n" });
  }

  evaluated(turn: EvaluatorRecord = anEvaluated(), story?: string): this {
    return this.tell({ type: "attempt.evaluated", jobId: this.job(story).id, turn, nextNonce: "n" });
  }

  merged(merge: MergeRecord = { kind: "merged", round: aRound() }, story?: string): this {
    return this.tell({ type: "attempt.merged", jobId: this.job(story).id, merge });
  }

  started(story: string, worktree: string | null = null): this {
    const place = { story, worktree, base: { head: "c0ffee", branch: "main", tree: "t0" } };
    return this.tell({ type: "attempt.started", jobId: this.job(story).id, process: null, place });
  }

  tell(event: BacklogEvent): this {
    const before = this.backlog;
    const decision = decideBacklog(before, event, this.now);
    this.history.push({ event, now: this.now });
    if (decision.kind !== "change") return this;
    const after = decision.loop;
    this.backlog = after;
    this.expectStep(before, event, after);
    const works = decision.effects.flatMap((effect) => (effect.kind === "work" ? [effect.jobId] : []));
    for (const id of works) {
      expect(before.status, "(3)").toBe("active");
      expect(after.status, "(3)").toBe("active");
      expect(this.intended.has(id), "no job has the id of another").toBe(false);
      expect(after.attempts.filter(({ job }) => job?.id === id)).toHaveLength(1);
      this.intended.add(id);
    }
    if ("jobId" in event && event.type !== "attempt.started")
      expect(decideBacklog(after, event, this.now).kind, "(6)").toBe("none");
    // what the owner writes down
    if (after.stories !== before.stories) this.file = after.stories;
    this.expectState();
    return this;
  }

  expectStep(before: Backlog, event: BacklogEvent, after: Backlog): void {
    expect(after.version, "(6)").toBe(before.version + 1);
    for (const story of after.stories) {
      const was = before.stories.find(({ id }) => id === story.id);
      if (was === undefined) expect(event.type).toMatch(/^backlog\.(due|continued)$/);
      else if (story.passes && !was.passes) this.expectProved(before, event, story);
      if (was !== undefined && event.type.startsWith("attempt."))
        expect(story.rejections - was.rejections, "(5)").toBeLessThanOrEqual(1);
    }
    if (before.status === "ended")
      expect({ status: after.status, end: after.end }, "(3)").toEqual({ status: "ended", end: before.end });
    if (before.status === "paused" && after.status === "active")
      expect(event.type, "(3)").toBe("backlog.continued");
    expect(after.spent.timeMs, "(8)").toBeGreaterThanOrEqual(before.spent.timeMs);
    const over = before.attempts.filter(({ story }) => !after.attempts.some((one) => one.story === story));
    const isSeen = event.type !== "attempt.withdrawn";
    expect(after.receipts.length - before.receipts.length, "(8)").toBe(isSeen ? over.length : 0);
  }

  expectProved(before: Backlog, event: BacklogEvent, { id }: Story): void {
    if (event.type === "backlog.continued") {
      expect(before.attempts, "(1) a person's word").toEqual([]);
      return;
    }
    const attempt = before.attempts.find(({ story }) => story === id);
    const { skipEval } = before.terms;
    const isGreen = (evidence: Readonly<Record<string, Evidence>>) => {
      expect(
        Object.values(evidence).filter(({ met }) => !met),
        "(1) red evidence",
      ).toEqual([]);
      if (skipEval) expect(Object.keys(evidence).length, "(1) no evidence").toBeGreaterThan(0);
    };
    switch (event.type) {
      case "attempt.checked":
        isGreen(event.round.evidence);
        expect(event.round.unstable, "(1) files that move").toEqual([]);
        if (!skipEval) expect(attempt?.verdict?.kind, "(1)").toBe("pass");
        return;
      case "attempt.evaluated":
        isGreen(attempt?.evidence ?? {});
        expect(event.turn.failure, "(1)").toBeNull();
        expect(event.turn.verdict.kind, "(1)").toBe("pass");
        expect(event.turn.tree, "(1) judged and proved are the same files").toBe(attempt?.checkedTree);
        return;
      case "attempt.merged":
        if (event.merge.kind !== "merged") throw new Error("(1) passed, and was not merged");
        isGreen(event.merge.round.evidence);
        expect(Object.keys(event.merge.round.evidence), "(1) proved again, all of it").toEqual(
          expect.arrayContaining(Object.keys(attempt?.evidence ?? {})),
        );
        return;
      default:
        throw new Error(`(1) ${id} passed by ${event.type}`);
    }
  }

  expectState(): void {
    const { backlog, now } = this;
    const { attempts, terms, receipts, spent } = backlog;
    expect(attempts.length, "(2)").toBeLessThanOrEqual(terms.parallel);
    expect(new Set(attempts.map(({ story }) => story)).size, "(2)").toBe(attempts.length);
    expect(attempts.filter(({ job }) => job?.phase === "merge").length, "(2)").toBeLessThanOrEqual(1);
    expect(backlog.iteration, "(4)").toBeLessThanOrEqual(terms.maxIterations);
    expect(backlog.iteration, "(4)").toBeGreaterThanOrEqual(0);
    for (const { rejections, ...story } of backlog.stories)
      if (rejections >= terms.evalRetries) expect(story.passes || story.blocked, "(5)").toBe(true);
    expect(
      receipts.reduce((sum, receipt) => sum + receipt.spent.timeMs, 0),
      "(8)",
    ).toBe(spent.timeMs);
    expect(JSON.parse(JSON.stringify(backlog)), "(6)").toEqual(backlog);
    const at = backlogWakeAt(backlog);
    if (backlog.status !== "active") {
      expect(at, "(3) nobody looks at it").toBeNull();
      return;
    }
    const isAtWork = attempts.some(({ job }) => job !== null);
    expect(isAtWork || at !== null, "(7) it is silent").toBe(true);
    if (at !== null)
      expect(decideBacklog(backlog, this.due, Math.max(at, now)).kind, "(7) a look for nothing").toBe(
        "change",
      );
  }

  replay(): Backlog {
    return this.history.reduce((backlog, { event, now }) => {
      const decision = decideBacklog(backlog, event, now);
      return decision.kind === "change" ? decision.loop : backlog;
    }, this.first);
  }
}

describe("C5 C6 C7 what an attempt comes to", () => {
  const begun = (terms: Partial<BacklogTerms> = {}) => new Run(aBacklog([aStory("A")], terms)).look();
  const rejected = { passes: false, rejections: 1, blocked: false };

  test.each<[string, (run: Run) => Run, Partial<Story>]>([
    ["all green and judged well", (run) => run.generated().checked().evaluated(), { passes: true }],
    ["a red check", (run) => run.generated().checked(aRound(false)), rejected],
    ["REJECT", (run) => run.generated().checked().evaluated(anEvaluated("reject")), rejected],
    ["no verdict", (run) => run.generated().checked().evaluated(anEvaluated("none")), rejected],
    [
      "nothing changed",
      (run) => run.generated(aGenerated({ diff: aDiff({ filesChanged: 0, tree: "t0" }) })),
      rejected,
    ],
    [
      "history rewritten",
      (run) => run.generated(aGenerated({ diff: aDiff({ isRewritten: true }) })),
      rejected,
    ],
    ["over its scope", (run) => run.generated(aGenerated({ overScope: "900 lines" })), rejected],
    [
      "checks that move files",
      (run) => run.generated().checked(aRound(true, { unstable: ["out"] })),
      rejected,
    ],
    [
      "a judge that changed files, and a green round after it",
      (run) =>
        run
          .generated()
          .checked()
          .evaluated(anEvaluated("pass", { tree: "t2" }))
          .checked(aRound(true, { tree: "t2" })),
      { passes: true },
    ],
    [
      "a judge that changed files, and a red round after it",
      (run) =>
        run
          .generated()
          .checked()
          .evaluated(anEvaluated("pass", { tree: "t2" }))
          .checked(aRound(false)),
      rejected,
    ],
  ])("C6 %s", (_, play, wanted) => {
    expect(play(begun()).backlog.stories[0]).toMatchObject(wanted);
  });

  test("C1 --skip-eval passes by checks alone, and not by none", () => {
    expect(begun({ skipEval: true }).generated().checked().backlog.stories[0]?.passes).toBe(true);
    const unproved = begun({ skipEval: true })
      .generated()
      .checked(aRound(true, { evidence: {} }));
    expect(unproved.backlog.stories[0]).toMatchObject(rejected);
  });

  test("C7 at evalRetries it is blocked, and the run ends as blocked", () => {
    const run = begun().generated().checked(aRound(false)).look().generated().checked(aRound(false));
    expect(run.backlog.stories[0]).toMatchObject({ blocked: true, rejections: 2 });
    expect(run.backlog.stories[0]?.notes).toMatch(/\[REJECTED\][\s\S]*\[BLOCKED\]/);
    expect(run.backlog.notice).toMatchObject({
      title: `Backlog ${run.backlog.id} has a blocked story`,
      body: expect.stringMatching(/^\w+ needs human review: .*loop backlog unblock \w+$/),
    });
    expect(run.look().backlog.end?.outcome).toBe("blocked");
    expect(run.backlog.notice?.title).toMatch(/has ended$/);
  });

  test.each([
    ["quick", 3_999, false],
    ["quick", 4_000, true],
    ["standard", 9_999, false],
    ["standard", 10_000, true],
    ["thorough", 22_499, false],
    ["thorough", 22_500, true],
    [null, 10_000, true],
  ] as const)(
    "D7 a story of depth %s that wrote twice %d tokens is blocked: %s",
    (depth, outputTokens, blocked) => {
      const usage = { costUsd: null, inputTokens: null, outputTokens };
      const run = new Run(aBacklog([aStory("A", { depth })], { evalRetries: 9 }));
      for (const _ of ["first", "second"]) run.look().generated(aGenerated({ usage })).checked(aRound(false));
      const [story] = run.backlog.stories;
      expect(story).toMatchObject({ rejections: 2, blocked });
      if (blocked) expect(story?.notes).toMatch(/its \d+ tokens are used up \(\d+\), needs human review$/);
    },
  );

  test("C7 a rejection that leaves an attempt is told to nobody", () => {
    expect(begun().generated().checked(aRound(false)).backlog.notice).toBe(null);
  });

  test("a run whose budget is used says with what it goes on", () => {
    const run = begun();
    run.backlog = { ...run.backlog, spent: { ...run.backlog.spent, costUsd: 1_000 } };
    run.generated().checked(aRound(false)).look();
    expect(run.backlog.pause).toMatchObject({
      code: "budget",
      goOn: "loop backlog run --resume --budget=10",
    });
    expect(run.backlog.notice?.body).toContain("--budget=10");
  });

  test.each<[FailureClass, "active" | "paused"]>([
    ["outage", "active"],
    ["quota", "active"],
    ["auth", "paused"],
    ["denied", "paused"],
  ])("C11 %s costs neither the story nor the run anything", (type, status) => {
    const { backlog } = begun().generated(aGenerated(failing(type)));
    expect(backlog).toMatchObject({ status, iteration: 0, stories: [{ rejections: 0 }] });
    if (status === "active") expect(backlog.waitUntil).toBeGreaterThan(START);
  });

  test("C11 a generator that says and does nothing is waited for, and in the end a person is asked", () => {
    const run = begun();
    const silent = aGenerated({ isSilent: true, diff: aDiff({ filesChanged: 0, tree: "t0" }) });
    for (let n = 0; n < 4; n++) {
      run.generated(silent);
      expect(run.backlog).toMatchObject({ status: "active", stories: [{ rejections: 0 }] });
      run.look();
    }
    expect(run.generated(silent).backlog).toMatchObject({ status: "paused", pause: { code: "failures" } });
  });

  test("C11 an evaluator that failed judges again what the generator left", () => {
    const run = begun()
      .generated()
      .checked()
      .evaluated(anEvaluated("pass", failing("fault")));
    expect(run.backlog.attempts[0]).toMatchObject({ job: null, next: "evaluate", verdict: null });
    expect(run.look().evaluated().backlog.stories[0]?.passes).toBe(true);
    expect(run.backlog.iteration).toBe(1);
  });
});

describe("C12 C16 how a run ends", () => {
  test("C12 once stopped, it ends after what is under way", () => {
    const run = new Run(aBacklog([aStory("A"), aStory("B")])).look().tell({ type: "backlog.stopping" });
    expect(run.backlog.status).toBe("active");
    run.generated().checked().evaluated().look();
    expect(run.backlog).toMatchObject({ end: { outcome: "stopped" }, iteration: 1 });
    expect(run.backlog.stories[0]?.passes).toBe(true);
  });

  test("C12 a run that is stopped does not wait for an outage to be over", () => {
    const run = new Run(aBacklog([aStory("A")])).look().tell({ type: "backlog.stopping" });
    run.generated(aGenerated(failing("quota", START + 5 * HOUR)));
    expect(run.tell(run.due).backlog.end?.outcome).toBe("stopped");
    expect(run.now).toBe(START);
  });

  test("C12 --resume goes on with a run that was stopped twice", () => {
    const run = new Run(aBacklog([aStory("A"), aStory("B")])).look().tell({ type: "backlog.stopping" });
    run.tell({ type: "attempt.interrupted", jobId: run.job().id, reason: "stopped" });
    run.tell({ type: "backlog.continued", iterations: 0, budgetUsd: 0 }).look();
    expect(run.backlog).toMatchObject({ status: "active", isStopping: false, attempts: [{ story: "A" }] });
  });

  test("C16 N iterations, and what is under way with the last of them is judged", () => {
    const run = new Run(aBacklog([aStory("A"), aStory("B"), aStory("C")], { parallel: 2, maxIterations: 1 }));
    run.look();
    expect(backlogWakeAt(run.backlog)).toBeNull();
    run.generated().checked().evaluated().look();
    expect(run.backlog).toMatchObject({ end: { outcome: "max_iterations" }, iteration: 1 });
  });

  test("C16 a budget that is used up pauses when nothing is under way any more", () => {
    const run = new Run(aBacklog([aStory("A"), aStory("B"), aStory("C")], { parallel: 2, budgetUsd: 1 }));
    const usage = { costUsd: 2, inputTokens: 1, outputTokens: 1 };
    run
      .look()
      .look()
      .generated(aGenerated({ usage }), "A")
      .checked(aRound(), "A")
      .evaluated(anEvaluated(), "A");
    expect(backlogWakeAt(run.backlog)).toBeNull();
    run.generated(aGenerated(), "B").checked(aRound(), "B").evaluated(anEvaluated(), "B").look();
    expect(run.backlog).toMatchObject({ status: "paused", pause: { code: "budget" } });
  });

  test("C3 C16 what waits for a blocked story is blocked with it; --story ends with that story", () => {
    const blocked = [aStory("A", { blocked: true }), aStory("B", { dependsOn: ["A"] })];
    expect(new Run(aBacklog(blocked)).look().backlog.end?.outcome).toBe("blocked");
    const one = new Run(aBacklog([aStory("A"), aStory("B")], { only: "B" })).look();
    expect(one.generated().checked().evaluated().look().backlog.end?.outcome).toBe("done");
    expect(one.backlog.stories.map(({ passes }) => passes)).toEqual([false, true]);
  });
});

describe("C13 several at a time", () => {
  const two = () => {
    const run = new Run(aBacklog([aStory("A"), aStory("B"), aStory("C")], { parallel: 2 })).look().look();
    run.started("A", "A").started("B", "B");
    for (const story of ["A", "B"])
      run.generated(aGenerated(), story).checked(aRound(), story).evaluated(anEvaluated(), story);
    return run;
  };

  test("C13 merges go one at a time, each by its own checks", () => {
    const run = two();
    expect(run.backlog.attempts.map(({ job, next }) => [job?.phase, next])).toEqual([
      ["merge", "merge"],
      [undefined, "merge"],
    ]);
    expect(backlogWakeAt(run.backlog), "the second one waits for the first").toBeNull();
    run.merged().look();
    expect(run.backlog.stories[0]?.passes).toBe(true);
    expect(run.job("B").phase).toBe("merge");
  });

  test.each<[string, MergeRecord]>([
    ["red together with the others", { kind: "red", round: aRound(false) }],
    ["a conflict", { kind: "conflict", files: ["a"] }],
    ["merged before, and red now", { kind: "merged", round: aRound(false) }],
    ["merged with a check that was not run", { kind: "merged", round: aRound(true, { evidence: {} }) }],
  ])("C13 %s is a rejection", (_, merge) => {
    expect(two().merged(merge).backlog.stories[0]).toMatchObject({ passes: false, rejections: 1 });
  });

  test.each<[string, MergeRecord]>([
    ["a conflict", { kind: "conflict", files: ["a"] }],
    ["a check that is red together with the others", { kind: "red", round: aRound(false) }],
  ])("C13 %s: the next attempt is told to take the target in first, where there is one", (_, merge) => {
    const notes = (target: string | null) => {
      const { backlog } = two();
      const run = new Run({ ...backlog, terms: { ...backlog.terms, target } }).merged(merge);
      return run.backlog.stories[0]?.notes;
    };
    expect(notes("main")).toContain("; first merge main into your branch");
    expect(notes(null)).not.toContain("first of all");
  });

  test("C13 a merge that cannot be made pauses, and is made again", () => {
    const run = two().merged({ kind: "impossible", reason: "main has changes" });
    expect(run.backlog).toMatchObject({ status: "paused", stories: [{ rejections: 0 }, {}, {}] });
    run.tell({ type: "backlog.continued", iterations: 0, budgetUsd: 0 }).look();
    expect(run.job("A").phase).toBe("merge");
  });

  test("C13 a story keeps its place between attempts, until it cannot be had again", () => {
    const run = new Run(aBacklog([aStory("A")], { parallel: 2, evalRetries: 9 })).look().started("A", "A");
    run.generated().checked(aRound(false)).look();
    expect(run.backlog.attempts[0]?.place?.worktree).toBe("A");
    run.started("A", "A-2").generated().checked(aRound(false)).look();
    expect(run.backlog.places.map(({ worktree }) => worktree)).toEqual(["A-2"]);
    expect(run.backlog.attempts[0]?.place?.worktree).toBe("A-2");
  });

  test("C3 a story that depends on one under way waits for it without a look", () => {
    const run = new Run(aBacklog([aStory("A"), aStory("B", { dependsOn: ["A"] })], { parallel: 3 })).look();
    expect(backlogWakeAt(run.backlog)).toBeNull();
    expect(run.generated().checked().evaluated().look().job("B").phase).toBe("generate");
  });
});

const events: fc.Arbitrary<(run: Run, jobId: JobId) => BacklogEvent> = fc.oneof(
  fc.constant((run: Run) => run.due),
  fc.constant(
    (): BacklogEvent => ({ type: "backlog.due", token: 1, nonce: "n", stories: null, problem: "not JSON" }),
  ),
  fc.constant((): BacklogEvent => ({ type: "backlog.stopping" })),
  fc
    .constantFrom("person" as const, "interrupted" as const, "surroundings" as const)
    .map((code) => (): BacklogEvent => ({ type: "backlog.paused", code, reason: "it was told to" })),
  fc
    .nat(2)
    .map(
      (iterations) => (): BacklogEvent => ({ type: "backlog.continued", iterations, budgetUsd: iterations }),
    ),
  fc.constant((): BacklogEvent => ({ type: "backlog.continued", iterations: 0, budgetUsd: 0 })),
  fc.constant(
    (run: Run): BacklogEvent => ({
      type: "backlog.continued",
      iterations: 0,
      budgetUsd: 0,
      stories: run.file,
    }),
  ),
  fc.constant((): BacklogEvent => ({ type: "backlog.notified" })),
  fc.constant(
    (_: Run, jobId: JobId): BacklogEvent => ({ type: "attempt.interrupted", jobId, reason: "stopped" }),
  ),
  fc.constant(
    (_: Run, jobId: JobId): BacklogEvent => ({ type: "attempt.withdrawn", jobId, reason: "never seen" }),
  ),
);

const CLASSES: FailureClass[] = ["quota", "auth", "outage", "timeout", "denied", "overflow", "fault"];
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.option(arbitrary, { freq: 8, nil: null }).map((value) => value);
const failures = fc
  .tuple(fc.nat(7), fc.constantFrom(...CLASSES), fc.constantFrom(null, START, START + 2 * HOUR))
  .map(([n, type, resetsAt]) => (n === 0 ? failing(type, resetsAt).failure : null));
const usages = rarely(
  fc.record({
    costUsd: fc.constantFrom(null, 0, 0.25, 4),
    inputTokens: fc.nat(900),
    outputTokens: fc.nat(90),
  }),
);
const trees = fc.constantFrom("t1", "t1", "t1", "t2");
const rounds: fc.Arbitrary<StoryRound> = fc.record({
  tree: trees,
  evidence: fc.constantFrom(
    ...[true, true, true, false].map((met) => ({ check: anEvidence(met), other: anEvidence(true) })),
    {},
  ),
  unstable: fc.constantFrom([], [], [], [], ["out"]),
  durationMs: fc.nat(99),
});
const generators: fc.Arbitrary<GeneratorRecord> = fc
  .record({
    failure: failures,
    usage: usages,
    durationMs: fc.nat(9_999),
    how: fc.constantFrom("well", "well", "well", "well", "nothing", "silent", "rewritten", "scope", "blind"),
    bentStories: fc.boolean(),
  })
  .map(({ how, ...fields }) => ({
    ...aGenerated(fields),
    isSilent: how === "silent",
    overScope: how === "scope" ? "900 lines" : null,
    diff:
      how === "blind"
        ? null
        : how === "nothing" || how === "silent"
          ? aDiff({ filesChanged: 0, tree: "t0" })
          : aDiff({ isRewritten: how === "rewritten" }),
  }));
const evaluators = fc
  .record({
    failure: failures,
    usage: usages,
    tree: trees,
    kind: fc.constantFrom("pass", "pass", "pass", "reject", "none"),
  })
  .map(({ kind, ...fields }) => anEvaluated(kind as "pass" | "reject" | "none", fields));
const merges: fc.Arbitrary<MergeRecord> = fc.oneof(
  { weight: 5, arbitrary: rounds.map((round): MergeRecord => ({ kind: "merged", round })) },
  rounds.map((round): MergeRecord => ({ kind: "red", round })),
  fc.constant<MergeRecord>({ kind: "conflict", files: ["a"] }),
  fc.constant<MergeRecord>({ kind: "impossible", reason: "the disk is full" }),
);

type Action = (run: Run) => void;

/** Whatever is under way ends as it may, the oldest or the newest first; otherwise it is looked at. */
const goes: fc.Arbitrary<Action> = fc
  .record({
    generated: generators,
    checked: rounds,
    evaluated: evaluators,
    merged: merges,
    which: fc.nat(4),
    isDue: fc.boolean(),
  })
  .map(({ generated, checked, evaluated, merged, which, isDue }) => (run: Run) => {
    const at = run.backlog.attempts.filter(({ job }) => job !== null);
    const attempt = at[which % Math.max(1, at.length)];
    const wake = backlogWakeAt(run.backlog);
    if (attempt?.job == null || (isDue && wake !== null)) {
      if (wake !== null) run.look();
      return;
    }
    const { story, job } = attempt;
    if (job.phase === "generate" && job.startedAt === null)
      run.started(story, run.backlog.terms.parallel > 1 ? story : null);
    if (job.phase === "generate") run.generated(generated, story);
    else if (job.phase === "check") run.checked(checked, story);
    else if (job.phase === "evaluate") run.evaluated(evaluated, story);
    else run.merged(merged, story);
  });

const actions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 24, arbitrary: goes },
  {
    weight: 4,
    arbitrary: fc.tuple(events, fc.nat(40)).map(([make, old]) => (run: Run) => {
      const known = [...run.intended];
      const late = known[old % Math.max(1, known.length)] ?? ("abcd0123-1" as JobId);
      const current = run.backlog.attempts.find(({ job }) => job !== null)?.job?.id;
      run.tell(make(run, old % 2 === 0 ? (current ?? late) : late));
    }),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(goes, fc.nat(40)).map(([, old]) => (run: Run) => {
      // news of a job that is long over, in the words of every part
      const known = [...run.intended];
      const jobId = known[old % Math.max(1, known.length)] ?? ("abcd0123-1" as JobId);
      run.tell({ type: "attempt.generated", jobId, turn: aGenerated(), nextNonce: "n" });
      run.tell({ type: "attempt.checked", jobId, round: aRound(), nextNonce: "n" });
      run.tell({ type: "attempt.merged", jobId, merge: { kind: "merged", round: aRound() } });
    }),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: -HOUR, max: 9 * HOUR }).map((ms) => (run: Run) => {
      run.now += ms;
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("new", "claimed", "gone", "passed").map((what) => (run: Run) => {
      const id = `N${run.file.length}`;
      if (what === "new") run.file = [...run.file, aStory(id)];
      if (what === "claimed") run.file = [...run.file, aStory(id, { passes: true })];
      if (what === "gone") run.file = run.file.slice(0, -1);
      if (what === "passed")
        run.file = run.file.map((story, at) => (at === 0 ? { ...story, passes: true } : story));
    }),
  },
  {
    weight: 1,
    arbitrary: fc.nat(9).map((n) => (run: Run) => {
      if (n === 0) run.tell({ type: "backlog.cancelled", reason: "enough" });
    }),
  },
);

const backlogs: fc.Arbitrary<Backlog> = fc
  .record({
    parallel: fc.constantFrom(1, 1, 2, 3),
    maxIterations: fc.constantFrom(1, 4, 20),
    evalRetries: fc.constantFrom(1, 2, 3),
    skipEval: fc.boolean(),
    budgetUsd: fc.constantFrom(3, 25),
    only: fc.constantFrom(null, null, null, "S1"),
    mode: fc.constantFrom("implement" as const, "fix" as const, "explore" as const),
    deps: fc.array(fc.array(fc.nat(4), { maxLength: 2 }), { minLength: 1, maxLength: 5 }),
  })
  .map(({ deps, ...terms }) => {
    // only on stories before it: circles are refused before a run
    const stories = deps.map((on, at) =>
      aStory(`S${at}`, { dependsOn: [...new Set(on.filter((d) => d < at))].map((d) => `S${d}`) }),
    );
    return aBacklog(stories, terms);
  });

test("C5 C7 C11 C13 H1 invariants of backlogs hold in any order of events", { timeout: 600_000 }, () => {
  const ends = new Map<string, number>();
  fc.assert(
    fc.property(backlogs, fc.array(actions, { minLength: 12, maxLength: 80 }), (backlog, script) => {
      const run = new Run(backlog);
      for (const act of script) act(run);
      expect(run.replay(), "(6)").toEqual(run.backlog);
      const how = run.backlog.end?.outcome ?? run.backlog.status;
      ends.set(how, (ends.get(how) ?? 0) + 1);
    }),
    { numRuns: RUNS },
  );
  // The scripts must get somewhere, or nothing of this means anything.
  for (const how of [
    "done",
    "blocked",
    "stopped",
    "cancelled",
    "max_iterations",
    "error",
    "paused",
    "active",
  ])
    expect(ends.get(how) ?? 0, how).toBeGreaterThan(RUNS / 200);
});
