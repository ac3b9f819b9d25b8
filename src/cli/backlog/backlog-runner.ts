/**
 * Runs one backlog in the foreground until it stands still. Ctrl-C once: it ends after what is under way; twice: now,
 * and what was under way is begun again by `--resume` (C12).
 */
import { createEngine, createReconciler, thisRunner } from "../../compose/engine.ts";
import type { Backlog, StoryReceipt } from "../../core/backlog/backlog.ts";
import {
  renderBlocked,
  renderCounts,
  renderIterationStart,
  renderLoopComplete,
  renderPassed,
  renderRejected,
} from "../../core/backlog/report.ts";
import { progressOf, statusOf } from "../../core/backlog/stories.ts";
import type { Spent } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { requestBacklog } from "../../engine/backlogs/backlogs.ts";
import type { EngineNews } from "../../engine/engine.ts";
import { LoopError } from "../../errors.ts";
import { cleanWorktrees } from "../../git/worktrees/worktrees.ts";
import { BACKLOG_EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { renderAgentEvent } from "../live/goal-lines.ts";
import { createAsker } from "../live/hold.ts";
import { createPermissionDesk } from "../live/permission-question.ts";
import { askPermission } from "../live/question.ts";
import type { Project } from "../project.ts";
import { onStopSignals, type StopRequest } from "../run/signals.ts";

export interface BacklogRunnerFlags {
  readonly json?: boolean;
}

export async function runBacklog(
  { store, root }: Project,
  id: LoopId,
  flags: BacklogRunnerFlags,
  io: Io,
  stop: StopRequest,
): Promise<number> {
  let isNow = false;
  let isGone = false;
  const ask = createAsker(io);
  const hangUp = new AbortController();
  const engine = createEngine({
    ...{ store, project: root, self: thisRunner(), backlogs: true },
    firing: process.env.LOOP_DISABLE_SCHEDULER !== "1",
    // no task is fired by a run of a backlog: it is there for the stories
    agent: createReconciler(root),
    notifier: { notify: () => {} },
    ...(io.interactive && !flags.json
      ? {
          askPerson: createPermissionDesk((question, signal) =>
            ask(() => askPermission(question, AbortSignal.any([signal, hangUp.signal]))),
          ),
        }
      : {}),
    observe,
  });

  function observe(news: EngineNews): void {
    if (news.type === "problem") io.say(`loop: ${cleanLine(news.message)}`);
    if (news.type === "role" && news.role === "passive") {
      io.say(`${news.lease?.owner ?? "Another process"} holds the lease; this run waits for it.`);
    }
    if (news.type === "agent" && news.loopId === id) {
      const line = renderAgentEvent(news.event, io);
      if (flags.json) io.json({ type: "agent", event: news.event });
      else if (line !== null) io.say(line);
    }
    if (news.type === "backlog" && news.backlog.id === id) tell(news.before, news.backlog);
    const now = current();
    // what was removed, or moved away with its project, is not ours to put in its place again
    isGone ||= now === null || !store.isInPlace();
    if (isGone) void engine.stop("the folder .loop was removed or moved away");
    if (now !== null && now.status !== "active" && isQuiet(now)) void engine.stop("the backlog stands still");
  }

  function tell(before: Backlog, now: Backlog): void {
    for (const attempt of now.attempts) {
      const known = before.attempts.find(({ story }) => story === attempt.story);
      const story = now.stories.find((each) => each.id === attempt.story);
      if (known === undefined && story !== undefined) {
        if (flags.json) io.json({ type: "iteration", n: attempt.iteration, story: story.id });
        else io.out(`\n${renderIterationStart(attempt.iteration, now.terms.maxIterations, story)}`);
      }
      if (known?.job?.phase !== attempt.job?.phase && attempt.job !== null && flags.json)
        io.json({ type: "phase", story: attempt.story, phase: attempt.job.phase });
    }
    for (const receipt of now.receipts.slice(before.receipts.length)) tellReceipt(now, receipt);
    if (now.waitUntil !== null && before.waitUntil === null) {
      if (flags.json)
        io.json({ type: "wait", until: new Date(now.waitUntil).toISOString(), reason: now.waitReason });
      else
        io.say(`⚠ waits until ${new Date(now.waitUntil).toISOString()}: ${cleanLine(now.waitReason ?? "")}`);
    }
  }

  function tellReceipt(now: Backlog, receipt: StoryReceipt): void {
    const story = now.stories.find((each) => each.id === receipt.story);
    if (flags.json) {
      const { story: id, iteration, outcome, reason, spent, takenBy } = receipt;
      io.json({
        ...{ type: "story", story: id, iteration, outcome, reason, ...costOf(spent) },
        ...(takenBy === undefined ? {} : { takenBy }),
      });
      return;
    }
    if (story === undefined) return;
    if (receipt.outcome === "passed") io.out(renderPassed(story));
    else if (receipt.outcome === "rejected") io.out(renderRejected(story, receipt.reason ?? ""));
    else io.say(`⚠ ${story.id} ${receipt.outcome}: ${cleanLine(receipt.reason ?? "")}`);
    if (receipt.outcome === "rejected" && statusOf(story) === "blocked") io.out(renderBlocked(story));
    io.out(renderCounts(now.stories));
  }

  function current(): Backlog | null {
    const loop = store.load(id);
    return loop?.kind === "backlog" ? loop : null;
  }

  async function onSignal(signal: string): Promise<void> {
    // nobody is left who could answer, and what is under way would wait for it
    if (signal === "SIGHUP") hangUp.abort();
    const now = current();
    if (isNow || now === null || now.status !== "active")
      return void engine.stop(`stopped by a person (${signal})`);
    isNow = true;
    if (!flags.json) io.say("Ends after what is under way. Ctrl-C once more ends it now.");
    await requestBacklog(store, now, { type: "backlog.stopping" }, Date.now()).catch(() => {});
    engine.nudge();
  }

  const off = onStopSignals((signal) => void onSignal(signal));
  engine.start();
  if (stop.signal.aborted) void onSignal(String(stop.signal.reason));
  await engine.done;
  off();
  // what is merged holds nothing that could be lost
  await cleanWorktrees(root, { isDryRun: false, keepMerged: 0 });
  const backlog = current();
  if (isGone || backlog === null || !store.isInPlace())
    throw new LoopError("surroundings", "The run is gone: .loop was removed or moved away.");
  return finish(backlog, flags, io);
}

/** What of it is by a price table is said beside it. */
function costOf({ costUsd, estimatedUsd }: Spent): object {
  return { costUsd, ...(estimatedUsd === undefined ? {} : { estimatedUsd }) };
}

function finish(backlog: Backlog, flags: BacklogRunnerFlags, io: Io): number {
  const { passed, total } = progressOf(backlog.stories);
  const blocked = backlog.stories.filter((story) => statusOf(story) === "blocked").map(({ id }) => id);
  const status = statusWord(backlog);
  if (flags.json) {
    io.json({
      ...{ type: "backlog.end", loop: backlog.id, status, passed, total, blocked },
      ...{ iterations: backlog.iteration, ...costOf(backlog.spent) },
      reason: backlog.end?.reason ?? backlog.pause?.reason ?? null,
    });
  } else {
    io.out(`\n${renderLoopComplete(backlog.iteration, backlog.stories)}`);
    if (backlog.pause !== null)
      io.say(`⏸ Paused: ${backlog.pause.reason.replace(/\.$/, "")}. Go on with: ${backlog.pause.goOn}`);
    else if (backlog.end !== null && backlog.end.outcome !== "done") io.say(cleanLine(backlog.end.reason));
  }
  return BACKLOG_EXIT[status];
}

/** The contract's four words. */
function statusWord({ end, pause }: Backlog): "done" | "max_iterations" | "blocked" | "error" | "stopped" {
  if (end !== null && end.outcome !== "cancelled") return end.outcome;
  const isPersonal = pause === null || pause.code === "person" || pause.code === "interrupted";
  return isPersonal ? "stopped" : "error";
}

function isQuiet({ attempts, notice }: Backlog): boolean {
  return attempts.every(({ job }) => job === null) && notice === null;
}
