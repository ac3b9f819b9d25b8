/** `loop [interval] <prompt>`: creates a task. In a terminal it also becomes the runner. */
import { chooseAgent } from "../../compose/agent-choice.ts";
import { newLoopId, thisRunner } from "../../compose/engine.ts";
import type { Task } from "../../core/loop.ts";
import { planTask } from "../../core/task/plan.ts";
import { slotAfter } from "../../core/task/slots.ts";
import { cleanText } from "../../core/text/clean.ts";
import { renderCadence } from "../../core/text/human.ts";
import { iso, momentOf } from "../../core/views/moment.ts";
import { viewTask } from "../../core/views/task-view.ts";
import { liveOwner } from "../../engine/lease/live-owner.ts";
import { addTask, type Draft, draftTask } from "../../engine/tasks/tasks.ts";
import { usageError } from "../../errors.ts";
import type { Lease } from "../../ports/store.ts";
import type { Config } from "../../schema/config.ts";
import { localTimeZone, readConfig } from "../../store/files/config-file.ts";
import { localZone } from "../../system/time-zone.ts";
import { EXIT } from "../exit-codes.ts";
import { fileFlag } from "../flags/values.ts";
import { hostSession } from "../hosts/host-session.ts";
import { type Io, paint } from "../io.ts";
import { openProject, openProjectToWrite, type Project } from "../project.ts";
import { renderSchedule } from "../render/task-list.ts";
import { renderWhen } from "../render/times.ts";
import { isFiring } from "../run/firing.ts";
import { maintenancePrompt } from "./maintenance.ts";
import { adoptEdits } from "./requests.ts";
import { settingsFrom, type TaskFlags } from "./task-flags.ts";
import { checkRunnerFlags, type RunnerFlags, runResident } from "./up.ts";

export interface CreateFlags extends TaskFlags, RunnerFlags {
  readonly now?: boolean;
  readonly detach?: boolean;
  readonly session?: boolean;
  readonly dryRun?: boolean;
}

interface Planned {
  readonly draft: Draft;
  readonly notice: string | null;
}

export async function createCommand(words: readonly string[], flags: CreateFlags, io: Io): Promise<number> {
  const now = Date.now();
  const reader = openProject(flags, io);
  const config = readConfig(reader);
  const planned = plan(words, flags, config, reader, now);
  if (planned === null) {
    throw usageError(
      "The prompt is missing; write what the agent should do.",
      "For example: loop 5m check if the deployment finished. More: loop help",
    );
  }
  checkRunnerFlags(flags);
  if (flags.dryRun) return showPlan(planned, flags, io, now);

  const owner = liveOwner(reader.store, now);
  const firing = isFiring(process.env);
  const becomesRunner = io.interactive && !flags.detach && !flags.json && owner === null && firing;
  const conversation = hostSession(process.env);
  if (flags.session && !becomesRunner && conversation === null) {
    throw usageError(
      owner === null
        ? "--session needs a terminal that runs the task. Leave out --session to keep the task on disk."
        : `--session needs this terminal as the runner, but ${owner.owner} already runs the loops. Leave out --session.`,
    );
  }
  const agent = becomesRunner ? chooseAgent(flags, config, process.env) : null;
  const project = openProjectToWrite(flags, io);
  await adoptEdits(project, config, io);
  const self = thisRunner();
  const recurring = planned.draft.cadence.kind !== "once";
  const draft: Draft = {
    ...planned.draft,
    session: flags.session ? (conversation ?? self.owner) : null,
    runNow: recurring && flags.now !== false,
  };
  const task = await addTask(project.store, draft, config.maxTasks, now, newLoopId);
  await project.store.published?.publish();
  if (flags.json) io.json({ ...viewTask(task), notice: planned.notice, owner: owner?.owner ?? null });
  else io.out(renderCreated(task, planned.notice, now, io));
  if (agent !== null) return runResident(project, config, flags, io, self, agent);
  io.say(conversation === null ? renderRunner(owner, firing) : renderHost(task, firing));
  return EXIT.ok;
}

