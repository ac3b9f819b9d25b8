/** `loop edit <id> [interval] [prompt]`: changes what is named and nothing else. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TaskEdit } from "../../core/event.ts";
import type { Cadence, Task } from "../../core/loop.ts";
import { planCadence } from "../../core/task/convert.ts";
import { type Interval, parseLeadingInterval, parseTrailingInterval } from "../../core/task/interval.ts";
import { type Plan, planCron, planTask } from "../../core/task/plan.ts";
import { renderCadence } from "../../core/text/human.ts";
import { viewTask } from "../../core/views/task-view.ts";
import { findTask, requestEvent } from "../../engine/tasks/tasks.ts";
import { surroundingsError, usageError } from "../../errors.ts";
import { localTimeZone, readConfig } from "../../store/files/config-file.ts";
import { fileFlag } from "../flags/values.ts";
import { answer, type Io } from "../io.ts";
import type { ProjectFlags } from "../project.ts";
import { openWithEdits } from "./requests.ts";
import { settingsFrom, type TaskFlags } from "./task-flags.ts";

export interface EditFlags extends TaskFlags, ProjectFlags {}

export async function editCommand(
  prefix: string,
  words: readonly string[],
  flags: EditFlags,
  io: Io,
): Promise<number> {
  const now = Date.now();
  const project = await openWithEdits(flags, io);
  const task = findTask(project.store, prefix);
  const tz = flags.tz ?? zoneOf(task.cadence) ?? localTimeZone(readConfig(project));
  const { edit, notice } = planEdit(task, words.join(" "), flags, tz, now);
  const whole = Object.keys(edit).length > 0 ? edit : askEditor(task, io);
  const changed = await requestEvent(project.store, task, { type: "task.edited", edit: whole }, now);
  await project.store.published?.publish();
  const text = `Changed ${changed.id}: ${renderCadence(changed.cadence)}`;
  const view = { ...viewTask(changed), notice };
  return answer(flags, io, view, notice === null ? text : `${text}\n  ${notice}`);
}

function planEdit(
  task: Task,
  words: string,
  flags: EditFlags,
  tz: string,
  now: number,
): { edit: TaskEdit; notice: string | null } {
  const isOnce = task.cadence.kind === "once";
  if (isOnce && flags.expires !== undefined)
    throw usageError(
      "--expires is only for recurring tasks; a one-shot ends when it has fired. Leave out --expires.",
    );
  const moment =
    isOnce && flags.cron === undefined && /^\s*(at|in)\s/i.test(words)
      ? planNewMoment(task, words, tz, now)
      : null;
  const split =
    moment === null && flags.cron === undefined
      ? splitInterval(words)
      : { interval: null, prompt: moment?.prompt ?? words.trim() };
  const prompt = fileFlag("--prompt-file", flags.promptFile)?.trim() ?? split.prompt;
  if (flags.promptFile !== undefined && prompt === "")
    throw usageError(`--prompt-file: ${flags.promptFile} is empty; write into it what the agent should do.`);
  const planned = moment ?? planNewCadence(task, split.interval, flags, tz, now);
  if (planned !== null && planned.cadence.kind !== "once" && task.cadence.kind === "paced") {
    throw usageError(
      `Task ${task.id} sets its own pace (loop auto) and cannot get an interval.`,
      `Delete it with: loop delete ${task.id}. Then create a task with an interval.`,
    );
  }
  const edit: TaskEdit = {
    ...(prompt === "" ? {} : { prompt }),
    ...(planned === null ? {} : { cadence: planned.cadence }),
    ...(flags.jitter === undefined ? {} : { jitter: flags.jitter }),
    ...settingsFrom(flags, now),
  };
  return { edit, notice: planned?.notice ?? null };
}

/** `loop edit <id> at 15:00` and `in 20m` move a one-shot. More words are its new prompt. */
function planNewMoment(
  task: Task,
  words: string,
  tz: string,
  now: number,
): { cadence: Cadence; prompt: string; notice: null } {
  const input = { cron: null, tz, exact: false, defaultIntervalMs: 600_000, now };
  const bare = planTask({ ...input, words });
  const { cadence, prompt } = complete(
    bare.kind === "plan" ? bare : planTask({ ...input, words: `${words.trim()} ${task.prompt}` }),
  );
  return { cadence, prompt, notice: null };
}

function complete(planned: Plan): Extract<Plan, { kind: "plan" }> {
  if (planned.kind === "plan") return planned;
  throw usageError(planned.kind === "invalid" ? planned.message : "The prompt is empty.");
}

function splitInterval(words: string): { interval: Interval | null; prompt: string } {
  const found = parseLeadingInterval(words) ?? parseTrailingInterval(words);
  return found === null
    ? { interval: null, prompt: words.trim() }
    : { interval: found.interval, prompt: found.rest };
}

function planNewCadence(
  task: Task,
  interval: Interval | null,
  flags: EditFlags,
  tz: string,
  now: number,
): { cadence: Cadence; notice: string | null } | null {
  if (interval !== null) {
    if (task.cadence.kind === "once") {
      throw usageError(
        `Task ${task.id} fires only once and has no interval.`,
        `Move it with: loop edit ${task.id} at 15:00, or: loop edit ${task.id} in 20m`,
      );
    }
    const planned = planCadence(interval, { exact: flags.exact ?? task.cadence.kind === "every", tz, now });
    if (planned.kind === "invalid") throw usageError(planned.message);
    return planned;
  }
  if (flags.exact)
    throw usageError("--exact needs an interval.", `For example: loop edit ${task.id} 7m --exact`);
  const expr =
    flags.cron ?? (flags.tz !== undefined && task.cadence.kind === "cron" ? task.cadence.expr : undefined);
  if (expr === undefined) {
    if (flags.tz !== undefined) throw usageError("--tz is only for tasks with a cron schedule.");
    return null;
  }
  return complete(planCron(expr, task.prompt, task.cadence.kind !== "once", { tz, now }));
}

function zoneOf(cadence: Cadence): string | null {
  return cadence.kind === "cron" || cadence.kind === "once" ? cadence.tz : null;
}

/** Without words and flags, a terminal opens the prompt in the person's editor. */
function askEditor(task: Task, io: Io): TaskEdit {
  const editor = process.env.VISUAL ?? process.env.EDITOR;
  if (!io.interactive || editor === undefined) {
    throw usageError(
      "There is nothing to change; write a new interval, a new prompt or a flag.",
      `For example: loop edit ${task.id} 15m`,
    );
  }
  const folder = mkdtempSync(join(tmpdir(), "loop-edit-"));
  const file = join(folder, "prompt.md");
  try {
    writeFileSync(file, `${task.prompt}\n`, { mode: 0o600 });
    const { status, error } = spawnSync("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], {
      stdio: "inherit",
    });
    if (error !== undefined || status !== 0)
      throw surroundingsError(`The editor ${editor} failed.`, "Nothing was changed.");
    const prompt = readFileSync(file, "utf8").trim();
    if (prompt === "" || prompt === task.prompt)
      throw usageError("You did not change the prompt, so nothing was changed.");
    return { prompt };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
