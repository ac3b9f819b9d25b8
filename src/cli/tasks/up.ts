/** `loop up`: the resident runner of a project, until it is stopped. */

import { createMissingAgent } from "../../agents/missing.ts";
import { removeEndedRuns } from "../../agents/process/ended-runs.ts";
import { chooseAgent, chooseAgentSpec } from "../../compose/agent-choice.ts";
import { createEngine, thisRunner } from "../../compose/engine.ts";
import { shortNameOf } from "../../core/agents.ts";
import type { AgentSpec } from "../../core/goal/terms.ts";
import type { LoopId, Task } from "../../core/loop.ts";
import type { Engine, EngineNews } from "../../engine/engine.ts";
import { allGoals } from "../../engine/goals/goals.ts";
import { requestEvent } from "../../engine/tasks/tasks.ts";
import { LoopError, usageError } from "../../errors.ts";
import type { Agent } from "../../ports/agent.ts";
import type { Lease } from "../../ports/store.ts";
import type { Config } from "../../schema/config.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { checkWritable } from "../../store/folder/loop-dir.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { createLine } from "../live/hold.ts";
import { createJsonView } from "../live/json-view.ts";
import { createLineView } from "../live/line-view.ts";
import { createPermissionDesk } from "../live/permission-question.ts";
import { createScreenView } from "../live/screen-view.ts";
import type { LiveView } from "../live/view.ts";
import { openProject, openProjectToWrite, type Project, type ProjectFlags } from "../project.ts";
import { createNotifier } from "../run/notifier.ts";
import { listenForStop, type StopRequest } from "../run/signals.ts";
import { liveTasks } from "./list.ts";
import { adoptEdits } from "./requests.ts";
import { durationFlag } from "./task-flags.ts";

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export interface RunnerFlags extends ProjectFlags {
  readonly agent?: string;
  readonly agentCmd?: string;
  readonly agentAcp?: string;
  readonly notifyCmd?: string;
  readonly for?: string;
  readonly json?: boolean;
}

export async function upCommand(flags: RunnerFlags, io: Io): Promise<number> {
  // first of all: reading a long journal takes a moment, and a signal in it is no crash
  const stop = listenForStop();
  checkRunnerFlags(flags);
  const reader = openProject(flags, io);
  const config = readConfig(reader);
  const agent = agentForTasks(flags, config, reader);
  const project = openProjectToWrite(flags, io);
  checkWritable(project.dir);
  return runResident(project, config, flags, io, thisRunner(), agent, stop);
}

/** Goals bring their own agent along: where there are some, tasks alone do without. */
function agentForTasks(flags: RunnerFlags, config: Config, { store }: Project): Agent | AgentSpec {
  try {
    return chooseAgent(flags, config, process.env);
  } catch (error) {
    const hasGoals = allGoals(store).some(({ status }) => status !== "ended");
    if (!hasGoals || !(error instanceof LoopError) || error.code === "usage") throw error;
    return createMissingAgent(error.message);
  }
}

/** Wrong values are refused before anything is written, also by commands that end up not running anything. */
export function checkRunnerFlags(flags: RunnerFlags): void {
  chooseAgentSpec(flags, {}, process.env);
  if (flags.for !== undefined) durationFlag("--for", flags.for);
  if (flags.notifyCmd?.trim() === "") throw usageError("--notify-cmd is empty; give a command.");
}

/**
 * The last thing that a process does. It goes on listening for signals to its very end: closing a terminal sends
 * more than one, and none may cut short what the first has begun.
 */
