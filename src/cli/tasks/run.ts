/** `loop run <id>`: fires a task now. The runner takes it; without a runner, a terminal runs it and waits. */
import { chooseAgent } from "../../compose/agent-choice.ts";
import type { Outcome } from "../../core/event.ts";
import type { AgentSpec } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import { cleanText } from "../../core/text/clean.ts";
import { viewTask } from "../../core/views/task-view.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { findTask, requestEvent } from "../../engine/tasks/tasks.ts";
import type { Lease } from "../../ports/store.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io } from "../io.ts";
import { leftOutText, writeInBackground } from "../live/outlet.ts";
import { createPlainView } from "../live/view.ts";
import type { Project } from "../project.ts";
import { oneLine } from "../render/table.ts";
import { renderHistory } from "../render/tasks.ts";
import { isFiring } from "../run/firing.ts";
import { hasPerson, runForeground } from "../run/foreground.ts";
import { listenForStop, type StopRequest } from "../run/signals.ts";
import { renderRunner } from "./create.ts";
import { openWithEdits } from "./requests.ts";
import { onlyLoop } from "./settle-fire.ts";
import { checkRunnerFlags, type RunnerFlags } from "./up.ts";

export async function runTaskCommand(
  prefix: string,
  flags: RunnerFlags & { detach?: boolean },
  io: Io,
): Promise<number> {
  // first, see `loop up`
  const stop = listenForStop();
  checkRunnerFlags(flags);
  const project = await openWithEdits(flags, io);
  const task = findTask(project.store, prefix);
  const owner = liveOwner(project.store, Date.now());
  const here = owner === null && io.interactive && !flags.detach && !flags.json && isFiring(process.env);
  if (stop.signal.aborted) return EXIT.interrupted;
  // A missing agent is reported before the request is written.
  const agent = here ? chooseAgent(flags, readConfig(project), process.env) : null;
  const requested = await requestEvent(project.store, task, { type: "task.run-requested" }, Date.now());
  await project.store.published?.publish();
  if (agent === null) {
    const text =
      owner === null ? `${task.id} will fire when a runner starts.` : `${owner.owner} fires ${task.id} now.`;
    answer(flags, io, { ...viewTask(requested), owner: owner?.owner ?? null }, oneLine(text));
    if (owner === null) io.say(renderRunner(owner, isFiring(process.env)));
    return EXIT.ok;
  }
  writeInBackground(io, leftOutText);
  io.say(`Running ${task.id} here. Ctrl-C stops it.`);
  return runOnce(project, task.id, agent, stop, io);
}

function runOnce(project: Project, id: LoopId, agent: AgentSpec, stop: StopRequest, io: Io): Promise<number> {
  let result: Outcome | null = null;
  let handedTo: Lease | null = null;
  const store = onlyLoop(project.store, id, () => result === null);
  const view = createPlainView(io);
  return runForeground({ project, store, agent, stop, view, hasPerson: hasPerson(io, {}) }, (run) => ({
    observe: (news) => {
      if (news.type === "problem") view.problem(news.message);
      if (news.type === "answer" && news.loop.id === id) io.out(cleanText(news.text).trimEnd());
      // another runner took the lease, and with it the request
      if (news.type === "role" && news.role === "passive") {
        handedTo = news.lease;
        void run.stop("another runner has the lease");
      }
      if (news.type !== "outcomes") return;
      // A fire that was already waiting (the initial one) counts as the requested one.
      result = news.outcomes.find(({ outcome }) => outcome !== "missed" && outcome !== "skipped") ?? result;
      if (result !== null) void run.stop("the run was over");
    },
    end: () => {
      if (handedTo !== null) io.say(renderRunner(handedTo, true));
      if (result === null) return handedTo === null ? EXIT.interrupted : EXIT.ok;
      io.out(renderHistory([result], Date.now(), io, Number.POSITIVE_INFINITY));
      return result.outcome === "ok" ? EXIT.ok : EXIT.failure;
    },
  }));
}
