/**
 * `loop backlog plan [SPEC.md…]` (C14): a planner reads the specs, asks at most 3 questions, and proposes stories
 * with checks. A person sees the stories and says yes before they are written and before any of their checks runs.
 */
import { basename } from "node:path";
import { type AgentChoice, chooseAgentSpec, isAgentTyped } from "../../compose/agent-choice.ts";
import { problemsOf, renderStoryProblem } from "../../core/backlog/prd/dependencies.ts";
import { PROGRESS_HEADER } from "../../core/backlog/progress-entry.ts";
import type { StoryPlan } from "../../core/backlog/prompts/parse-plan.ts";
import type { AnsweredQuestion, PlanRequest, SpecText } from "../../core/backlog/prompts/plan-prompt.ts";
import type { Story } from "../../core/backlog/stories.ts";
import type { AgentSpec } from "../../core/goal/goal.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { viewStory } from "../../core/views/backlog-view.ts";
import { refuseDuringRun } from "../../engine/backlogs/backlogs.ts";
import { surroundingsError, usageError } from "../../errors.ts";
import { agentOfRole, CONFIG_MODES } from "../../schema/backlog-config.ts";
import { emptyPrd, type Prd, type PrdContent, withStories } from "../../schema/prd.ts";
import { type Replacement, replacePrd } from "../../store/files/archive.ts";
import { createFile } from "../../store/files/backlog-files.ts";
import { loadPrd, prdPath } from "../../store/files/prd-file.ts";
import { ensureLoopDir } from "../../store/folder/loop-dir.ts";
import { type Questions, terminalQuestions } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { durationFlag, oneOf } from "../flags/values.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToChange, type ProjectFlags } from "../project.ts";
import { countStories, renderPlanned } from "../render/stories.ts";
import { refuseTurns } from "../run/person.ts";
import { listenForStop } from "../run/signals.ts";
import {
  acceptChecks,
  type BacklogSettings,
  isSettingsTrusted,
  NOT_ACCEPTED,
  readBacklogSettings,
  renderWritten,
} from "./backlog-settings.ts";
import { readSpecs, readStack } from "./backlog-specs.ts";
import { askPlanner, type Planned, type Planner } from "./planner.ts";

export interface BacklogPlanFlags extends ProjectFlags, AgentChoice {
  readonly mode?: string;
  readonly model?: string;
  readonly timeout?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  /** Archives the existing stories; otherwise the new stories are added. */
  readonly replace?: boolean;
}

export async function backlogPlanCommand(
  files: readonly string[],
  flags: BacklogPlanFlags,
  io: Io,
  questions: Questions = terminalQuestions,
): Promise<number> {
  const isAsking = io.interactive && !flags.json;
  refuseUnasked(flags, isAsking);
  const task = prepare(files, flags, io);
  const { root, request } = task;
  // the planner's turn is kept there
  ensureLoopDir(root);
  sayStart(request.specs, io);
  const planned = await plan(task, io, (asked) => askPerson(asked, isAsking, io, questions));
  if (planned.kind === "stopped") {
    io.say("Stopped. Nothing was written.");
    return EXIT.interrupted;
  }
  if (JSON.stringify(loadPrd(root)?.prd.content) !== JSON.stringify(task.before?.content))
    io.say(`${prdPath(root)} was changed while the planner worked. Review it before you run it.`);
  refuseUnsound(request.stories, planned);
  const view = viewPlanned(request.specs, planned);
  if (!flags.json) io.out(renderPlanned(planned.plan.stories));
  const isYes =
    flags.yes || (!flags.dryRun && (await questions.confirm(question(planned.plan, task.before, flags))));
  if (!isYes) {
    if (flags.json) io.json({ ...view, written: false, archived: null, checksAccepted: false });
    else io.say(`Nothing was written. The plan is in ${planned.answerFile}`);
    return EXIT.ok;
  }
  const { archived, accepted } = await write(root, planned, flags.replace ?? false);
  const wrote = `${renderWritten(root, planned.plan.stories, archived)} Next: loop backlog run`;
  answer(flags, io, { ...view, written: true, archived, checksAccepted: accepted }, wrote);
  if (!accepted) io.say(NOT_ACCEPTED);
  return EXIT.ok;
}

/** Refuses before a plan that could not be written costs money. */
function refuseUnasked(flags: BacklogPlanFlags, isAsking: boolean): void {
  if (flags.yes && flags.dryRun) throw usageError("--yes and --dry-run cannot be used together.");
  if (!isAsking && !flags.yes && !flags.dryRun)
    throw usageError(
      "plan asks before it writes stories, and there is no terminal. Add --yes to write, or --dry-run to look.",
    );
}

interface PlanTask extends Pick<Planner, "root" | "agent" | "model" | "timeoutMs"> {
  readonly request: PlanRequest;
  readonly before: Prd | null;
}

/** Validates everything and writes nothing. */
function prepare(files: readonly string[], flags: BacklogPlanFlags, io: Io): PlanTask {
  const project = openProjectToChange(flags, io);
  const { root, store } = project;
  refuseTurns(store, "plan a backlog");
  refuseDuringRun(store);
  const settings = readBacklogSettings(project);
  const before = loadPrd(root)?.prd ?? null;
  refuseFaulty(root, before);
  const { config, backlog } = settings;
  return {
    root,
    before,
    agent: choosePlanner(flags, settings),
    model: flags.model ?? backlog.agents.planner.model ?? null,
    timeoutMs: durationFlag("--timeout", flags.timeout) ?? config.turnTimeoutMs,
    request: {
      project: before?.project || basename(root),
      mode: oneOf("--mode", flags.mode, CONFIG_MODES) ?? backlog.mode,
      specs: readSpecs(root, files),
      stack: readStack(root),
      checks: config.checks ?? [],
      stories: flags.replace ? [] : (before?.stories ?? []),
      branchPrefix: backlog.branchPrefix,
    },
  };
}

