/** `loop trust`: shows what a copied project and its files would run, and records a person's trust (H2). */
import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { type ProjectServer, projectServers } from "../../agents/capabilities/servers.ts";
import type { Loop } from "../../core/loop.ts";
import { renderDuration } from "../../core/task/interval.ts";
import { count } from "../../core/text/figures.ts";
import { iso } from "../../core/views/moment.ts";
import { type RunningLoop, whatRuns } from "../../core/views/what-runs.ts";
import { surroundingsError, usageError } from "../../errors.ts";
import { trackedEngineFiles } from "../../git/tracked.ts";
import type { HeldLoop } from "../../ports/loops.ts";
import type { WantedTask } from "../../ports/requests.ts";
import type { Store } from "../../ports/store.ts";
import { whileWriting } from "../../store/folder/loop-dir.ts";
import { createTrustStore, type TrustStore } from "../../store/folder/trust.ts";
import { acceptPast, copyJournal, type JournalCopy, takeOverJournal } from "../../store/journal/take-over.ts";
import { originOf } from "../../store/signed/origin.ts";
import { currentMask } from "../../system/secrets.ts";
import { confirmInTerminal } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { answer, type Io } from "../io.ts";
import { openProject, type Project, type ProjectFlags } from "../project.ts";
import { needPerson } from "../run/person.ts";
import { commandsOf, type RepositoryFile, untrustedOf } from "./repository-commands.ts";

export interface TrustFlags extends ProjectFlags {
  readonly yes?: boolean;
  readonly list?: boolean;
  readonly revoke?: boolean;
}

/** Stands for the id of a task that has none yet. */
const NEW = "(new)";

/** Everything that is not trusted yet. */
interface Found {
  /** The foreign journal as it is now; null: the journal is signed with the user's key. */
  readonly journal: JournalCopy | null;
  /** Loops of a foreign journal, and tasks that tasks.json adds or changes. */
  readonly loops: readonly RunningLoop[];
  /** Loops that were further than the journal says. */
  readonly held: readonly HeldLoop[];
  readonly files: readonly FoundFile[];
  /** Commands in tasks.json, which a foreign folder shows with its loops. */
  readonly edits: readonly RepositoryFile[];
  /** The agents decide whether they start these. */
  readonly servers: readonly ProjectServer[];
}

interface FoundFile extends RepositoryFile {
  /** What the person trusted before in this file; null: nothing. */
  readonly before: readonly string[] | null;
}

export async function trustCommand(flags: TrustFlags, io: Io): Promise<number> {
  if (flags.list && flags.revoke) throw usageError("--list and --revoke cannot be used together.");
  const trust = createTrustStore(process.env);
  if (flags.list) return showList(trust, flags, io);
  const project = openProject(flags, io);
  if (flags.revoke) return revoke(project, trust, flags, io);
  needPerson(project.store, "trust what a repository brings", io);
  const found = await look(project, trust);
  if (found.journal === null && found.held.length === 0 && found.files.length === 0)
    return sayNothing(project, flags, io);
  await refuseTracked(project);
  if (!flags.yes && !io.interactive) {
    answer(flags, io, view(found, false), render(found));
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
      "What you were shown changed while you were reading it; nothing was trusted.",
      "Review it again with: loop trust",
    );
  keep(project, trust, found);
  return answer(flags, io, view(found, true), renderKept(found));
}

async function look({ store, root, dir }: Project, trust: TrustStore): Promise<Found> {
  const isForeign = originOf(dir) === "foreign";
  const held = store.faults().flatMap((fault) => (fault.kind === "held" ? fault.loops : []));
  const edits = await editsOf(store);
  const files = [...untrustedOf({ root, dir }, trust), ...(isForeign ? [] : edits)];
  const known = trust.list();
  return {
    journal: isForeign ? copyJournal(dir) : null,
    loops: isForeign ? [...[...store.loops()].map(whatRuns), ...(await addedTasks(store))] : [],
    held,
    files: files.map((file) => {
      const earlier = known.filter(({ path }) => path === realpathSync(file.path)).at(-1);
      return { ...file, before: earlier?.commands ?? null };
    }),
    edits,
    servers: serversOf(root),
  };
}

function serversOf(root: string): readonly ProjectServer[] {
  const mask = currentMask();
  return projectServers(root).map((server) => ({ ...server, command: mask.text(server.command) }));
}

/** Commands in tasks.json that the person has not trusted. Each is trusted by itself. */
async function editsOf({ requests }: Store): Promise<readonly RepositoryFile[]> {
  const found = (await requests?.untrustedCommands()) ?? [];
  return found.map(({ path, command }) => ({
    file: ".loop/tasks.json",
    path,
    content: command,
    commands: [{ name: "expects", command }],
  }));
}

/** Git would bring the next version of these files without a question. */
async function refuseTracked({ root }: Project): Promise<void> {
  const { files, problem } = await trackedEngineFiles(root);
  const [first] = files;
  if (problem !== null)
    throw surroundingsError(
      `Git does not tell whether it tracks files of .loop, and a pull could change those: ${problem}.`,
      "Make `git status` work here first. Nothing was trusted.",
    );
  if (first !== undefined)
    throw surroundingsError(
      `Git tracks ${first}, so a pull could change what runs. It cannot be trusted.`,
      "Remove it from git first: git rm -r --cached .loop",
    );
}

function sayNothing(project: Project, flags: TrustFlags, io: Io): number {
  const why =
    commandsOf(project).length === 0
      ? "no loops or commands came with this project"
      : "you have already trusted all commands of this project";
  const servers = serversOf(project.root);
  const nothing = view({ journal: null, loops: [], held: [], files: [], edits: [], servers }, true);
  const lines = [`Nothing here needs your trust: ${why}.`, ...renderServers(servers)];
  return answer(flags, io, nothing, lines.join("\n"));
}

