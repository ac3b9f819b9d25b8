/**
 * `loop trust`: shows what a folder from somewhere else, and files that may have come with a repository, would run,
 * and takes a person's word for it (H2).
 */
import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { renderDuration } from "../../core/task/interval.ts";
import { renderCadence } from "../../core/text/human.ts";
import { usageError } from "../../errors.ts";
import type { WantedTask } from "../../ports/requests.ts";
import { cannotWrite } from "../../store/folder/loop-dir.ts";
import { originOf, trustOrigin } from "../../store/folder/origin.ts";
import { createTrustStore, type TrustStore } from "../../store/folder/trust.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { openProject, type Project, type ProjectFlags } from "../project.ts";
import { liveTasks } from "../tasks/list.ts";
import { commandsOf, type RepositoryFile, untrustedOf } from "./repository-commands.ts";

export interface TrustFlags extends ProjectFlags {
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly list?: boolean;
  readonly revoke?: boolean;
}

/** All that nobody has trusted yet. */
interface Found {
  readonly isForeign: boolean;
  readonly tasks: readonly FoundTask[];
  readonly files: readonly RepositoryFile[];
}

interface FoundTask {
  readonly id: string | null;
  readonly schedule: string;
  readonly prompt: string;
  readonly expect: string | null;
}

export async function trustCommand(flags: TrustFlags, io: Io): Promise<number> {
  if (flags.list && flags.revoke) throw usageError("--list and --revoke cannot be used together.");
  const trust = createTrustStore(process.env);
  if (flags.list) return showList(trust, flags, io);
  const project = openProject(flags, io);
  if (flags.revoke) return revoke(project, trust, flags, io);
  const found = await look(project, trust);
  if (!found.isForeign && found.files.length === 0) return sayNothing(project, flags, io);
  if (!flags.yes && !io.interactive) {
    if (flags.json) io.json(view(found, false));
    else io.out(render(found));
    throw usageError("trust asks first; without a terminal add --yes once you have read what would run.");
  }
  if (!flags.json) io.out(render(found));
  if (!flags.yes && !(await ask(found))) {
    io.say("Nothing was changed.");
    return EXIT.ok;
  }
  // A checkout may have gone on while the question stood there: what is trusted is what was shown.
  if (JSON.stringify(await look(openProject(flags, io), trust)) !== JSON.stringify(found))
    throw usageError(
      `The ${found.isForeign ? "tasks" : "commands"} changed while they were being looked at; nothing was trusted.`,
      "Look again.",
    );
  keep(project, trust, found);
  if (flags.json) io.json(view(found, true));
  else io.out(renderKept(found));
  return EXIT.ok;
}

async function look(project: Project, trust: TrustStore): Promise<Found> {
  const isForeign = originOf(project.dir) === "foreign";
  const tasks = isForeign ? await readTasks(project) : [];
  return { isForeign, tasks, files: untrustedOf(project, trust) };
}

function sayNothing(project: Project, flags: TrustFlags, io: Io): number {
  if (flags.json) io.json(view({ isForeign: false, tasks: [], files: [] }, true));
  else if (commandsOf(project).length === 0) io.out("Nothing here comes from somewhere else.");
  else io.out("Nothing here needs your trust: you have trusted all that the project's files would run.");
  return EXIT.ok;
}

/** The files first: when there is no place to keep that, nothing was changed. */
function keep(project: Project, trust: TrustStore, { isForeign, files }: Found): void {
  for (const file of files) trust.trust(file, Date.now());
  if (!isForeign) return;
  try {
    trustOrigin(project.dir);
  } catch (error) {
    throw cannotWrite(project.dir, error);
  }
}

/** The mark of the tasks stays: without it the person's own tasks would be foreign too. */
function revoke({ root }: Project, trust: TrustStore, flags: TrustFlags, io: Io): number {
  const folder = realpathSync(root);
  const inside = trust.list().filter(({ path }) => path.startsWith(folder + sep));
  const paths = [...new Set(inside.map(({ path }) => path))];
  for (const path of paths) trust.revoke(path);
  const revoked = paths.map((path) => relative(folder, path));
  if (flags.json) io.json({ revoked });
  else if (revoked.length === 0) io.out("No file of this project was trusted.");
  else io.out(`No longer trusted: ${revoked.map(visible).join(", ")}.`);
  return EXIT.ok;
}

