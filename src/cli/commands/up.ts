/** `loop up`: the resident runner of a project, until it is stopped. */
import { spawn } from "node:child_process";
import { chooseAgent, createEngine, thisRunner } from "../../compose.ts";
import type { Engine, EngineNews } from "../../engine/engine.ts";
import { requestEvent } from "../../engine/tasks.ts";
import type { Lease, Notifier } from "../../ports.ts";
import type { Config } from "../../schema/config.ts";
import { readConfig } from "../config.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { createJsonView } from "../live/json-view.ts";
import { createLineView } from "../live/line-view.ts";
import { createScreenView } from "../live/screen-view.ts";
import type { LiveView } from "../live/view.ts";
import { openProjectToWrite, type Project, type ProjectFlags } from "../project.ts";
import { adoptEdits } from "../requests.ts";
import { durationFlag } from "../task-flags.ts";
import { liveTasks } from "./list.ts";

export interface RunnerFlags extends ProjectFlags {
  readonly agent?: string;
  readonly agentCmd?: string;
  readonly notifyCmd?: string;
  readonly for?: string;
  readonly json?: boolean;
}

export async function upCommand(flags: RunnerFlags, io: Io): Promise<number> {
  const project = openProjectToWrite(flags, io);
  return runResident(project, readConfig(project), flags, io, thisRunner());
}

export async function runResident(
  project: Project,
  config: Config,
  flags: RunnerFlags,
  io: Io,
  self: Omit<Lease, "token" | "acquiredAt">,
): Promise<number> {
  const endAt = flags.for === undefined ? null : Date.now() + durationFlag("--for", flags.for);
  const agent = chooseAgent(flags, config, project.root, process.env);
  const firing = process.env.LOOP_DISABLE_SCHEDULER !== "1";
  await adoptEdits(project, config, io);

  const view = createView(project, flags, io);
  const notifier = createNotifier(flags, view);
  const engine = createEngine({
    store: project.store,
    project: project.root,
    agent,
    notifier,
    self,
    firing,
    observe,
  });
  const asked = new Set<string>();

  function observe(news: EngineNews): void {
    view.show(news);
    if (news.type === "outcomes" || news.type === "role") void askAboutMissed();
  }

  /** A10: a person is here, so a missed one-shot is a question and not only a line in the list. */
  async function askAboutMissed(): Promise<void> {
    if (!io.interactive || engine.role !== "owner") return;
    for (const task of liveTasks(project.store)) {
      if (task.status !== "missed" || asked.has(task.id)) continue;
      asked.add(task.id);
      const yes = await view.ask(`Task ${task.id} was due while nothing ran. Run it now?`, task.prompt);
      if (yes === null) continue;
      const event = yes
        ? ({ type: "task.run-requested" } as const)
        : ({ type: "task.deleted", reason: "missed, and not wanted any more" } as const);
      await requestEvent(project.store, task, event, Date.now());
      engine.nudge();
    }
  }

  const unwatch = project.store.watch(() => void adoptEdits(project, config, io).catch(view.problem));
  view.open({ agent: agent.name, firing, endAt });
  engine.start();
  const stopped = stopOnSignals(engine, view, endAt);
  await engine.done;
  stopped();
  unwatch();
  view.close();
  return EXIT.ok;
}

function createView(project: Project, flags: RunnerFlags, io: Io): LiveView {
  if (flags.json) return createJsonView(io);
  return process.stdout.isTTY ? createScreenView(project, io) : createLineView(project, io);
}

/** Returns what to call when the engine has stopped by another way. */
function stopOnSignals(engine: Engine, view: LiveView, endAt: number | null): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    view.stopping(signal);
    void engine.stop(`the runner was stopped (${signal})`);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  const timer =
    endAt === null
      ? null
      : setTimeout(
          () => void engine.stop("the runner's time was over (--for)"),
          Math.max(0, endAt - Date.now()),
        );
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
    if (timer !== null) clearTimeout(timer);
  };
}

/** Says it here, and hands it to the person's own command, which never holds the runner up. */
function createNotifier(flags: RunnerFlags, view: LiveView): Notifier {
  return {
    notify(title, body) {
      view.notify(title, body);
      if (flags.notifyCmd === undefined) return;
      const child = spawn("/bin/sh", ["-c", flags.notifyCmd], {
        stdio: ["pipe", "ignore", "inherit"],
        env: { ...process.env, LOOP_TITLE: title, LOOP_BODY: body },
      });
      child.on("error", (error) => view.problem(error));
      child.on("exit", (code) => {
        if (code !== 0) view.problem(new Error(`--notify-cmd ended with exit ${code ?? "by a signal"}.`));
      });
      child.stdin.on("error", () => {});
      child.stdin.end(`${title}\n${body}\n`);
      child.unref();
    },
  };
}