/** Files first: if the trust store cannot be written, nothing changes. */
function keep({ dir }: Project, trust: TrustStore, { journal, held, files, edits }: Found): void {
  for (const file of [...files, ...edits])
    trust.trust({ ...file, commands: file.commands.map(({ command }) => command) }, Date.now());
  whileWriting(dir, () => {
    if (journal !== null) takeOverJournal(dir, journal);
    else if (held.length > 0) acceptPast(dir);
  });
}

/** Keeps the mark of the tasks: without it, the person's own tasks would need trust too. */
function revoke({ root }: Project, trust: TrustStore, flags: TrustFlags, io: Io): number {
  const folder = realpathSync(root);
  const inside = trust.list().filter(({ path }) => path.startsWith(folder + sep));
  const paths = [...new Set(inside.map(({ path }) => path))];
  for (const path of paths) trust.revoke(path);
  const revoked = paths.map((path) => relative(folder, path));
  const text =
    revoked.length === 0
      ? "No file of this project was trusted."
      : `No longer trusted: ${revoked.map(visible).join(", ")}.`;
  return answer(flags, io, { revoked }, text);
}

function showList(trust: TrustStore, flags: TrustFlags, io: Io): number {
  const trusted = trust.list().map(({ path, sha256, at }) => ({ path, sha256, at: iso(at) }));
  const lines = trusted.map(({ path, sha256, at }) => `${at}  ${sha256.slice(0, 12)}  ${visible(path)}`);
  return answer(flags, io, { trusted }, lines.join("\n") || "No file is trusted.");
}

/** Tasks that tasks.json adds to the journal, or that it changes. */
async function addedTasks(store: Store): Promise<readonly RunningLoop[]> {
  const known = new Map<string | undefined, Loop>([...store.loops()].map((loop) => [loop.id, loop]));
  const isNew = ({ id, prompt, expect }: WantedTask): boolean => {
    const task = known.get(id);
    return task?.kind !== "task" || task.prompt !== prompt || task.expect !== (expect ?? null);
  };
  return ((await store.requests?.listed()) ?? []).filter(isNew).map(fromFile);
}

function fromFile({ id, cron, everyMs, nextFireAt, prompt, expect }: WantedTask): RunningLoop {
  const every = everyMs == null ? null : `every ${renderDuration(everyMs)}`;
  const expectation = expect == null ? [] : [{ name: "expects", command: expect }];
  return {
    id: id ?? NEW,
    kind: "task",
    when: `${cron ?? every ?? nextFireAt ?? "no time"} (tasks.json)`,
    runs: [{ name: "prompt", command: prompt }, ...expectation],
  };
}

function view({ loops, held, files, servers }: Found, trusted: boolean): object {
  const tasks = loops.filter(({ kind }) => kind === "task");
  return {
    trusted,
    tasks: tasks.map(({ id, when, runs: [prompt, expect] }) => ({
      id: id === NEW ? null : id,
      schedule: when,
      prompt: prompt?.command,
      expect: expect?.command ?? null,
    })),
    loops,
    held: held.map(({ id, has, had }) => ({ id, version: has, was: had })),
    files: files.map(({ file, commands, before }) => ({ file, commands, before })),
    servers,
  };
}

function render({ journal, loops, held, files, servers }: Found): string {
  const lines =
    journal === null
      ? []
      : [`${count(loops.length, "loop")} without the signature of your key, and everything that runs:`];
  for (const { id, kind, when, runs } of loops) {
    lines.push(`  ${kind} ${visible(id)}  ${visible(when)}`);
    for (const { name, command } of runs) lines.push(`    ${visible(name)}: ${visible(command)}`);
  }
  if (held.length > 0) lines.push(`${count(held.length, "loop")} whose newest state the journal has lost:`);
  for (const { id, left, has, had } of held) {
    lines.push(`  ${id}  was at version ${had}, is at version ${has} now`);
    for (const { name, command } of left === null ? [] : whatRuns(left).runs)
      lines.push(`    ${visible(name)}: ${visible(command)}`);
  }
  for (const { file, commands, before } of files) {
    lines.push(
      `${countCommands([{ commands }])} in ${file}${before === null ? "" : ", + since you trusted it"}:`,
    );
    const isNew = (command: string) => before !== null && !before.includes(command);
    for (const { name, command } of commands)
      lines.push(`${isNew(command) ? "+" : " "} ${visible(name)}`, `    runs:   ${visible(command)}`);
    const now = commands.map(({ command }) => command);
    for (const gone of before?.filter((command) => !now.includes(command)) ?? [])
      lines.push(`- no longer runs: ${visible(gone)}`);
  }
  return [...lines, ...renderServers(servers)].join("\n");
}

/** They are no commands of a loop, so trust does not change whether an agent starts them. */
function renderServers(servers: readonly ProjectServer[]): readonly string[] {
  if (servers.length === 0) return [];
  const lines = servers.map(
    ({ client, where, name, command }) => `  ${client} ${visible(name)} (${where}): ${visible(command)}`,
  );
  return [
    "MCP servers in files of this project. Each agent decides by its own rules if it starts them:",
    ...lines,
  ];
}

function renderKept(found: Found): string {
  const kept = `Trusted: ${describe(found)}.`;
  const isRunnable = found.journal !== null || found.held.length > 0;
  return `${kept} ${isRunnable ? "To run the tasks: loop up" : "Changed files need your trust again."}`;
}

function describe({ journal, loops, held, files }: Found): string {
  const parts = [
    ...(journal !== null ? [count(loops.length, "loop")] : []),
    ...(held.length > 0 ? [`the state that is left of ${count(held.length, "loop")}`] : []),
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