function showList(trust: TrustStore, flags: TrustFlags, io: Io): number {
  const entries = trust
    .list()
    .map(({ path, sha256, at }) => ({ path, sha256, at: new Date(at).toISOString() }));
  if (flags.json) io.json({ trusted: entries });
  else if (entries.length === 0) io.out("No file is trusted.");
  else
    io.out(
      entries.map(({ path, sha256, at }) => `${at}  ${sha256.slice(0, 12)}  ${visible(path)}`).join("\n"),
    );
  return EXIT.ok;
}

/** All that could run: what the journal knows, and what tasks.json would add to it or change. */
async function readTasks({ store }: Project): Promise<readonly FoundTask[]> {
  const known = liveTasks(store).map(
    ({ id, cadence, prompt, expect }): FoundTask => ({
      id,
      schedule: renderCadence(cadence),
      prompt,
      expect,
    }),
  );
  const written = ((await store.requests?.listed()) ?? []).map(fromFile);
  const isNew = (task: FoundTask) =>
    !known.some(
      ({ id, prompt, expect }) => id === task.id && prompt === task.prompt && expect === task.expect,
    );
  return [...known, ...written.filter(isNew)];
}

function fromFile({ id, cron, everyMs, nextFireAt, prompt, expect }: WantedTask): FoundTask {
  const every = everyMs == null ? null : `every ${renderDuration(everyMs)}`;
  const schedule = `${cron ?? every ?? nextFireAt ?? "no time"} (tasks.json)`;
  return { id: id ?? null, schedule, prompt, expect: expect ?? null };
}

async function ask(found: Found): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: `Trust ${count(found)}?`, initialValue: false });
  return !isCancel(answer) && answer;
}

function view({ tasks, files }: Found, trusted: boolean): object {
  return { trusted, tasks, files: files.map(({ file, commands }) => ({ file, commands })) };
}

function render({ isForeign, tasks, files }: Found): string {
  const lines = isForeign ? [`${countTasks(tasks)} from somewhere else:`] : [];
  for (const { id, schedule, prompt, expect } of tasks) {
    lines.push(`  ${id ?? "(new)"}  ${visible(schedule)}`, `    prompt: ${visible(prompt)}`);
    if (expect !== null) lines.push(`    runs:   ${visible(expect)}`);
  }
  for (const { file, commands } of files) {
    lines.push(`${countCommands([{ commands }])} in ${file}:`);
    for (const { name, command } of commands)
      lines.push(`  ${visible(name)}`, `    runs:   ${visible(command)}`);
  }
  return lines.join("\n");
}

function renderKept(found: Found): string {
  const kept = `Trusted: ${count(found)}.`;
  if (!found.isForeign) return `${kept} What is changed asks again.`;
  return `${kept} ${found.files.length === 0 ? "They run" : "The tasks run"} with: loop up`;
}

function count({ isForeign, tasks, files }: Found): string {
  const parts = [
    ...(isForeign ? [countTasks(tasks)] : []),
    ...(files.length > 0 ? [countCommands(files)] : []),
  ];
  return parts.join(" and ");
}

function countTasks(tasks: readonly FoundTask[]): string {
  return tasks.length === 1 ? "1 task" : `${tasks.length} tasks`;
}

function countCommands(files: readonly Pick<RepositoryFile, "commands">[]): string {
  const total = files.reduce((sum, { commands }) => sum + commands.length, 0);
  return total === 1 ? "1 command" : `${total} commands`;
}

/** Nothing may hide: neither behind an escape sequence nor behind letters that change the direction of reading. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (letter) => {
    if (letter === "\n") return "\\n";
    return `\\u{${letter.codePointAt(0)?.toString(16)}}`;
  });
}
