/** `loop backlog run`: runs stories, one or several at a time, until all have passed or a limit is reached. */
import { type AgentChoice, chooseAgentSpec, isAgentTyped, requireAgent } from "../../compose/agent-choice.ts";
import { newLoopId } from "../../compose/engine.ts";
import type { Backlog, BacklogTerms } from "../../core/backlog/backlog.ts";
import { keepHoldouts } from "../../core/backlog/pick.ts";
import { problemsOf, renderStoryProblem } from "../../core/backlog/prd/dependencies.ts";
import { renderIterationStart, renderLoopReady } from "../../core/backlog/report.ts";
import { nextOf, renderNextStory, type Story } from "../../core/backlog/stories.ts";
import { commandOf } from "../../core/checks/kinds.ts";
import type { AgentSpec } from "../../core/goal/goal.ts";
import { parseCheckFlag } from "../../core/spec/check-flag.ts";
import { addBacklog, openBacklog } from "../../engine/backlogs/backlogs.ts";
import { requestEvent } from "../../engine/tasks/tasks.ts";
import { surroundingsError, usageError } from "../../errors.ts";
import { noteMoment } from "../../git/diff.ts";
import { type AgentRole, agentOfRole, CONFIG_MODES } from "../../schema/backlog-config.ts";
import { loadPrd } from "../../store/files/prd-file.ts";
import { createStoryFiles } from "../../store/files/story-files.ts";
import { EXIT } from "../exit-codes.ts";
import { budgetFrom } from "../flags/limits.ts";
import { budgetFlag, checkBudget, commandFlag, countFlag, durationFlag, oneOf } from "../flags/values.ts";
import { validChecks } from "../goals/goal-flags.ts";
import { hostSession } from "../hosts/host-session.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToChange, openProjectToWrite, type Project, type ProjectFlags } from "../project.ts";
import type { RunFlags } from "../run/foreground.ts";
import { listenForStop } from "../run/signals.ts";
import { runBacklog } from "./backlog-runner.ts";
import {
  areChecksAccepted,
  type BacklogSettings,
  isSettingsTrusted,
  NOT_ACCEPTED,
  readBacklogSettings,
} from "./backlog-settings.ts";

export interface BacklogRunFlags extends ProjectFlags, AgentChoice, RunFlags {
  readonly story?: string;
  readonly skipEval?: boolean;
  readonly mode?: string;
  readonly parallel?: string;
  readonly dryRun?: boolean;
  readonly resume?: boolean;
  readonly budget?: string;
  readonly timeout?: string;
}

export async function backlogRunCommand(
  count: string | undefined,
  flags: BacklogRunFlags,
  io: Io,
): Promise<number> {
  const stop = listenForStop();
  commandFlag("--notify-cmd", flags.notifyCmd);
  const reader = openProjectToChange(flags, io);
  const settings = readBacklogSettings(reader);
  const stories = readStories(reader, flags);
  const terms = await termsFrom(count, flags, settings, reader);
  refuseUntrusted(reader, settings, stories);
  const session = hostSession(process.env);
  if (session !== null && terms.parallel > 1)
    throw usageError(
      "A conversation can only work on one story at a time.",
      "Leave out --parallel, or type loop backlog run in a terminal.",
    );
  if (flags.dryRun) return showRun(terms, stories, flags, io);
  // a missing agent is an error before anything is written
  if (session === null && !flags.resume)
    for (const agent of [terms.generator, ...(terms.skipEval ? [] : [terms.evaluator])])
      requireAgent(agent, process.env);
  const project = openProjectToWrite(flags, io);
  const { store } = project;
  await store.catchUp();
  const before = openBacklog(store);
  if (flags.resume && before !== null) {
    await goOnWith(project, before, count, flags, session, stories);
    if (session !== null) return EXIT.ok;
    return runBacklog(project, before.id, flags, io, stop);
  }
  if (before?.status === "paused") {
    const event = { type: "backlog.cancelled", reason: "another run was started" } as const;
    await requestEvent(store, before, event, Date.now());
    io.say(`Cancelled the paused run ${before.id}. Its passed stories stay passed.`);
  }
  // a killed run may have left prd.json without its holdouts
  const whole = keepHoldouts(stories, before?.stories ?? []);
  const backlog = await addBacklog(store, terms, whole, session, Date.now(), newLoopId);
  await store.published?.publish();
  if (!flags.json) io.out(renderLoopReady({ ...terms, stories }));
  // the conversation does the work
  if (session !== null) return EXIT.ok;
  return runBacklog(project, backlog.id, flags, io, stop);
}

/** Adds the given iterations and budget, like `loop continue`. */
async function goOnWith(
  { root, store }: Project,
  before: Backlog,
  count: string | undefined,
  { budget }: BacklogRunFlags,
  session: string | null,
  stories: readonly Story[],
): Promise<void> {
  const iterations = countFlag("N", count) ?? 0;
  const budgetUsd = budgetFlag("--budget", budget) ?? 0;
  if (budgetUsd > 0) checkBudget(before.terms.budgetUsd + budgetUsd);
  // prd.json may be older than the journal after a crash
  const read = createStoryFiles(root).read(before.stories);
  const written = "stories" in read ? read : { stories };
  const event = { type: "backlog.continued", iterations, budgetUsd, session, ...written } as const;
  await requestEvent(store, before, event, Date.now());
}

