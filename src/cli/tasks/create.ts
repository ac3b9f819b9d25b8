/** `loop [interval] <prompt>`: plan, show or keep, and in a terminal run it. */
import { readFileSync } from "node:fs";
import { chooseAgent } from "../../compose/agent-choice.ts";
import { newLoopId, thisRunner } from "../../compose/engine.ts";
import type { Task } from "../../core/loop.ts";
import { planTask } from "../../core/task/plan.ts";
import { slotAfter } from "../../core/task/slots.ts";
import { iso, isoOrNull, viewTask } from "../../core/task/view.ts";
import { renderCadence } from "../../core/text/human.ts";
import { addTask, type Draft, draftTask } from "../../engine/tasks/tasks.ts";
import { usageError } from "../../errors.ts";
import type { Lease } from "../../ports/store.ts";
import type { Config } from "../../schema/config.ts";
import { localTimeZone, readConfig } from "../../store/files/config-file.ts";
import { EXIT } from "../exit-codes.ts";
import { hostSession } from "../hosts/host-session.ts";
import { type Io, paint } from "../io.ts";
import { openProject, openProjectToWrite, type Project } from "../project.ts";
import { printable } from "../render/table.ts";
import { renderSchedule } from "../render/task-list.ts";
import { renderWhen } from "../render/times.ts";
import { liveOwner, localZone } from "./list.ts";
import { maintenancePrompt } from "./maintenance.ts";
import { adoptEdits } from "./requests.ts";
import {
  countFlag,
  durationFlag,
  expectFlag,
  expiryFlag,
  missedFlag,
  placeFlag,
  type TaskFlags,
} from "./task-flags.ts";
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
      "There is no prompt; say what the agent should do.",
      "For example: loop 5m check if the deployment finished. More: loop help",
    );
  }
  checkRunnerFlags(flags);
  if (flags.dryRun) return showPlan(planned, flags, io, now);

  const owner = liveOwner(reader.store, now);
  const firing = process.env.LOOP_DISABLE_SCHEDULER !== "1";
  const becomesRunner = io.interactive && !flags.detach && !flags.json && owner === null && firing;
  const conversation = hostSession(process.env);
  if (flags.session && !becomesRunner && conversation === null) {
    throw usageError(
      owner === null
        ? "--session needs a terminal whose runner the task lives in; leave it out to keep the task on disk."
        : `--session needs this terminal to be the runner, but ${owner.owner} holds the lease.`,
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

/** The same, where it was asked for in a conversation. */
function renderHost({ where }: Task, firing: boolean): string {
  if (!firing) return renderRunner(null, firing);
  return where === "headless"
    ? "It runs beside the conversation, as a process of its own, while one is open or `loop up` runs."
    : "It runs in an open conversation of this folder, between turns; without one, where `loop up` runs.";
}

/** Who fires what was just asked for, in one line. */
export function renderRunner(owner: Lease | null, firing: boolean): string {
  if (owner !== null) return `It is run by ${owner.owner}, which holds the lease.`;
  if (!firing) return "Nothing runs it yet: LOOP_DISABLE_SCHEDULER=1 turns firing off here.";
  return "Nothing runs it yet: start `loop up` in this folder.";
}

/** null: there is no prompt. */
function plan(
  words: readonly string[],
  flags: CreateFlags,
  config: Config,
  project: Project,
  now: number,
): Planned | null {
  const typed = words.join(" ");
  const text = flags.promptFile === undefined ? typed : `${typed} ${readPrompt(flags.promptFile)}`;
  const tz = flags.tz ?? localTimeZone(config);
  if (flags.cron !== undefined && flags.exact) throw usageError("--exact and --cron exclude each other.");
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
    throw usageError("--no-now does not go with `loop auto`: the first turn sets the pace.");
  }
  const prompt =
    planned.prompt === "" && cadence.kind === "paced" ? maintenancePrompt(project.dir) : planned.prompt;
  if (cadence.kind === "once" && flags.expires !== undefined) {
    throw usageError("--expires is for recurring tasks; a one-shot ends when it has fired.");
  }
  const given = flags.expires === undefined ? {} : { expiresAt: expiryFlag(flags.expires, now) };
  return {
    notice,
    draft: draftTask({ prompt, cadence, ...given, ...parseDetails(flags, config) }, config, now),
  };
}

function parseDetails(flags: CreateFlags, config: Config) {
  return {
    jitter: flags.jitter !== false && config.jitter,
    missed: missedFlag(flags.missed),
    graceMs: flags.grace === undefined ? null : durationFlag("--grace", flags.grace),
    expect: flags.expect === undefined ? null : expectFlag(flags.expect),
    alertAfter: flags.alertAfter === undefined ? null : countFlag("--alert-after", flags.alertAfter),
    timeoutMs: flags.timeout === undefined ? config.turnTimeoutMs : durationFlag("--timeout", flags.timeout),
    ...(flags.in === undefined ? {} : { where: placeFlag(flags.in) }),
  };
}

export function readPrompt(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw usageError(`Cannot read the prompt from ${file}: ${(error as Error).message}.`);
  }
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
      nextFireAt: isoOrNull(next),
      expiresAt: isoOrNull(expiresAt),
    });
    return EXIT.ok;
  }
  const cron = cadence.kind === "cron" ? ` (${cadence.expr}, ${cadence.tz})` : "";
  io.out(`Would create: ${human}${cron}`);
  if (notice !== null) io.out(`  ${notice}`);
  if (next !== null) io.out(`  Next: ${renderWhen(next, now)}, ${iso(next)}`);
  io.out(`  Prompt: ${printable(prompt)}`);
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
  if (task.expiresAt !== null) lines.push(`  Ends ${renderWhen(task.expiresAt, now)} with a final run`);
  return lines.join("\n");
}
