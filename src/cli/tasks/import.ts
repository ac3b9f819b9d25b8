/** `loop import`: copies the tasks of Claude Code and of pi's loop extension (A19). Repeating it adds nothing. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { newLoopId } from "../../compose/engine.ts";
import type { LoopId, Task } from "../../core/loop.ts";
import { createTask } from "../../core/task/decide-task.ts";
import { planCron } from "../../core/task/plan.ts";
import { renderCadence } from "../../core/text/human.ts";
import { viewTask } from "../../core/views/task-view.ts";
import { addTaskAs, draftTask, fullMessage, liveTasks } from "../../engine/tasks/tasks.ts";
import { surroundingsError, usageError } from "../../errors.ts";
import type { Config } from "../../schema/config.ts";
import { type ForeignTask, type ForeignTool, parseForeignFile } from "../../schema/imports.ts";
import { localTimeZone, readConfig } from "../../store/files/config-file.ts";
import { readText } from "../../store/files/read-text.ts";
import { isInside } from "../../system/inside.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io } from "../io.ts";
import { openProject, openProjectToWrite, type Project, type ProjectFlags } from "../project.ts";
import { oneLine } from "../render/table.ts";

const SOURCES = {
  claude: join(".claude", "scheduled_tasks.json"),
  pi: join(".pi", "loop-tasks.json"),
} as const satisfies Record<ForeignTool, string>;

export interface ImportFlags extends ProjectFlags {
  readonly dryRun?: boolean;
}

export async function importCommand(only: string | undefined, flags: ImportFlags, io: Io): Promise<number> {
  if (only !== undefined && !Object.hasOwn(SOURCES, only))
    throw usageError(
      `Tasks cannot be imported from "${only}"; write one of: ${Object.keys(SOURCES).join(", ")}.`,
    );
  const reader = openProject(flags, io);
  const { found, faults, files } = readSources(reader.root, only as ForeignTool | undefined);
  if (files.length === 0) {
    throw usageError(
      `There is nothing to import: ${reader.root} has no ${Object.values(SOURCES).join(" and no ")}.`,
    );
  }
  const config = readConfig(reader);
  const project = flags.dryRun ? reader : openProjectToWrite(flags, io);
  const imported: Task[] = [];
  const skipped: string[] = [];
  for (const { source, task } of found) {
    const result = await importTask(project, config, source, task, flags.dryRun ? imported.length : null);
    if (typeof result === "string") skipped.push(`${source} ${task.id}: ${result}`);
    else imported.push(result);
  }
  if (!flags.dryRun) await project.store.published?.publish();
  const done = flags.dryRun ? "Would import" : "Imported";
  const lines = [
    ...imported.map(
      ({ id, cadence, prompt }) => `${done} ${id}: ${renderCadence(cadence)}  ${oneLine(prompt)}`,
    ),
    `${imported.length} imported, ${skipped.length} skipped, ${faults.length} faulty, from ${files.join(" and ")}.`,
  ];
  answer(flags, io, { imported: imported.map(viewTask), skipped, faults }, lines.join("\n"));
  for (const line of [...skipped, ...faults]) io.say(`  ${oneLine(line)}`);
  if (imported.length > 0 && !flags.dryRun)
    io.say("The original tasks still run. Delete them in Claude Code or pi; otherwise they run twice.");
  return faults.length > 0 ? EXIT.failure : EXIT.ok;
}

function readSources(root: string, only: ForeignTool | undefined) {
  const found: { source: string; task: ForeignTask }[] = [];
  const faults: string[] = [];
  const files: string[] = [];
  for (const tool of only === undefined ? (Object.keys(SOURCES) as ForeignTool[]) : [only]) {
    const source = SOURCES[tool];
    checkInside(root, source);
    const text = readText(join(root, source));
    if (text === null) continue;
    files.push(source);
    const parsed = parse(tool, text);
    if (parsed.kind === "invalid") faults.push(`${source}: ${parsed.message}`);
    else
      for (const task of parsed.tasks) {
        if ("fault" in task) faults.push(`${source}: ${task.fault}`);
        else found.push({ source, task });
      }
  }
  return { found, faults, files };
}

/** H4: a link in a repository must not import prompts from outside the project. */
function checkInside(root: string, source: string): void {
  const folder = join(root, dirname(source));
  if (existsSync(folder) && !isInside(root, folder))
    throw surroundingsError(
      `${folder} is a link to a place outside the project, so it was not read.`,
      "Replace the link with a folder.",
    );
}

function parse(tool: ForeignTool, text: string): ReturnType<typeof parseForeignFile> {
  try {
    return parseForeignFile(tool, JSON.parse(text));
  } catch (error) {
    return { kind: "invalid", message: `it is not JSON: ${(error as Error).message}` };
  }
}

/** The task, or the reason for skipping it. */
async function importTask(
  project: Project,
  config: Config,
  source: string,
  foreign: ForeignTask,
  /** In a dry run: how many tasks were imported before this one. null: write the task. */
  dryCount: number | null,
): Promise<Task | string> {
  const now = Date.now();
  const importedFrom = `${source}#${foreign.id}`;
  if ([...project.store.loops()].some((loop) => loop.kind === "task" && loop.importedFrom === importedFrom))
    return "imported before";
  if (foreign.expiresAt !== null && foreign.expiresAt <= now) return "it has expired";
  // A one-shot has one time: the first match after its creation. If it has passed, a person is asked.
  const from = foreign.recurring ? now : (foreign.createdAt ?? now);
  const planned = planCron(foreign.cron, foreign.prompt, foreign.recurring, {
    tz: localTimeZone(config),
    now: from,
  });
  if (planned.kind !== "plan") return planned.kind === "invalid" ? planned.message : "it has no prompt";
  const given = foreign.expiresAt === null ? {} : { expiresAt: foreign.expiresAt };
  const { cadence } = planned;
  const draft = draftTask({ prompt: foreign.prompt, cadence, importedFrom, ...given }, config, now);
  const wanted = /^[0-9a-f]{8}$/.test(foreign.id) ? foreign.id : null;
  if (dryCount !== null) {
    const live = liveTasks(project.store).length + dryCount;
    if (live >= config.maxTasks) return fullMessage(live, config.maxTasks);
    return createTask({ ...draft, id: (wanted ?? newLoopId()) as LoopId }, now).loop;
  }
  const madeAt = cadence.kind === "once" ? from : now;
  for (let id = wanted ?? newLoopId(); ; id = newLoopId()) {
    const added = await addTaskAs(id as LoopId, project.store, draft, config.maxTasks, madeAt);
    if (added.kind === "added") return added.task;
    if (added.kind === "full") return fullMessage(added.live, config.maxTasks);
  }
}
