/** The output of a backlog run: lines for people, or one JSON object per line. */
import type { Backlog, StoryReceipt } from "../../core/backlog/backlog.ts";
import {
  renderBlocked,
  renderCounts,
  renderIterationStart,
  renderLoopComplete,
  renderPassed,
  renderRejected,
} from "../../core/backlog/report.ts";
import { countsOfStories, statusOf } from "../../core/backlog/stories.ts";
import type { Spent } from "../../core/goal/goal.ts";
import { cleanLine } from "../../core/text/clean.ts";
import { reasonOf } from "../../errors.ts";
import type { AgentEvent } from "../../ports/agent.ts";
import type { Io } from "../io.ts";
import { renderAgentEvent } from "./goal-lines.ts";
import { createAsker } from "./hold.ts";
import { leftOutText, writeInBackground } from "./outlet.ts";
import { askPermission } from "./question.ts";
import type { RunView } from "./view.ts";

export interface BacklogRunView extends RunView {
  show(before: Backlog, now: Backlog): void;
  agent(event: AgentEvent): void;
  say(text: string): void;
  /** Called last. `status`: why the run ended. */
  close(backlog: Backlog, status: string): Promise<void>;
}

export function createBacklogLineView(io: Io): BacklogRunView {
  const finish = writeInBackground(io, leftOutText);
  const ask = createAsker(io);
  return {
    show: (before, now) => {
      for (const { story, iteration } of begunSince(before, now))
        io.out(`\n${renderIterationStart(iteration, now.terms.maxIterations, story)}`);
      for (const receipt of now.receipts.slice(before.receipts.length)) showReceipt(now, receipt, io);
      if (hasWaitBegun(before, now))
        io.say(
          `⚠ Waiting until ${new Date(now.waitUntil).toISOString()}: ${cleanLine(now.waitReason ?? "")}`,
        );
    },
    agent: (event) => {
      const line = renderAgentEvent(event, io);
      if (line !== null) io.say(line);
    },
    // the screen already shows what a notice says
    notify: () => {},
    problem: (error) => sayProblem(error, io),
    say: io.say,
    askPermission: (question, withdrawn) => ask(() => askPermission(question, withdrawn)),
    close: async ({ iteration, stories, pause, end }) => {
      await finish();
      io.out(`\n${renderLoopComplete(iteration, stories)}`);
      if (pause !== null) io.say(`⏸ Paused: ${pause.reason.replace(/\.$/, "")}. Go on with: ${pause.goOn}`);
      else if (end !== null && end.outcome !== "done") io.say(cleanLine(end.reason));
    },
  };
}

export function createBacklogJsonView(io: Io): BacklogRunView {
  const finish = writeInBackground(io, (lines) => JSON.stringify({ type: "left-out", lines }));
  return {
    show: (before, now) => {
      for (const { story, iteration } of begunSince(before, now))
        io.json({ type: "iteration", n: iteration, story: story.id });
      for (const { story, job } of now.attempts) {
        const known = before.attempts.find((each) => each.story === story);
        if (job !== null && known?.job?.phase !== job.phase)
          io.json({ type: "phase", story, phase: job.phase });
      }
      for (const receipt of now.receipts.slice(before.receipts.length)) io.json(viewReceipt(receipt));
      if (hasWaitBegun(before, now))
        io.json({ type: "wait", until: new Date(now.waitUntil).toISOString(), reason: now.waitReason });
    },
    agent: (event) => io.json({ type: "agent", event }),
    notify: (title, body) => io.json({ type: "notify", title, body }),
    problem: (error) => sayProblem(error, io),
    say: io.say,
    askPermission: async () => null,
    close: async (backlog, status) => {
      await finish();
      const { passed, total } = countsOfStories(backlog.stories);
      const blocked = backlog.stories.filter((story) => statusOf(story) === "blocked").map(({ id }) => id);
      io.json({
        type: "backlog.end",
        loop: backlog.id,
        status,
        passed,
        total,
        blocked,
        iterations: backlog.iteration,
        ...costOf(backlog.spent),
        reason: backlog.end?.reason ?? backlog.pause?.reason ?? null,
      });
    },
  };
}

function begunSince(before: Backlog, now: Backlog) {
  return now.attempts.flatMap((attempt) => {
    const story = now.stories.find(({ id }) => id === attempt.story);
    const isKnown = before.attempts.some((each) => each.story === attempt.story);
    return story === undefined || isKnown ? [] : [{ story, iteration: attempt.iteration }];
  });
}

function hasWaitBegun(before: Backlog, now: Backlog): now is Backlog & { readonly waitUntil: number } {
  return now.waitUntil !== null && before.waitUntil === null;
}

function showReceipt(now: Backlog, receipt: StoryReceipt, io: Io): void {
  const story = now.stories.find((each) => each.id === receipt.story);
  if (story === undefined) return;
  const reason = receipt.reason ?? "";
  if (receipt.outcome === "passed") io.out(renderPassed(story));
  else if (receipt.outcome === "rejected") io.out(renderRejected(story, reason));
  else io.say(`⚠ ${story.id} ${receipt.outcome}: ${cleanLine(reason)}`);
  if (receipt.outcome === "rejected" && statusOf(story) === "blocked") io.out(renderBlocked(story));
  io.out(renderCounts(now.stories));
}

function viewReceipt({ story, iteration, outcome, reason, spent, takenBy, foundBy }: StoryReceipt): object {
  return {
    type: "story",
    story,
    iteration,
    outcome,
    reason,
    ...costOf(spent),
    ...(takenBy === undefined ? {} : { takenBy }),
    ...(foundBy === undefined ? {} : { foundBy }),
  };
}

function costOf({ costUsd, estimatedUsd }: Spent): object {
  return { costUsd, ...(estimatedUsd === undefined ? {} : { estimatedUsd }) };
}

function sayProblem(error: unknown, io: Io): void {
  io.say(`loop: ${cleanLine(reasonOf(error))}`);
}
