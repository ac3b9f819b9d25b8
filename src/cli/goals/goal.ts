/** Commands on an existing goal: status, report, pause, continue, cancel, approve and reject. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Backlog } from "../../core/backlog/backlog.ts";
import { renderRun } from "../../core/backlog/report.ts";
import type { Goal } from "../../core/goal/goal.ts";
import { cleanLine, cleanText } from "../../core/text/clean.ts";
import { renderReportMarkdown } from "../../core/text/goal/goal-report.ts";
import { renderGoalStatus } from "../../core/text/goal/status.ts";
import { viewBacklog } from "../../core/views/backlog-view.ts";
import { viewGoal } from "../../core/views/goal-view.ts";
import { openBacklog } from "../../engine/backlogs/backlogs.ts";
import { allGoals, findGoal, requestGoal } from "../../engine/goals/goals.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { usageError } from "../../errors.ts";
import { createCheckpoints } from "../../git/checkpoints/checkpoints.ts";
import { refuseForeign } from "../../store/folder/origin.ts";
import { orNull, readSmall } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import { confirmInTerminal } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { type LimitFlags, raiseFrom } from "../flags/limits.ts";
import { commandFlag } from "../flags/values.ts";
import { commandNameIn, hostSession } from "../hosts/host-session.ts";
import type { Io } from "../io.ts";
import { openProject, openProjectToRead, type Project, type ProjectFlags } from "../project.ts";
import { refuseAgent } from "../run/person.ts";
import { listenForStop } from "../run/signals.ts";
import { settleOrphan } from "../tasks/settle-fire.ts";
import { type GoalRunFlags, runGoal } from "./goal-runner.ts";

export interface GoalFlags extends ProjectFlags, GoalRunFlags {
  readonly yes?: boolean;
}

export async function statusCommand(id: string | undefined, flags: GoalFlags, io: Io): Promise<number> {
  const { store } = openProjectToRead(flags, io);
  const run = id === undefined ? openBacklog(store) : null;
  if (run !== null && !flags.json) io.out(cleanText(renderRun(run)));
  if (id === undefined && allGoals(store).length === 0) {
    if (flags.json) io.json(run === null ? null : { backlog: viewRun(run) });
    else if (run === null)
      io.out('There is no goal loop here. Start one with: loop until "npm test passes" <what to do>');
    return EXIT.ok;
  }
  const goal = findGoal(store, id, "any");
  if (flags.json) {
    const owner = liveOwner(store, Date.now())?.owner ?? null;
    io.json({ ...viewGoal(goal), owner, ...(run === null ? {} : { backlog: viewRun(run) }) });
    return EXIT.ok;
  }
  io.out(renderGoalStatus(goal, Date.now()));
  if (goal.status === "active" && goal.gate === null && liveOwner(store, Date.now()) === null)
    io.say(`Nothing runs this goal now. Continue it with: loop continue ${goal.id}`);
  return EXIT.ok;
}

function viewRun(backlog: Backlog): object {
  return { ...viewBacklog(backlog), working: backlog.attempts.map(({ story }) => story) };
}

export async function reportCommand(id: string | undefined, flags: GoalFlags, io: Io): Promise<number> {
  const goal = findGoal(openProjectToRead(flags, io).store, id, "any");
  if (flags.json) io.json(viewGoal(goal));
  else io.out(renderReportMarkdown(goal).trimEnd());
  return EXIT.ok;
}

export async function pauseGoal(project: Project, goal: Goal, flags: GoalFlags, io: Io): Promise<void> {
  const event = { type: "goal.paused", code: "person", reason: "paused by a person" } as const;
  const paused = await requestGoal(project.store, goal, event, Date.now());
  await settleIfOrphaned(project, paused, io);
  await project.store.published?.publish();
  const now = load(project, paused);
  if (flags.json) io.json(viewGoal(now));
  else io.out(`Paused goal ${goal.id}. Continue it with: loop continue ${goal.id}`);
}

export async function continueCommand(
  id: string | undefined,
  flags: GoalFlags & LimitFlags & { readonly now?: boolean; readonly detach?: boolean },
  io: Io,
): Promise<number> {
  const stop = listenForStop();
  commandFlag("--notify-cmd", flags.notifyCmd);
  const raise = raiseFrom(flags);
  const { project, goal } = openGoal(id, flags, io);
  const { store } = project;
  refuseAgent(goal, "continue this loop");
  const session = hostSession(process.env);
  refuseElsewhere(project, goal, session);
  const event = { type: "goal.continued", raise, retryNow: flags.now ?? false, session } as const;
  await requestGoal(store, goal, event, Date.now());
  await store.published?.publish();
  if (flags.detach) {
    if (flags.json) io.json(viewGoal(load(project, goal)));
    else io.out(whereItGoesOn(project, goal));
    return EXIT.ok;
  }
  return runGoal(project, goal.id, flags, io, stop);
}

/** `continue` moves a goal to this place, but not out of a conversation that is still open. */
function refuseElsewhere({ store }: Project, goal: Goal, session: string | null): void {
  if (goal.session === null || goal.session === session || store.sessions.isOver(goal.session)) return;
  throw usageError(
    `Goal ${goal.id} belongs to a conversation that is still open.`,
    `Continue it there (${commandNameIn(process.env)} continue), or close that conversation first.`,
  );
}

