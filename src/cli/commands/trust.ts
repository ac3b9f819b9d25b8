/** `loop trust`: shows what a folder from somewhere else would run, and takes a person's word for it (H2). */
import { renderDuration } from "../../core/task/interval.ts";
import { renderCadence } from "../../core/text/human.ts";
import { usageError } from "../../errors.ts";
import { type FileTask, tasksFileSchema } from "../../schema/tasks-file.ts";
import { cannotWrite } from "../../store/loop-dir.ts";
import { originOf, trustOrigin } from "../../store/origin.ts";
import { readTasksFile } from "../../store/tasks-file.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { openProject, type Project, type ProjectFlags } from "../project.ts";
import { liveTasks } from "./list.ts";

export interface TrustFlags extends ProjectFlags {
  readonly json?: boolean;
  readonly yes?: boolean;
}

interface Found {
  readonly id: string | null;
  readonly schedule: string;
  readonly prompt: string;
  readonly expect: string | null;
}

export async function trustCommand(flags: TrustFlags, io: Io): Promise<number> {
  const project = openProject(flags, io);
  if (originOf(project.dir) !== "foreign") {
    if (flags.json) io.json({ trusted: true, tasks: [] });
    else io.out("Nothing here comes from somewhere else.");
    return EXIT.ok;
  }
  const tasks = readTasks(project);
  if (!flags.yes && !io.interactive) {
    if (flags.json) io.json({ trusted: false, tasks });
    else io.out(render(tasks));
    throw usageError("trust asks first; without a terminal add --yes once you have read what would run.");
  }
  if (!flags.json) io.out(render(tasks));
  if (!flags.yes && !(await ask(tasks))) {
    io.say("Nothing was changed.");
    return EXIT.ok;
  }
  // A checkout may have gone on while the question stood there: what is trusted is what was shown.
  if (JSON.stringify(readTasks(openProject(flags, io))) !== JSON.stringify(tasks))
    throw usageError(
      "The tasks changed while they were being looked at; nothing was trusted.",
      "Look again.",
    );
  try {
    trustOrigin(project.dir);
  } catch (error) {
    throw cannotWrite(project.dir, error);
  }
  if (flags.json) io.json({ trusted: true, tasks });
  else io.out(`Trusted: ${count(tasks)}. They run with: loop up`);
  return EXIT.ok;
}

/** All that could run: what the journal knows, and what tasks.json would add to it or change. */
function readTasks({ dir, store }: Project): Found[] {
  const known = liveTasks(store).map(
    ({ id, cadence, prompt, expect }): Found => ({ id, schedule: renderCadence(cadence), prompt, expect }),
  );
  const file = readTasksFile(dir);
  const parsed = tasksFileSchema.safeParse("content" in file ? file.content : null);
  const written = (parsed.data?.tasks ?? []).map(fromFile);
  const isNew = (task: Found) =>
    !known.some(
      ({ id, prompt, expect }) => id === task.id && prompt === task.prompt && expect === task.expect,
    );
  return [...known, ...written.filter(isNew)];
}

function fromFile({ id, cron, everyMs, nextFireAt, prompt, expect }: FileTask): Found {
  const every = everyMs == null ? null : `every ${renderDuration(everyMs)}`;
  const schedule = `${cron ?? every ?? nextFireAt ?? "no time"} (tasks.json)`;
  return { id: id ?? null, schedule, prompt, expect: expect ?? null };
}

async function ask(tasks: readonly Found[]): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: `Trust ${count(tasks)}?`, initialValue: false });
  return !isCancel(answer) && answer;
}

function render(tasks: readonly Found[]): string {
  const lines = [`${count(tasks)} from somewhere else:`];
  for (const { id, schedule, prompt, expect } of tasks) {
    lines.push(`  ${id ?? "(new)"}  ${visible(schedule)}`, `    prompt: ${visible(prompt)}`);
    if (expect !== null) lines.push(`    runs:   ${visible(expect)}`);
  }
  return lines.join("\n");
}

function count(tasks: readonly Found[]): string {
  return tasks.length === 1 ? "1 task" : `${tasks.length} tasks`;
}

/** Nothing may hide: neither behind an escape sequence nor behind letters that change the direction of reading. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (letter) => {
    if (letter === "\n") return "\\n";
    return `\\u{${letter.codePointAt(0)?.toString(16)}}`;
  });
}
