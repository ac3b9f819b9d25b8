/** `loop up`: the resident runner of a project. It runs until it is stopped. */
import { createMissingAgent } from "../../agents/missing.ts";
import { removeEndedRuns } from "../../agents/process/run-folder.ts";
import { type AgentChoice, chooseAgent, chooseAgentSpec } from "../../compose/agent-choice.ts";
import { type EngineSetup, thisRunner } from "../../compose/engine.ts";
import { shortNameOf } from "../../core/agents.ts";
import type { AgentSpec } from "../../core/goal/goal.ts";
import type { LoopId, Task } from "../../core/loop.ts";
import type { EngineNews } from "../../engine/engine.ts";
import { allGoals } from "../../engine/goals/goals.ts";
import { liveTasks, requestEvent } from "../../engine/tasks/tasks.ts";
import { LoopError } from "../../errors.ts";
import type { Agent } from "../../ports/agent.ts";
import type { Config } from "../../schema/config.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { checkWritable } from "../../store/folder/loop-dir.ts";
import { EXIT } from "../exit-codes.ts";
import { commandFlag, durationFlag } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { createLine } from "../live/hold.ts";
import { createJsonView } from "../live/json-view.ts";
import { createLineView } from "../live/line-view.ts";
import { createScreenView } from "../live/screen-view.ts";
import type { LiveView } from "../live/view.ts";
import { openProject, openProjectToWrite, type Project, type ProjectFlags } from "../project.ts";
import { isFiring } from "../run/firing.ts";
import { hasPerson, type Run, type RunKind, runForeground } from "../run/foreground.ts";
import { listenForStop, type StopRequest, type StopSignal } from "../run/signals.ts";
import { adoptEdits } from "./requests.ts";

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export interface RunnerFlags extends ProjectFlags, AgentChoice {
  readonly notifyCmd?: string;
  readonly for?: string;
}

export async function upCommand(flags: RunnerFlags, io: Io): Promise<number> {
  // First: a signal while a long journal is read must not look like a crash.
  const stop = listenForStop();
  checkRunnerFlags(flags);
  // quiet: it is opened once more to write, and says what it has to say then
  const reader = openProject(flags, { ...io, say: () => {} });
  const config = readConfig(reader);
  const agent = agentForTasks(flags, config, reader);
  const project = openProjectToWrite(flags, io);
  checkWritable(project.dir);
  return runResident(project, config, flags, io, thisRunner(), agent, stop);
}

/** Goals have their own agent: with goals, a missing agent for tasks does not stop the runner. */
function agentForTasks(flags: RunnerFlags, config: Config, { store }: Project): Agent | AgentSpec {
  try {
    return chooseAgent(flags, config, process.env);
  } catch (error) {
    const hasGoals = allGoals(store).some(({ status }) => status !== "ended");
    if (!hasGoals || !(error instanceof LoopError) || error.code === "usage") throw error;
    return createMissingAgent(error.message);
  }
}

/** Refuses wrong values before anything is written, even if nothing will run. */
export function checkRunnerFlags(flags: RunnerFlags): void {
  chooseAgentSpec(flags, {}, process.env);
  durationFlag("--for", flags.for);
  commandFlag("--notify-cmd", flags.notifyCmd);
}

export async function runResident(
  project: Project,
  config: Config,
  flags: RunnerFlags,
  io: Io,
  self: EngineSetup["self"],
  agent: Agent | AgentSpec,
  stop: StopRequest = listenForStop(),
): Promise<number> {
  const forMs = durationFlag("--for", flags.for);
  const endAt = forMs === undefined ? null : Date.now() + forMs;
  await adoptEdits(project, config, io);
  removeEndedRuns(project.root, (id) => project.store.load(id as LoopId) !== undefined, Date.now());
  if (stop.signal.aborted) return EXIT.ok;

  const view = askInLine(createView(project, flags, io));
  const name = "kind" in agent ? shortNameOf(agent) : agent.name;
  view.open({ agent: name, firing: isFiring(process.env), endAt });
  const parts = {
    project,
    agent,
    self,
    stop,
    view,
    endAt,
    hasPerson: hasPerson(io, flags),
    notifyCmd: flags.notifyCmd,
    adopt: () => adoptEdits(project, config, io),
  };
  return runForeground(parts, (run) => new ResidentRun(run, parts));
}

