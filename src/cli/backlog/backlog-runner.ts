/** Runs one backlog in the foreground. The first Ctrl-C lets running turns finish; the second stops them (C12). */
import { createReconciler } from "../../compose/engine.ts";
import type { Backlog } from "../../core/backlog/backlog.ts";
import type { LoopId } from "../../core/loop.ts";
import type { EngineNews } from "../../engine/engine.ts";
import { requestEvent } from "../../engine/tasks/tasks.ts";
import { cleanWorktrees } from "../../git/worktrees/worktrees.ts";
import { BACKLOG_EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { type BacklogRunView, createBacklogJsonView, createBacklogLineView } from "../live/backlog-view.ts";
import type { Project } from "../project.ts";
import {
  goneError,
  hasPerson,
  type Run,
  type RunFlags,
  type RunKind,
  runForeground,
} from "../run/foreground.ts";
import type { StopRequest, StopSignal } from "../run/signals.ts";

export function runBacklog(project: Project, id: LoopId, flags: RunFlags, io: Io, stop: StopRequest) {
  const view = flags.json ? createBacklogJsonView(io) : createBacklogLineView(io);
  const parts = {
    project,
    view,
    stop,
    backlogs: true,
    // a backlog run fires no tasks
    agent: createReconciler(project.root),
    hasPerson: hasPerson(io, flags),
    notifyCmd: flags.notifyCmd,
    id,
  };
  return runForeground(parts, (run) => new BacklogRun(run, parts));
}

interface BacklogRunParts {
  readonly id: LoopId;
  readonly project: Project;
  readonly view: BacklogRunView;
}

class BacklogRun implements RunKind {
  readonly #run: Run;
  readonly #parts: BacklogRunParts;
  #isStopping = false;

  constructor(run: Run, parts: BacklogRunParts) {
    this.#run = run;
    this.#parts = parts;
  }

  observe(news: EngineNews): void {
    const { id, view } = this.#parts;
    if (news.type === "problem") view.problem(new Error(news.message));
    else if (news.type === "role" && news.role === "passive")
      view.say(`${news.lease?.owner ?? "Another process"} holds the lease; this run waits until it is free.`);
    else if (news.type === "agent" && news.loopId === id) view.agent(news.event);
    else if (news.type === "backlog" && news.backlog.id === id) view.show(news.before, news.backlog);
    const now = this.#load();
    if (now === null) this.#run.lose();
    else if (now.status !== "active" && isQuiet(now)) void this.#run.stop("the backlog is no longer active");
  }

  async interrupt(signal: StopSignal): Promise<void> {
    // the terminal is closed, so nobody can answer
    if (signal === "SIGHUP") this.#run.withdrawQuestions();
    const now = this.#load();
    if (this.#isStopping || now?.status !== "active")
      return void this.#run.stop(`stopped by a person (${signal})`);
    this.#isStopping = true;
    this.#parts.view.say("Stopping after the running turns. Press Ctrl-C again to stop now.");
    await requestEvent(this.#parts.project.store, now, { type: "backlog.stopping" }, Date.now()).catch(
      () => {},
    );
    this.#run.nudge();
  }

  async end(): Promise<number> {
    await cleanWorktrees(this.#parts.project.root, { isDryRun: false });
    const backlog = this.#load();
    if (this.#run.isGone || backlog === null || !this.#parts.project.store.isInPlace())
      throw goneError("The run");
    const status = statusWord(backlog);
    await this.#parts.view.close(backlog, status);
    return BACKLOG_EXIT[status];
  }

  #load(): Backlog | null {
    const loop = this.#parts.project.store.load(this.#parts.id);
    return loop?.kind === "backlog" ? loop : null;
  }
}

/** The status word of the JSON contract. */
function statusWord({ end, pause }: Backlog): "done" | "max_iterations" | "blocked" | "error" | "stopped" {
  if (end !== null && end.outcome !== "cancelled") return end.outcome;
  const isPersonal = pause === null || pause.code === "person" || pause.code === "interrupted";
  return isPersonal ? "stopped" : "error";
}

function isQuiet({ attempts, notice }: Backlog): boolean {
  return attempts.every(({ job }) => job === null) && notice === null;
}
