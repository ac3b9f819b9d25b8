/** `loop trust`: shows what a copied project and its files would run, and records a person's trust (H2). */
import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { renderDuration } from "../../core/task/interval.ts";
import { count } from "../../core/text/figures.ts";
import { renderCadence } from "../../core/text/human.ts";
import { liveTasks } from "../../engine/tasks/tasks.ts";
import { usageError } from "../../errors.ts";
import type { WantedTask } from "../../ports/requests.ts";
import { cannotWrite } from "../../store/folder/loop-dir.ts";
import { originOf, trustOrigin } from "../../store/folder/origin.ts";
import { createTrustStore, type TrustStore } from "../../store/folder/trust.ts";
import { confirmInTerminal } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { openProject, type Project, type ProjectFlags } from "../project.ts";
import { needPerson } from "../run/person.ts";
import { commandsOf, type RepositoryFile, untrustedOf } from "./repository-commands.ts";

export interface TrustFlags extends ProjectFlags {
  readonly yes?: boolean;
  readonly list?: boolean;
  readonly revoke?: boolean;
}

/** Everything that is not trusted yet. */
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
  needPerson(project.store, "trust what a repository brings", io);
  const found = await look(project, trust);
  if (!found.isForeign && found.files.length === 0) return sayNothing(project, flags, io);
  if (!flags.yes && !io.interactive) {
    if (flags.json) io.json(view(found, false));
    else io.out(render(found));
    throw usageError(
      "`loop trust` asks first, but there is no terminal.",
      "Read what would run, then write: loop trust --yes",
    );
  }
  if (!flags.json) io.out(render(found));
  if (!flags.yes && !(await confirmInTerminal(`Trust ${describe(found)}?`))) {
    io.say("Nothing was changed.");
    return EXIT.ok;
  }
  // Files may have changed while the person was reading: only what was shown is trusted.
  if (JSON.stringify(await look(openProject(flags, io), trust)) !== JSON.stringify(found))
    throw usageError(
      `The ${found.isForeign ? "tasks" : "commands"} changed while you were reading them; nothing was trusted.`,
      "Review them again with: loop trust",
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
  else if (commandsOf(project).length === 0)
    io.out("Nothing here needs your trust: no tasks or commands came with this project.");
  else io.out("Nothing here needs your trust: you have already trusted all commands of this project.");
  return EXIT.ok;
}

/** Files first: if the trust store cannot be written, nothing changes. */
function keep(project: Project, trust: TrustStore, { isForeign, files }: Found): void {
  for (const file of files) trust.trust(file, Date.now());
  if (!isForeign) return;
  try {
    trustOrigin(project.dir);
  } catch (error) {
    throw cannotWrite(project.dir, error);
  }
}

/** Keeps the mark of the tasks: without it, the person's own tasks would need trust too. */
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

/** All tasks that could run: those of the journal, and additions and changes in tasks.json. */
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

function view({ tasks, files }: Found, trusted: boolean): object {
  return { trusted, tasks, files: files.map(({ file, commands }) => ({ file, commands })) };
}

function render({ isForeign, tasks, files }: Found): string {
  const lines = isForeign ? [`${count(tasks.length, "task")} from another machine or project:`] : [];
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
  const kept = `Trusted: ${describe(found)}.`;
  return `${kept} ${found.isForeign ? "To run the tasks: loop up" : "Changed files need your trust again."}`;
}

function describe({ isForeign, tasks, files }: Found): string {
  const parts = [
    ...(isForeign ? [count(tasks.length, "task")] : []),
    ...(files.length > 0 ? [countCommands(files)] : []),
  ];
  return parts.join(" and ");
}

function countCommands(files: readonly Pick<RepositoryFile, "commands">[]): string {
  return count(files.flatMap(({ commands }) => commands).length, "command");
}

/** Makes escape sequences and invisible or direction-changing letters visible. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (letter) => {
    if (letter === "\n") return "\\n";
    return `\\u{${letter.codePointAt(0)?.toString(16)}}`;
  });
}