function whereItGoesOn({ store }: Project, { id }: Goal): string {
  if (hostSession(process.env) !== null) return `Goal ${id} continues in this conversation.`;
  const owner = liveOwner(store, Date.now());
  return owner === null
    ? `Goal ${id} continues when a runner starts: loop continue ${id}, or: loop up`
    : `${owner.owner} continues goal ${id}.`;
}

type CancelFlags = GoalFlags & { readonly keep?: boolean };

/** Ends the goal at once. Without its state, its checkpoints go too. */
export async function cancelCommand(id: string | undefined, flags: CancelFlags, io: Io): Promise<number> {
  const { project, goal } = openGoal(id, flags, io);
  const event = { type: "goal.cancelled", reason: "cancelled by a person" } as const;
  const cancelled = await requestGoal(project.store, goal, event, Date.now());
  await settleIfOrphaned(project, cancelled, io);
  await project.store.published?.publish();
  const isKept = await wantsToKeep(flags, io);
  if (!isKept) await removeState(project, goal);
  if (flags.json) io.json({ ...viewGoal(load(project, goal)), kept: isKept });
  else
    io.out(
      isKept
        ? `Cancelled goal ${goal.id}. Its state stays in .loop/runs/${goal.id}/. See it with: loop report ${goal.id}`
        : `Cancelled goal ${goal.id} and deleted its state. The project files were not changed.`,
    );
  return EXIT.ok;
}

async function wantsToKeep(flags: CancelFlags, io: Io): Promise<boolean> {
  if (flags.keep !== undefined) return flags.keep;
  if (!io.interactive || flags.json || flags.yes) return true;
  return confirmInTerminal("Keep the state and the checkpoints of this goal?", true);
}

async function removeState({ root, dir }: Project, { id }: Goal): Promise<void> {
  const run = join(dir, "runs", id);
  if (isInside(root, run)) rmSync(run, { recursive: true, force: true });
  const state = join(dir, "state.json");
  // state.json may belong to a newer goal
  if (idIn(state) === id) rmSync(state, { force: true });
  await createCheckpoints(root).remove(id);
}

function idIn(state: string): unknown {
  return orNull(() => (JSON.parse(readSmall(state) ?? "null") as { id?: unknown } | null)?.id);
}

export async function answerCommand(
  answer: "approve" | "reject",
  args: readonly string[],
  flags: GoalFlags,
  io: Io,
): Promise<number> {
  const { store } = openForChange(flags, io);
  const { id, note } = readAnswer(args, allGoals(store));
  const goal = findGoal(store, id);
  refuseAgent(goal, answer);
  if (goal.gate === null)
    throw usageError(`Goal ${goal.id} has no open question.`, `See: loop status ${goal.id}`);
  const event = {
    type: "goal.answered",
    gate: goal.gate.kind,
    answer,
    note: note === "" ? null : note,
  } as const;
  const answered = await requestGoal(store, goal, event, Date.now());
  await store.published?.publish();
  if (flags.json) io.json(viewGoal(answered));
  else io.out(`${answer === "approve" ? "Approved" : "Rejected"}: ${cleanLine(goal.gate.question)}`);
  const isHere = hostSession(process.env) !== null;
  if (!flags.json && !isHere && answered.status === "active" && liveOwner(store, Date.now()) === null)
    io.say(`Nothing runs this goal now. Continue it with: loop continue ${goal.id}`);
  return EXIT.ok;
}

/** The first word may be an id. Letters alone are an id only if such a goal exists: "add a test" is a note. */
function readAnswer(
  args: readonly string[],
  goals: readonly Goal[],
): { readonly id: string | undefined; readonly note: string } {
  const [first = "", ...rest] = args;
  const isKnown = goals.some(({ id }) => id.startsWith(first.toLowerCase()));
  const isWord = /^[a-f]+$/i.test(first) && !(isKnown && (rest.length === 0 || first.length > 2));
  const isId = /^[0-9a-f]{1,8}$/i.test(first) && !isWord;
  return isId ? { id: first, note: rest.join(" ").trim() } : { id: undefined, note: args.join(" ").trim() };
}

/** Finds the goal before anything is written: wrong input creates no `.loop`. */
export function openGoal(
  id: string | undefined,
  flags: ProjectFlags,
  io: Io,
): { readonly project: Project; readonly goal: Goal } {
  const project = openForChange(flags, io);
  return { project, goal: findGoal(project.store, id) };
}

export function openForChange(flags: ProjectFlags, io: Io): Project {
  const project = openProject(flags, io);
  refuseForeign(project.dir);
  return project;
}

/** Stops the turn here when no runner is there to do it. */
async function settleIfOrphaned(project: Project, goal: Goal, io: Io): Promise<void> {
  // only an open conversation itself can end its turn
  if (goal.session !== null && !project.store.sessions.isOver(goal.session)) return;
  if (goal.job !== null && liveOwner(project.store, Date.now()) === null)
    await settleOrphan(project, goal, io);
}

function load({ store }: Project, goal: Goal): Goal {
  const loop = store.load(goal.id);
  return loop?.kind === "goal" ? loop : goal;
}