/** Asks one question at a time. */
function askInLine(view: LiveView): LiveView {
  const inLine = createLine();
  return {
    ...view,
    ask: (question, detail) => inLine(() => view.ask(question, detail)),
    askPermission: (question, withdrawn) => inLine(() => view.askPermission(question, withdrawn)),
  };
}

interface Resident {
  readonly project: Project;
  readonly view: LiveView;
  readonly endAt: number | null;
  readonly hasPerson: boolean;
  /** Applies edits that a person made in tasks.json. */
  adopt(): Promise<void>;
}

class ResidentRun implements RunKind {
  readonly #run: Run;
  readonly #resident: Resident;
  /** Missed tasks that the person was already asked about. */
  readonly #asked = new Set<LoopId>();
  #isAsking = false;
  /** A chain: the same edit must not be applied twice. */
  #adopting = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;

  constructor(run: Run, resident: Resident) {
    this.#run = run;
    this.#resident = resident;
  }

  started(): void {
    if (this.#resident.endAt !== null) this.#stopAt(this.#resident.endAt);
  }

  observe(news: EngineNews): void {
    const { view } = this.#resident;
    view.show(news);
    if (news.type === "outcomes" || news.type === "role") void this.#askAboutMissed().catch(view.problem);
  }

  changed(): void {
    const { adopt, view } = this.#resident;
    this.#adopting = this.#adopting.then(adopt).catch(view.problem);
  }

  /** After `rm -rf .loop`, `git clean -fdx` or a move of the project, the runner must not seem to run. */
  lost(): void {
    const { project, view } = this.#resident;
    const body = `${project.dir} and its tasks were removed or moved. This runner ends.`;
    view.problem(new Error(body));
    this.#run.notify("Loopwright stopped", body);
  }

  interrupt(signal: StopSignal, nth: number): void {
    if (nth > 1) return;
    this.#resident.view.stopping(signal);
    void this.#run.stop(`the runner was stopped (${signal})`);
  }

  async end(): Promise<number> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#adopting;
    this.#resident.view.close();
    return this.#run.isGone ? EXIT.failure : EXIT.ok;
  }

  /** A timer of more than 24.8 days would fire at once. */
  #stopAt(at: number): void {
    const left = at - Date.now();
    if (left <= 0) void this.#run.stop("the runner's time was over (--for)");
    else this.#timer = setTimeout(() => this.#stopAt(at), Math.min(left, MAX_TIMEOUT_MS));
  }

  /** A10: with a person at the terminal, a missed one-shot is a question and not only a line in the list. */
  async #askAboutMissed(): Promise<void> {
    if (!this.#resident.hasPerson || this.#isAsking || this.#run.role !== "owner") return;
    this.#isAsking = true;
    try {
      for (let task = this.#nextMissed(); task !== undefined; task = this.#nextMissed()) {
        this.#asked.add(task.id);
        await this.#askAbout(task);
      }
    } finally {
      this.#isAsking = false;
    }
  }

  #nextMissed(): Task | undefined {
    const tasks = liveTasks(this.#resident.project.store);
    return tasks.find((task) => task.status === "missed" && !this.#asked.has(task.id));
  }

  async #askAbout(task: Task): Promise<void> {
    const { view, project } = this.#resident;
    const yes = await view.ask(`Task ${task.id} was due while nothing ran. Run it now?`, task.prompt);
    if (yes === null) return;
    const event = yes
      ? ({ type: "task.run-requested" } as const)
      : ({ type: "task.deleted", reason: "missed, and a person did not want it any more" } as const);
    await requestEvent(project.store, task, event, Date.now());
    this.#run.nudge();
  }
}

function createView(project: Project, flags: RunnerFlags, io: Io): LiveView {
  if (flags.json) return createJsonView(io);
  const canRedraw = process.stdout.isTTY && process.env.TERM !== "dumb";
  return canRedraw ? createScreenView(project, io) : createLineView(project, io);
}