function readStories({ root }: Project, { story }: BacklogRunFlags): readonly Story[] {
  const found = loadPrd(root);
  if (found === null)
    throw usageError("There is no backlog here.", "Create one: loop backlog plan, or loop register-task");
  const { stories } = found.prd;
  const [problem] = problemsOf(stories);
  if (problem !== undefined)
    throw surroundingsError(renderStoryProblem(problem), "Fix it in .loop/prd.json.");
  if (story !== undefined && !stories.some(({ id }) => id === story))
    throw usageError(`There is no story ${story} here.`, "List the stories: loop backlog show");
  for (const { id, checks } of stories) for (const text of checks) refuseUnrunnable(id, text);
  return stories;
}

/** A story's checks are commands; the evaluator judges everything else. */
function refuseUnrunnable(id: string, text: string): void {
  const parsed = parseCheckFlag(text);
  if (parsed.kind === "invalid") throw usageError(`${id}: ${parsed.message}`);
  const { name, check } = parsed.criterion;
  if (commandOf(check) === null)
    throw usageError(
      `${id}: the check "${name}" is a ${check.kind}, but a story's check must be a command.`,
      "Move it to acceptanceCriteria: the evaluator judges those.",
    );
}

async function termsFrom(
  count: string | undefined,
  flags: BacklogRunFlags,
  settings: BacklogSettings,
  { root }: Project,
): Promise<BacklogTerms> {
  const { backlog, config } = settings;
  const mode = oneOf("--mode", flags.mode, CONFIG_MODES) ?? backlog.mode;
  const parallel = countFlag("--parallel", flags.parallel) ?? 1;
  if (parallel > MOST_PARALLEL) throw usageError(`--parallel ${parallel} is more than ${MOST_PARALLEL}.`);
  // flags are validated before git writes objects
  const typed = {
    maxIterations: countFlag("N", count) ?? backlog.maxIterations,
    generator: agentOf("generator", flags, settings),
    evaluator: agentOf("evaluator", flags, settings),
    budgetUsd: budgetFrom(flags, process.env),
    turnTimeoutMs: durationFlag("--timeout", flags.timeout) ?? config.turnTimeoutMs,
  };
  const noted = await noteMoment(root);
  if (noted.kind === "none")
    throw surroundingsError(
      `A backlog needs git to see which files a story changed: ${noted.reason}.`,
      "Run git init, then make a first commit.",
    );
  const target = noted.moment.branch?.replace(/^refs\/heads\//, "") ?? null;
  if (parallel > 1 && (target === null || noted.moment.head === null))
    throw usageError(
      "--parallel merges work into the current branch, so a branch with a commit must be checked out.",
    );
  return {
    ...typed,
    mode,
    parallel,
    target,
    only: flags.story ?? null,
    branchPrefix: backlog.branchPrefix,
    evalRetries: backlog.evalRetries,
    skipEval: flags.skipEval ?? backlog.skipEval,
    scope: backlog.scopeBudgets[mode],
    models: {
      generator: backlog.agents.generator.model ?? null,
      evaluator: backlog.agents.evaluator.model ?? null,
      depths: {
        quick: backlog.depths.quick.model ?? null,
        standard: backlog.depths.standard.model ?? null,
        thorough: backlog.depths.thorough.model ?? null,
      },
    },
    checks: validChecks(config.checks ?? []).map((check) => ({ ...check, source: "config" })),
    checkTimeoutMs: CHECK_TIMEOUT_MS,
  };
}

const MOST_PARALLEL = 16;
const CHECK_TIMEOUT_MS = 10 * 60_000;

function agentOf(role: AgentRole, flags: BacklogRunFlags, { backlog, config }: BacklogSettings): AgentSpec {
  return isAgentTyped(flags)
    ? chooseAgentSpec(flags, config, process.env)
    : (agentOfRole(backlog.agents[role]) ?? chooseAgentSpec({}, config, process.env));
}

/** H2: commands from the project's files run only after a person has reviewed them. */
function refuseUntrusted({ root }: Project, settings: BacklogSettings, stories: readonly Story[]): void {
  if (!isSettingsTrusted(settings, process.env))
    throw surroundingsError(
      ".loop/config.json contains commands that you have not trusted.",
      "Review and accept them: loop trust",
    );
  if (!areChecksAccepted(root, stories, process.env))
    throw surroundingsError("The stories have checks that you have not accepted.", NOT_ACCEPTED);
}

function showRun(terms: BacklogTerms, stories: readonly Story[], flags: BacklogRunFlags, io: Io): number {
  const next = nextOf(stories);
  const lines = [
    renderLoopReady({ ...terms, stories }),
    next.kind === "story" ? renderIterationStart(1, terms.maxIterations, next.story) : renderNextStory(next),
    "--dry-run: nothing was run.",
  ];
  const id = next.kind === "story" ? next.story.id : null;
  return answer(flags, io, { type: "backlog.plan", ...terms, next: id }, lines.join("\n"));
}