/** Ctrl-C ends the planner and its child processes. */
async function plan({ request, ...task }: PlanTask, io: Io, ask: Planner["ask"]): Promise<Planned> {
  const stop = listenForStop();
  const onEvent: Planner["onEvent"] = (event) => {
    if (event.type === "tool") io.say(`  ${cleanLine(`${event.name} ${event.detail}`).slice(0, 100)}`);
  };
  const planner: Planner = { ...task, env: process.env, signal: stop.signal, onEvent, ask };
  return await askPlanner(planner, request).finally(stop.off);
}

function viewPlanned(specs: readonly SpecText[], { plan, answered, costUsd, answerFile }: Done): object {
  return {
    version: 1,
    specs: specs.map(({ path, left }) => ({ path, left })),
    questions: answered,
    stories: plan.stories.map(viewStory),
    costUsd,
    answerFile,
  };
}

type Done = Extract<Planned, { kind: "planned" }>;

async function write(
  root: string,
  { plan, answerFile }: Done,
  isReplacing: boolean,
): Promise<{ readonly archived: string | null; readonly accepted: boolean }> {
  const now = Date.now();
  const done = await replacePrd(root, (there) => decide(there, plan, isReplacing, answerFile), now);
  if (done.kind === "refused") throw surroundingsError(done.message, done.hint);
  createFile(root, "progress.md", PROGRESS_HEADER);
  const old = isReplacing ? [] : (done.before?.stories ?? []);
  const accepted = acceptChecks(root, old, [...old, ...plan.stories], process.env, now);
  return { archived: done.archived, accepted };
}

/** The command line first, then the planner in the settings, then the default agent. */
function choosePlanner(flags: BacklogPlanFlags, settings: BacklogSettings): AgentSpec {
  const own = agentOfRole(settings.backlog.agents.planner);
  if (isAgentTyped(flags) || own === null) return chooseAgentSpec(flags, settings.config, process.env);
  if ((own.kind === "command" || own.kind === "acp") && !isSettingsTrusted(settings, process.env))
    throw surroundingsError(
      `${settings.path} sets a command as the planner, and you have not trusted that command.`,
      "Review and accept it: loop trust",
    );
  return own;
}

function refuseFaulty(root: string, prd: Prd | null): void {
  const [problem] = problemsOf(prd?.stories ?? []);
  if (problem !== undefined)
    throw surroundingsError(
      `${prdPath(root)}: ${renderStoryProblem(problem)}`,
      "Fix the file; it was not changed.",
    );
}

function sayStart(specs: readonly SpecText[], io: Io): void {
  const names = specs.map(
    ({ path, left }) => `${cleanLine(path)}${left === 0 ? "" : ` (without its last ${left} characters)`}`,
  );
  io.say(`Planning from ${names.join(", ")} …`);
}

/** Without a terminal, every answer is null, so that the planner does not wait. */
async function askPerson(
  asked: readonly string[],
  isAsking: boolean,
  io: Io,
  questions: Questions,
): Promise<readonly AnsweredQuestion[] | null> {
  const answered: AnsweredQuestion[] = [];
  for (const question of asked) {
    const text = isAsking ? await questions.text(question) : "";
    if (text === null) return null;
    if (!isAsking) io.say(`The planner asks, but there is no terminal to answer in: ${question}`);
    answered.push({ question, answer: text.trim() === "" ? null : text.trim() });
  }
  return answered;
}

function refuseUnsound(there: readonly Story[], { plan, answerFile }: Done): void {
  const [problem] = problemsOf([...there, ...plan.stories]);
  if (problem !== undefined)
    throw surroundingsError(
      `The planner's answer was refused: ${renderStoryProblem(problem)}`,
      `Nothing was written. The answer is in ${answerFile}`,
    );
}

function question({ stories }: StoryPlan, before: Prd | null, { replace }: BacklogPlanFlags): string {
  const checks = stories.reduce((sum, story) => sum + story.checks.length, 0);
  const old = before?.stories.length ?? 0;
  const instead =
    old === 0
      ? ""
      : replace
        ? ` and archive the existing ${countStories(old)}`
        : ` after the existing ${countStories(old)}`;
  return `Write ${countStories(stories.length)}${instead}, and allow ${checks === 1 ? "this check" : `these ${checks} checks`} to run?`;
}

/** Decides on the current file: somebody may have changed it while the planner worked. */
function decide(there: Prd | null, plan: StoryPlan, isReplacing: boolean, answerFile: string): Replacement {
  const old = isReplacing ? [] : (there?.stories ?? []);
  const [problem] = problemsOf([...old, ...plan.stories]);
  if (problem !== undefined)
    return {
      kind: "refused",
      message: `The backlog was changed while the planner worked: ${renderStoryProblem(problem)}`,
      hint: `Nothing was written. The plan is in ${answerFile}`,
    };
  const { project, branchName, description } = plan;
  // a person's text stays
  const isSaid = ([key, value]: [string, string]) => value !== "" && (isReplacing || !there?.content[key]);
  const header = Object.fromEntries(Object.entries({ project, branchName, description }).filter(isSaid));
  const base = isReplacing || there === null ? emptyPrd(there?.project ?? plan.project) : there;
  const content: PrdContent = { ...base.content, ...header, userStories: base.content.userStories };
  const merged = withStories({ ...base, content }, [...old, ...plan.stories]);
  return { kind: "replace", content: merged, archive: isReplacing && (there?.stories.length ?? 0) > 0 };
}
