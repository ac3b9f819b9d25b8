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
import { orNull, readSmall } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import { stopBacklog } from "../backlog/stop-backlog.ts";
import { confirmInTerminal } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { type LimitFlags, raiseFrom } from "../flags/limits.ts";
import { commandFlag } from "../flags/values.ts";
import { commandNameIn, hostSession } from "../hosts/host-session.ts";
import { answer, type Io } from "../io.ts";
import { openProjectToChange, openProjectToRead, type Project, type ProjectFlags } from "../project.ts";
import type { RunFlags } from "../run/foreground.ts";
import { needPerson } from "../run/person.ts";
import { listenForStop } from "../run/signals.ts";
import { settleOrphan } from "../tasks/settle-fire.ts";
import { runGoal } from "./goal-runner.ts";

export interface GoalFlags extends ProjectFlags, RunFlags {
  readonly yes?: boolean;
}

export async function statusCommand(id: string | undefined, flags: GoalFlags, io: Io): Promise<number> {
  const { store } = openProjectToRead(flags, io);
  const run = id === undefined ? openBacklog(store) : null;
  if (run !== null && !flags.json) io.out(cleanText(renderRun(run)));
  const backlog = run === null ? {} : { backlog: viewRun(run) };
  if (id === undefined && allGoals(store).length === 0) {
    if (flags.json) io.json(run === null ? null : backlog);
    else if (run === null)
      io.out('There is no goal loop here. Start one with: loop until "npm test passes" <what to do>');
    return EXIT.ok;
  }
  const goal = findGoal(store, id, "any");
  const owner = liveOwner(store, Date.now())?.owner ?? null;
  answer(flags, io, { ...viewGoal(goal), owner, ...backlog }, renderGoalStatus(goal, Date.now()));
  if (!flags.json && goal.gate === null && owner === null) sayUnrun(goal, io);
  return EXIT.ok;
}

function viewRun(backlog: Backlog): object {
  return { ...viewBacklog(backlog), working: backlog.attempts.map(({ story }) => story) };
}

function sayUnrun({ id, status }: Goal, io: Io): void {
  if (status === "active") io.say(`Nothing runs this goal now. Continue it with: loop continue ${id}`);
}

export async function reportCommand(
  id: string | undefined,
  flags: GoalFlags & { readonly output?: boolean },
  io: Io,
): Promise<number> {
  const goal = findGoal(openProjectToRead(flags, io).store, id, "any");
  return answer(flags, io, viewGoal(goal), renderReportMarkdown(goal, flags).trimEnd());
}

export async function pauseGoal(project: Project, goal: Goal, flags: GoalFlags, io: Io): Promise<void> {
  const event = { type: "goal.paused", code: "person", reason: "paused by a person" } as const;
  const paused = await requestGoal(project.store, goal, event, Date.now());
  await settleIfOrphaned(project, paused, io);
  await project.store.published?.publish();
  const text = `Paused goal ${goal.id}. Continue it with: loop continue ${goal.id}`;
  answer(flags, io, viewGoal(goalNow(project, paused)), text);
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
  needPerson(store, "continue this loop", io);
  const session = hostSession(process.env);
  refuseElsewhere(project, goal, session);
  const event = { type: "goal.continued", raise, retryNow: flags.now ?? false, session } as const;
  await requestGoal(store, goal, event, Date.now());
  await store.published?.publish();
  if (flags.detach) return answer(flags, io, viewGoal(goalNow(project, goal)), whereItGoesOn(project, goal));
  return runGoal(project, goal, flags, io, stop);
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

/** Ends the backlog or the goal at once. Without the state of the goal, its checkpoints go too. */
export async function cancelCommand(id: string | undefined, flags: CancelFlags, io: Io): Promise<number> {
  const stopped = await stopBacklog("cancel", id, flags, io);
  if (stopped !== null) return stopped;
  const { project, goal } = openGoal(id, flags, io);
  const event = { type: "goal.cancelled", reason: "cancelled by a person" } as const;
  const cancelled = await requestGoal(project.store, goal, event, Date.now());
  await settleIfOrphaned(project, cancelled, io);
  await project.store.published?.publish();
  const isKept = await wantsToKeep(flags, io);
  if (!isKept) await removeState(project, goal);
  const text = isKept
    ? `Cancelled goal ${goal.id}. Its state stays in .loop/runs/${goal.id}/. See it with: loop report ${goal.id}`
    : `Cancelled goal ${goal.id} and deleted its state. The project files were not changed.`;
  return answer(flags, io, { ...viewGoal(goalNow(project, goal)), kept: isKept }, text);
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
  word: "approve" | "reject",
  args: readonly string[],
  flags: GoalFlags,
  io: Io,
): Promise<number> {
  const { store } = openProjectToChange(flags, io);
  const { id, note } = readAnswer(args, allGoals(store));
  const goal = findGoal(store, id);
  needPerson(store, word, io);
  if (goal.gate === null)
    throw usageError(`Goal ${goal.id} has no open question.`, `See: loop status ${goal.id}`);
  const { kind: gate, question } = goal.gate;
  const event = { type: "goal.answered", gate, answer: word, note: note === "" ? null : note } as const;
  const answered = await requestGoal(store, goal, event, Date.now());
  await store.published?.publish();
  const text = `${word === "approve" ? "Approved" : "Rejected"}: ${cleanLine(question)}`;
  answer(flags, io, viewGoal(answered), text);
  const isHere = hostSession(process.env) !== null;
  if (!flags.json && !isHere && liveOwner(store, Date.now()) === null) sayUnrun(answered, io);
  return EXIT.ok;
}

/** The first word may be an id. Letters alone are an id only if such a goal exists: "add a test" is a note. */
function readAnswer(args: readonly string[], goals: readonly Goal[]) {
  const [first = "", ...rest] = args;
  const isKnown = goals.some(({ id }) => id.startsWith(first.toLowerCase()));
  const isWord = /^[a-f]+$/i.test(first) && !(isKnown && (rest.length === 0 || first.length > 2));
  const isId = /^[0-9a-f]{1,8}$/i.test(first) && !isWord;
  return isId ? { id: first, note: rest.join(" ").trim() } : { id: undefined, note: args.join(" ").trim() };
}

/** Finds the goal before anything is written: wrong input creates no `.loop`. */
export function openGoal(id: string | undefined, flags: ProjectFlags, io: Io) {
  const project = openProjectToChange(flags, io);
  return { project, goal: findGoal(project.store, id) };
}

/** Stops the turn here when no runner is there to do it. */
export async function settleIfOrphaned(project: Project, goal: Goal, io: Io): Promise<void> {
  // only an open conversation itself can end its turn
  if (goal.session !== null && !project.store.sessions.isOver(goal.session)) return;
  if (goal.job !== null && liveOwner(project.store, Date.now()) === null)
    await settleOrphan(project, goal, io);
}

export function goalNow({ store }: Project, goal: Goal): Goal {
  const loop = store.load(goal.id);
  return loop?.kind === "goal" ? loop : goal;
}