export async function runResident(
  project: Project,
  config: Config,
  flags: RunnerFlags,
  io: Io,
  self: Omit<Lease, "token" | "acquiredAt">,
  agent: Agent | AgentSpec,
  stop: StopRequest = listenForStop(),
): Promise<number> {
  const endAt = flags.for === undefined ? null : Date.now() + durationFlag("--for", flags.for);
  const firing = process.env.LOOP_DISABLE_SCHEDULER !== "1";
  await adoptEdits(project, config, io);
  removeEndedRuns(project.root, (id) => project.store.load(id as LoopId) !== undefined, Date.now());
  if (stop.signal.aborted) return EXIT.ok;

  const view = createView(project, flags, io);
  const inLine = createLine();
  const notifier = createNotifier(flags.notifyCmd, view);
  project.store.isInPlace();
  const engine = createEngine({
    store: project.store,
    project: project.root,
    agent,
    notifier,
    self,
    firing,
    observe,
    ...(io.interactive
      ? {
          askPerson: createPermissionDesk((question, withdrawn) =>
            inLine(() => view.askPermission(question, withdrawn)),
          ),
        }
      : {}),
  });
  const asked = new Set<string>();
  let asking = false;

  function observe(news: EngineNews): void {
    view.show(news);
    if (news.type === "outcomes" || news.type === "role") void askAboutMissed().catch(view.problem);
  }

  /** A10: a person is here, so a missed one-shot is a question and not only a line in the list. */
  async function askAboutMissed(): Promise<void> {
    if (!io.interactive || asking || engine.role !== "owner") return;
    asking = true;
    try {
      for (let task = nextMissed(); task !== undefined; task = nextMissed()) {
        asked.add(task.id);
        await askAbout(task);
      }
    } finally {
      asking = false;
    }
  }

  function nextMissed(): Task | undefined {
    return liveTasks(project.store).find((task) => task.status === "missed" && !asked.has(task.id));
  }

  async function askAbout(task: Task): Promise<void> {
    const message = `Task ${task.id} was due while nothing ran. Run it now?`;
    const yes = await inLine(() => view.ask(message, task.prompt));
    if (yes === null) return;
    const event = yes
      ? ({ type: "task.run-requested" } as const)
      : ({ type: "task.deleted", reason: "missed, and not wanted any more" } as const);
    await requestEvent(project.store, task, event, Date.now());
    engine.nudge();
  }

  // One after the other: an edit that is being taken must not be taken a second time.
  let adopting = Promise.resolve();
  let isGone = false;
  const unwatch = project.store.watch(() => {
    if (!project.store.isInPlace()) {
      if (!isGone) leaveGoneFolder();
      return;
    }
    adopting = adopting.then(() => adoptEdits(project, config, io)).catch(view.problem);
  });
  view.open({ agent: "kind" in agent ? shortNameOf(agent) : agent.name, firing, endAt });
  engine.start();
  stopOnSignal(stop.signal, engine, view);
  const cancelEnd = stopAt(endAt, engine);
  await engine.done;
  cancelEnd();
  unwatch();
  await adopting;
  view.close();
  return isGone ? EXIT.failure : EXIT.ok;

  /** `rm -rf .loop`, `git clean -fdx`, a moved project: a runner without its tasks must not look as if it ran. */
  function leaveGoneFolder(): void {
    isGone = true;
    const body = `${project.dir} was removed or moved away, and its tasks with it. This runner ends.`;
    view.problem(new Error(body));
    notifier.notify("Loopwright stopped", body);
    void engine.stop("the folder .loop was removed or moved away");
  }
}

function createView(project: Project, flags: RunnerFlags, io: Io): LiveView {
  if (flags.json) return createJsonView(io);
  const canRedraw = process.stdout.isTTY && process.env.TERM !== "dumb";
  return canRedraw ? createScreenView(project, io) : createLineView(project, io);
}

function stopOnSignal(stop: AbortSignal, engine: Engine, view: LiveView): void {
  const end = () => {
    view.stopping(String(stop.reason));
    void engine.stop(`the runner was stopped (${stop.reason})`);
  };
  if (stop.aborted) end();
  else stop.addEventListener("abort", end, { once: true });
}

/** Returns what to call when the engine has stopped by another way. */
function stopAt(endAt: number | null, engine: Engine): () => void {
  let timer: NodeJS.Timeout | null = null;
  // Node's timers end at 24.8 days, and a longer one fires at once
  const wait = (at: number) => {
    const left = at - Date.now();
    if (left <= 0) void engine.stop("the runner's time was over (--for)");
    else timer = setTimeout(wait, Math.min(left, MAX_TIMEOUT_MS), at);
  };
  if (endAt !== null) wait(endAt);
  return () => {
    if (timer !== null) clearTimeout(timer);
  };
}
