/** `loop [interval] <prompt>`: creates a task. In a terminal it also becomes the runner. */
import { join } from "node:path";
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
import { readText, readTextThroughLinks } from "../../store/files/read-text.ts";
import { localZone } from "../../system/time-zone.ts";
import { ownFile } from "../../system/user-folder.ts";
import { EXIT } from "../exit-codes.ts";
import { fileFlag, secretNotice } from "../flags/values.ts";
import { hostSession } from "../hosts/host-session.ts";
import { answer, type Io, paint } from "../io.ts";
import { openProject, openProjectToWrite, type Project } from "../project.ts";
import { renderSchedule } from "../render/task-list.ts";
import { renderWhen } from "../render/times.ts";
import { isFiring } from "../run/firing.ts";
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
  const secret = secretNotice(draft.prompt, draft.expect ?? "");
  if (secret !== null) io.say(secret);
  const task = await addTask(project.store, draft, config.maxTasks, now, newLoopId);
  await project.store.published?.publish();
  const view = { ...viewTask(task), notice: planned.notice, owner: owner?.owner ?? null };
  answer(flags, io, view, renderCreated(task, planned.notice, now, io));
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

function plan(
  words: readonly string[],
  flags: CreateFlags,
  config: Config,
  project: Project,
  now: number,
): Planned {
  const file = fileFlag("--prompt-file", flags.promptFile);
  const text = [...words, ...(file === undefined ? [] : [file])].join(" ");
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
  if (planned.kind === "usage")
    throw usageError(
      "The prompt is missing; write what the agent should do.",
      "For example: loop 5m check if the deployment finished. More: loop help",
    );
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

/** For `loop auto` without words (A17): from the project, else from the person, else built in. */
export function maintenancePrompt(dir: string): string {
  return (
    readText(join(dir, "loop.md"))?.trim() ||
    // a person may keep this file elsewhere and link to it
    readTextThroughLinks(ownFile(process.env, "loop.md"))?.trim() ||
    BUILT_IN
  );
}

const BUILT_IN = `Maintain this project, one small thing at a time.
Continue unfinished work first. If there is none, run the tests, the type check and the linter, and repair what fails. Then look at open review comments on your own pull requests. Otherwise tidy one thing that you can verify.
Do not start new work. Do not push, publish, delete or send anything. Say in one sentence what you did.`;

function showPlan({ draft, notice }: Planned, flags: CreateFlags, io: Io, now: number): number {
  const { prompt, cadence, expiresAt } = draft;
  const next = cadence.kind === "paced" ? now : slotAfter(cadence, now);
  const human = renderCadence(cadence);
  const view = {
    kind: "task",
    cron: cadence.kind === "cron" ? cadence.expr : null,
    everyMs: cadence.kind === "every" ? cadence.everyMs : null,
    recurring: cadence.kind !== "once",
    prompt,
    human,
    notice,
    nextFireAt: momentOf(next),
    expiresAt: momentOf(expiresAt),
  };
  const lines = [
    `Would create: ${human}${cadence.kind === "cron" ? ` (${cadence.expr}, ${cadence.tz})` : ""}`,
    ...(notice === null ? [] : [`  ${notice}`]),
    ...(next === null ? [] : [`  Next: ${renderWhen(next, now)}, ${iso(next)}`]),
    `  Prompt: ${cleanText(prompt)}`,
  ];
  return answer(flags, io, view, lines.join("\n"));
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