/** Like `renderRunner`, for a task that was created in a conversation. */
function renderHost({ where }: Task, firing: boolean): string {
  if (!firing) return renderRunner(null, firing);
  return where === "headless"
    ? "The task runs in its own process, while a conversation is open in this folder or `loop up` runs."
    : "The task runs between the turns of an open conversation in this folder, or under `loop up`.";
}

/** One line that says which process runs the task. */
export function renderRunner(owner: Lease | null, firing: boolean): string {
  if (owner !== null) return `${owner.owner} runs it.`;
  if (!firing)
    return "Nothing runs it yet, because LOOP_DISABLE_SCHEDULER=1 is set. To run it: unset LOOP_DISABLE_SCHEDULER";
  return "Nothing runs it yet. To run it, start in this folder: loop up";
}

/** null: the prompt is missing. */
function plan(
  words: readonly string[],
  flags: CreateFlags,
  config: Config,
  project: Project,
  now: number,
): Planned | null {
  const typed = words.join(" ");
  const text =
    flags.promptFile === undefined ? typed : `${typed} ${fileFlag("--prompt-file", flags.promptFile)}`;
  const tz = flags.tz ?? localTimeZone(config);
  if (flags.cron !== undefined && flags.exact)
    throw usageError("--exact and --cron cannot be used together; leave out one of them.");
  const planned = planTask({
    words: text,
    cron: flags.cron ?? null,
    tz,
    exact: flags.exact ?? false,
    defaultIntervalMs: config.defaultIntervalMs,
    now,
  });
  if (planned.kind === "usage") return null;
  if (planned.kind === "invalid") throw usageError(planned.message);
  const { cadence, notice } = planned;
  if (cadence.kind === "paced" && flags.now === false) {
    throw usageError(
      "--no-now cannot be used with `loop auto`, because the first turn decides when the next one is.",
    );
  }
  const prompt =
    planned.prompt === "" && cadence.kind === "paced" ? maintenancePrompt(project.dir) : planned.prompt;
  if (cadence.kind === "once" && flags.expires !== undefined) {
    throw usageError(
      "--expires is only for recurring tasks; a one-shot ends when it has fired. Leave out --expires.",
    );
  }
  const jitter = flags.jitter !== false && config.jitter;
  const settings = settingsFrom(flags, now);
  return { notice, draft: draftTask({ prompt, cadence, jitter, ...settings }, config, now) };
}

function showPlan({ draft, notice }: Planned, flags: CreateFlags, io: Io, now: number): number {
  const { prompt, cadence, expiresAt } = draft;
  const next = cadence.kind === "paced" ? now : slotAfter(cadence, now);
  const human = renderCadence(cadence);
  if (flags.json) {
    io.json({
      kind: "task",
      cron: cadence.kind === "cron" ? cadence.expr : null,
      everyMs: cadence.kind === "every" ? cadence.everyMs : null,
      recurring: cadence.kind !== "once",
      prompt,
      human,
      notice,
      nextFireAt: momentOf(next),
      expiresAt: momentOf(expiresAt),
    });
    return EXIT.ok;
  }
  const cron = cadence.kind === "cron" ? ` (${cadence.expr}, ${cadence.tz})` : "";
  io.out(`Would create: ${human}${cron}`);
  if (notice !== null) io.out(`  ${notice}`);
  if (next !== null) io.out(`  Next: ${renderWhen(next, now)}, ${iso(next)}`);
  io.out(`  Prompt: ${cleanText(prompt)}`);
  return EXIT.ok;
}

function renderCreated(task: Task, notice: string | null, now: number, io: Io): string {
  const cron = task.cadence.kind === "cron" ? ` (${task.cadence.expr})` : "";
  const lines = [
    `Created ${paint(io, "bold", task.id)}: ${renderSchedule(viewTask(task), localZone())}${cron}`,
  ];
  if (notice !== null) lines.push(`  ${notice}`);
  const next = slotAfter(task.cadence, now);
  const first = task.request === null ? "" : "once now, then ";
  if (next !== null) lines.push(`  Runs ${first}${renderWhen(next + task.jitterMs, now)}`);
  if (task.expiresAt !== null) lines.push(`  Ends ${renderWhen(task.expiresAt, now)}, after a final run`);
  return lines.join("\n");
}
