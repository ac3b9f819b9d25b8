/**
 * Starts an agent that is a process of its own, so that neither the death of the runner nor a second runner
 * can make a turn run twice or lose its result. Owns `.loop/runs/<task>/<fire>/`:
 *
 *   prompt.txt  answer.txt  stderr.txt    what goes in and comes out, as files: they outlive the runner
 *   intent.<token>                        on disk before the start: the boot in which a start was possible
 *   claim.<token>                         who was first: the wrapper (its process) or a recovery (`void`)
 *   exit.<token>                          the exit code, written by the wrapper, complete with its newline
 *
 * Invariants:
 * 1. The agent of a token starts only after its wrapper created the claim, and a claim is created once.
 * 2. Files of the turn are opened by the wrapper after the claim: a runner that was frozen for an hour cannot
 *    truncate what a later attempt wrote.
 * 3. "never" is answered only for a claim that says so; whatever is torn or unreadable is "lost".
 * 4. A turn that ended or was stopped leaves no process of its group; a stopped one none that it started.
 * 5. Nothing here throws for what an agent, the disk or the system does.
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { constants as osConstants } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { ProcessRef } from "../core/loop.ts";
import type { Agent, Turn, TurnControl, TurnEnd, TurnFate } from "../ports.ts";
import {
  bootId,
  isAlive,
  procStart,
  startFrom,
  startIfBy,
  stopTree,
  type Tree,
  treeMembers,
} from "../store/process.ts";

/** A turn whose process ended by itself. */
export interface Finished {
  /** 128 + n when signal n ended it, as shells say it. */
  readonly exitCode: number;
  /** The end of what it printed, at most `answerCapBytes`. */
  readonly answer: string;
  readonly stderr: string;
}

export interface LaunchOptions {
  readonly now?: () => number;
  /** The runner's environment, which the agent gets too. */
  readonly env?: NodeJS.ProcessEnv;
  readonly shell?: string;
  /** Between SIGTERM and SIGKILL. */
  readonly killGraceMs?: number;
  /** Of answer.txt and of stderr.txt each; more ends the turn. */
  readonly maxOutputBytes?: number;
  readonly sizeCheckMs?: number;
  /** How many run folders of a task are kept. */
  readonly keepRuns?: number;
}

export interface LaunchSpec extends LaunchOptions {
  readonly projectDir: string;
  readonly argv: readonly [string, ...string[]];
  readonly answerCapBytes?: number;
  readonly readEnd: (finished: Finished) => TurnEnd;
}

export const ANSWER_CAP_BYTES = 1024 * 1024;
const LONGEST_TIMER_MS = 30_000;
const FOLLOW_MS = 250;
/** The wrapper's own exit code, which an agent may have too: only together with the claim it says something. */
const NOT_CLAIMED = 97;
const NO_EXIT_CODE = "the agent's process ended without an exit code";

// Only builtins until the claim is there: nothing to fork, nothing to find on PATH, nothing to hang on.
// The claim is written under `set -C`, which opens with O_EXCL. `exec` keeps builtins and functions out.
const WRAPPER = `
d=$1 t=$2 u=$3
shift 3
b= s=
[ -r /proc/sys/kernel/random/boot_id ] && read -r b </proc/sys/kernel/random/boot_id
[ -r "/proc/$$/stat" ] && read -r s <"/proc/$$/stat"
umask 077
set -C
printf 'pid %s\\nboot %s\\nstat %s\\nend\\n' "$$" "$b" "$s" >"$d/claim.$t" || exit ${NOT_CLAIMED}
set +C
( umask "$u"; exec "$@" ) <"$d/prompt.txt" >"$d/answer.txt" 2>"$d/stderr.txt"
c=$?
printf '%s\\n' "$c" >"$d/exit.$t"
exit "$c"
`;

type Stop =
  | { readonly kind: "aborted" }
  | { readonly kind: "deadline" }
  | { readonly kind: "flood"; readonly file: string };
type Settings = Required<Omit<LaunchSpec, "env">> & { readonly env: NodeJS.ProcessEnv };

/** `run` and `reconcile` of an agent that is started as `argv` with the prompt on its stdin. */
export function createLauncher(spec: LaunchSpec): Pick<Agent, "run" | "reconcile"> {
  const settings: Settings = {
    ...spec,
    projectDir: resolve(spec.projectDir),
    now: spec.now ?? Date.now,
    env: spec.env ?? process.env,
    shell: spec.shell ?? "/bin/sh",
    killGraceMs: spec.killGraceMs ?? 3_000,
    maxOutputBytes: spec.maxOutputBytes ?? 64 * 1024 * 1024,
    sizeCheckMs: spec.sizeCheckMs ?? 1_000,
    keepRuns: spec.keepRuns ?? 20,
    answerCapBytes: spec.answerCapBytes ?? ANSWER_CAP_BYTES,
  };
  return {
    run: (turn, control) => runTurn(settings, turn, control),
    reconcile: (turn, control) => reconcileTurn(settings, turn, control),
  };
}

/** Where the files of a turn are. Throws for an id that is no plain name. */
export function runFolder(projectDir: string, turn: Pick<Turn, "taskId" | "fireId">): string {
  for (const id of [turn.taskId, turn.fireId]) {
    if (!/^[A-Za-z0-9._-]+$/.test(id) || id === "." || id === "..") {
      throw new Error(`${JSON.stringify(id)} is no valid id`);
    }
  }
  return join(resolve(projectDir), ".loop", "runs", turn.taskId, turn.fireId);
}

/** Why a process that ended with this code counts as failed. */
export function describeExit(finished: Finished): string {
  const code = finished.exitCode;
  const line = lastLine(finished.stderr) || lastLine(finished.answer);
  const signal = Object.entries(osConstants.signals).find(([, number]) => number === code - 128)?.[0];
  if (code > 128 && signal !== undefined) return `killed by ${signal}`;
  const known = { 126: "the command is not executable", 127: "the command was not found" }[code];
  return [`exit ${code}`, known, line].filter((part) => part !== undefined && part !== "").join(": ");
}

async function runTurn(settings: Settings, turn: Turn, control: TurnControl): Promise<TurnEnd> {
  const startedAt = settings.now();
  if (control.signal.aborted) return { kind: "cancelled" };
  // A runner that was frozen since it intended the turn must not start it now.
  if (startedAt >= turn.deadlineAt) return failed("its time was over before it could start");
  let folder: string;
  let child: ChildProcess;
  try {
    folder = prepareFolder(settings, turn);
  } catch (error) {
    return failed(`the run folder could not be prepared: ${sentence(error)}`);
  }
  try {
    child = spawnWrapper(settings, turn, folder);
  } catch (error) {
    return failed(`the agent could not be started: ${sentence(error)}`);
  }
  const exited = exitOf(child);
  if (child.pid === undefined) return failed(`the agent could not be started: ${sentence(await exited)}`);
  const tree = treeOf(settings, turn, child.pid);
  try {
    control.onStarted({ pid: child.pid, start: procStart(child.pid) });
  } catch (error) {
    await stopTree(tree, settings.killGraceMs);
    throw error;
  }
  const stop = await firstStop(settings, turn, control, folder, exited);
  if (stop !== null) {
    await stopTree(tree, settings.killGraceMs);
    child.unref();
    return closeTurn(settings, folder, stoppedEnd(settings, folder, stop, turn.deadlineAt - startedAt));
  }
  await stopTree({ ...tree, marks: [] }, settings.killGraceMs);
  const exit = await exited;
  const end =
    exit === NOT_CLAIMED && !isClaimedBy(folder, turn.token, child.pid)
      ? failed(describeRefusal(folder, turn.token))
      : endOf(settings, folder, readExit(folder, turn.token) ?? exit);
  return closeTurn(settings, folder, end);
}

async function reconcileTurn(settings: Settings, turn: Turn, control: TurnControl): Promise<TurnFate> {
  let folder: string;
  let claim: Claim;
  try {
    folder = openFolder(settings, turn);
    claim = await settleClaim(folder, turn.token);
  } catch (error) {
    return { kind: "lost", reason: `its run folder could not be read: ${sentence(error)}` };
  }
  if (claim.kind === "void") return { kind: "never" };
  if (claim.kind === "torn") return { kind: "lost", reason: claim.reason };
  // The group of a wrapper that is gone may belong to somebody else by now: then only the marks tell.
  const tree = treeOf(settings, turn, isAlive(claim.process) ? claim.process.pid : null);
  if (readExit(folder, turn.token) === null && tree.group !== null) {
    const end = followTurn(settings, turn, control, folder, claim, tree);
    return { kind: "running", process: claim.process, end };
  }
  // read again: it may have ended between the two looks
  const code = readExit(folder, turn.token);
  await stopTree(strays(tree, claim.process.pid), settings.killGraceMs);
  if (code === null) return { kind: "lost", reason: NO_EXIT_CODE };
  return { kind: "ended", end: closeTurn(settings, folder, endOf(settings, folder, code)) };
}

/** Another runner's child sends no event: this is the one place that polls. */
async function followTurn(
  settings: Settings,
  turn: Turn,
  control: TurnControl,
  folder: string,
  claim: Claim & { kind: "taken" },
  tree: Tree,
): Promise<TurnEnd> {
  let poll: NodeJS.Timeout | undefined;
  const over = new Promise<void>((done) => {
    poll = setInterval(() => {
      if (readExit(folder, turn.token) !== null || !isAlive(claim.process)) done();
    }, FOLLOW_MS);
  });
  const stop = await firstStop(settings, turn, control, folder, over);
  clearInterval(poll);
  if (stop !== null) {
    await stopTree(tree, settings.killGraceMs);
    return closeTurn(settings, folder, stoppedEnd(settings, folder, stop, turn.deadlineAt - claim.at));
  }
  const code = readExit(folder, turn.token);
  await stopTree(strays(tree, claim.process.pid), settings.killGraceMs);
  return closeTurn(settings, folder, code === null ? failed(NO_EXIT_CODE) : endOf(settings, folder, code));
}

/** Resolves with the first reason to stop the turn, or with null when it was over before. */
function firstStop(
  settings: Settings,
  turn: Turn,
  control: TurnControl,
  folder: string,
  over: Promise<unknown>,
): Promise<Stop | null> {
  return new Promise((done) => {
    let timer: NodeJS.Timeout | undefined;
    let settled = false;
    const settle = (stop: Stop | null): void => {
      settled = true;
      clearTimeout(timer);
      clearInterval(sizes);
      control.signal.removeEventListener("abort", onAbort);
      done(stop);
    };
    const onAbort = (): void => settle({ kind: "aborted" });
    // in short pieces: a timer stands still while the machine sleeps, and the clock may be set
    const tick = (): void => {
      const left = turn.deadlineAt - settings.now();
      if (left <= 0) settle({ kind: "deadline" });
      else timer = setTimeout(tick, Math.min(left, LONGEST_TIMER_MS));
    };
    const sizes = setInterval(() => {
      const file = ["answer.txt", "stderr.txt"].find(
        (name) => look(join(folder, name)).size > settings.maxOutputBytes,
      );
      if (file !== undefined) settle({ kind: "flood", file });
    }, settings.sizeCheckMs);
    control.signal.addEventListener("abort", onAbort);
    over.then(() => {
      if (!settled) settle(null);
    });
    if (control.signal.aborted) onAbort();
    else tick();
  });
}

function endOf(settings: Settings, folder: string, code: number | Error): TurnEnd {
  if (code instanceof Error) return failed(`the agent could not be started: ${sentence(code)}`);
  const answer = readTail(join(folder, "answer.txt"), settings.answerCapBytes);
  if (answer === null) return failed("the run folder was deleted or changed while the agent ran");
  const stderr = readTail(join(folder, "stderr.txt"), 64 * 1024) ?? "";
  return settings.readEnd({ exitCode: code, answer, stderr });
}

function isClaimedBy(folder: string, token: number, pid: number): boolean {
  const claim = readClaim(folder, token);
  return claim?.kind === "taken" && claim.process.pid === pid;
}

function describeRefusal(folder: string, token: number): string {
  const claim = readClaim(folder, token);
  if (claim?.kind === "void") return "the turn was withdrawn before it started";
  if (claim?.kind === "taken") return "the turn was started before, under the same token";
  return "the agent was not started: its run folder cannot be written to";
}

function stoppedEnd(settings: Settings, folder: string, stop: Stop, allowedMs: number): TurnEnd {
  if (stop.kind === "aborted") return { kind: "cancelled" };
  const text = readTail(join(folder, "answer.txt"), settings.answerCapBytes) ?? "";
  const soFar = settings.readEnd({ exitCode: 0, answer: text, stderr: "" });
  const reason =
    stop.kind === "flood"
      ? `stopped because it printed more than ${renderSize(settings.maxOutputBytes)} to ${stop.file}`
      : `timed out after ${renderLength(allowedMs)}`;
  if (soFar.kind === "cancelled") return failed(reason);
  return { kind: "failed", reason, answer: soFar.answer, usage: soFar.usage };
}

function closeTurn(settings: Settings, folder: string, end: TurnEnd): TurnEnd {
  try {
    pruneRuns(dirname(folder), folder, settings.keepRuns);
  } catch {
    // old folders are a matter of tidiness, the turn's end is not
  }
  return end;
}

function failed(reason: string): TurnEnd {
  return { kind: "failed", reason, answer: "", usage: null };
}

function spawnWrapper(settings: Settings, turn: Turn, folder: string): ChildProcess {
  const umask = process.umask().toString(8);
  return spawn(
    settings.shell,
    ["-c", WRAPPER, "loop-turn", folder, String(turn.token), umask, ...settings.argv],
    {
      cwd: settings.projectDir,
      detached: true,
      stdio: "ignore",
      env: {
        ...settings.env,
        PWD: settings.projectDir,
        LOOP_ID: turn.taskId,
        LOOP_FIRE_ID: turn.fireId,
        LOOP_SLOT: new Date(turn.slot).toISOString(),
        LOOP_KIND: turn.fireKind,
        LOOP_PROMPT_FILE: join(folder, "prompt.txt"),
        LOOP_PROJECT: settings.projectDir,
      },
    },
  );
}

/** Never rejects: a child that could not be started resolves with the error. */
function exitOf(child: ChildProcess): Promise<number | Error> {
  return new Promise((done) => {
    child.once("error", done);
    child.once("exit", (code, signal) =>
      done(code ?? 128 + (signal === null ? 0 : osConstants.signals[signal])),
    );
  });
}

function treeOf(settings: Settings, turn: Turn, group: number | null): Tree {
  return { group, marks: [`LOOP_FIRE_ID=${turn.fireId}`, `LOOP_PROJECT=${settings.projectDir}`] };
}

/** What an ended turn left in its group; found by the marks where the group cannot be vouched for. */
function strays(tree: Tree, pid: number): Tree {
  if (tree.group !== null) return { ...tree, marks: [] };
  const group = new Set(treeMembers({ group: pid, marks: [] }));
  // A pid is not given out again while a group has its number: one marked member proves whose group it is.
  return treeMembers(tree).some((member) => group.has(member))
    ? { group: pid, marks: [] }
    : { group: null, marks: [] };
}

function openFolder(settings: Settings, turn: Turn): string {
  if (!Number.isSafeInteger(turn.token)) throw new Error(`${turn.token} is no valid token`);
  const folder = runFolder(settings.projectDir, turn);
  if (!existsSync(settings.projectDir)) throw new Error(`there is no folder ${settings.projectDir}`);
  refuseLinks(settings.projectDir, folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** What a repository brings along as `.loop` must not make us write elsewhere. */
function refuseLinks(projectDir: string, folder: string): void {
  const root = realpathSync(projectDir);
  for (let path = folder; path !== projectDir; path = dirname(path)) {
    if (!existsSync(path)) {
      // a link to nowhere does not exist either, and mkdir would follow it
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
        throw new Error(`${path} leads nowhere`);
    } else if (!realpathSync(path).startsWith(root + sep))
      throw new Error(`${path} leads out of the project`);
  }
}

function prepareFolder(settings: Settings, turn: Turn): string {
  const folder = openFolder(settings, turn);
  chmodSync(folder, 0o700);
  for (const name of ["answer.txt", "stderr.txt"]) {
    const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (stat !== undefined && !stat.isFile()) throw new Error(`${name} in it is not a file`);
  }
  replaceFile(join(folder, "prompt.txt"), turn.text, turn.token);
  replaceFile(join(folder, `intent.${turn.token}`), `${bootId() ?? ""}\n`, turn.token);
  for (const path of [folder, dirname(folder), dirname(dirname(folder))]) syncFolder(path);
  return folder;
}

function replaceFile(path: string, text: string, token: number): void {
  const temporary = `${path}.${process.pid}.${token}.tmp`;
  try {
    writeSynced(temporary, text);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function writeSynced(path: string, text: string): void {
  rmSync(path, { force: true });
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

type Claim =
  | { readonly kind: "void" }
  | { readonly kind: "torn"; readonly reason: string }
  | { readonly kind: "taken"; readonly process: ProcessRef; readonly at: number };

/** Makes sure that there is a claim, by taking it if nobody did, and says whose it is. */
async function settleClaim(folder: string, token: number): Promise<Claim> {
  const intent = readSmall(join(folder, `intent.${token}`))?.trim();
  const sameBoot = intent === undefined || intent === (bootId() ?? "");
  // After a power cut a claim may be missing although the agent ran: it is not synced, the intent is.
  takeClaim(folder, token, sameBoot ? "void\n" : "lost\n");
  // The wrapper creates the claim and then writes it, an instant later. Counted, not timed: after a suspend
  // it gets its instant too.
  for (let attempt = 0; attempt < (sameBoot ? 40 : 1); attempt++) {
    const claim = readClaim(folder, token);
    if (claim === null) throw new Error("the claim cannot be read");
    if (claim.kind !== "torn" || claim.reason !== HALF_WRITTEN) return claim;
    await new Promise((done) => setTimeout(done, 50));
  }
  return { kind: "torn", reason: HALF_WRITTEN };
}

const HALF_WRITTEN = "the claim of the turn was only half written";

/** Linked, not written in place: who sees our claim sees all of it. */
function takeClaim(folder: string, token: number, text: string): void {
  const claim = join(folder, `claim.${token}`);
  const temporary = `${claim}.${process.pid}.tmp`;
  writeSynced(temporary, text);
  try {
    linkSync(temporary, claim);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    // a file system without hard links
    try {
      const file = openSync(claim, "wx", 0o600);
      writeSync(file, text);
      closeSync(file);
    } catch (again) {
      if (codeOf(again) !== "EEXIST") throw again;
    }
  } finally {
    unlinkSync(temporary);
  }
}

function readClaim(folder: string, token: number): Claim | null {
  const path = join(folder, `claim.${token}`);
  const text = readSmall(path);
  if (text === null) return null;
  if (text === "void\n") return { kind: "void" };
  if (text === "lost\n")
    return { kind: "torn", reason: "the machine stopped while the turn was being started" };
  const [, pid, boot = "", stat = ""] = /^pid (\d+)\nboot (.*)\nstat (.*)\nend\n$/.exec(text) ?? [];
  if (pid === undefined) return { kind: "torn", reason: HALF_WRITTEN };
  const at = look(path).mtimeMs;
  const start = stat === "" ? startIfBy(Number(pid), at) : startFrom(boot, stat);
  return { kind: "taken", process: { pid: Number(pid), start }, at };
}

/** null: not there, or not complete yet. */
function readExit(folder: string, token: number): number | null {
  const [, code] = /^(\d+)\n$/.exec(readSmall(join(folder, `exit.${token}`)) ?? "") ?? [];
  return code === undefined ? null : Number(code);
}

function pruneRuns(taskFolder: string, current: string, keep: number): void {
  const runs = readdirSync(taskFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => ({
      path: join(taskFolder, entry.name),
      at: look(join(taskFolder, entry.name)).mtimeMs,
    }))
    .filter((run) => run.path !== current)
    .sort((a, b) => b.at - a.at);
  for (const run of runs.slice(Math.max(0, keep - 1))) {
    if (!isRunning(run.path)) rmSync(run.path, { recursive: true, force: true });
  }
}

function isRunning(folder: string): boolean {
  return readdirSync(folder).some((name) => {
    const token = Number(/^claim\.(\d+)$/.exec(name)?.[1] ?? Number.NaN);
    const claim = Number.isNaN(token) ? null : readClaim(folder, token);
    return claim?.kind === "taken" && readExit(folder, token) === null && isAlive(claim.process);
  });
}

/** Size and time of last change; zeros for what cannot be looked at. */
function look(path: string): { size: number; mtimeMs: number } {
  try {
    return statSync(path);
  } catch {
    return { size: 0, mtimeMs: 0 };
  }
}

function readSmall(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** The end of a file that an agent wrote, and may have replaced by anything: a link, a pipe, nothing. */
function readTail(path: string, cap: number): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return null;
    const bytes = Buffer.alloc(Math.min(stat.size, cap));
    const length = readSync(file, bytes, 0, bytes.length, stat.size - bytes.length);
    let from = 0;
    // not in the middle of a character
    while (stat.size > cap && from < 4 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
    return bytes.toString("utf8", from, length);
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

function lastLine(text: string): string {
  const lines = stripVTControlCharacters(text.slice(-16_384)).split(/[\r\n]+/);
  const clean = lines.map((line) => line.replace(/[\p{Cc}\p{Cf}]/gu, "").trim());
  return Array.from(clean.findLast((line) => line !== "") ?? "")
    .slice(0, 200)
    .join("");
}

function renderLength(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  // what the engine did before the start is not worth a "59m 59s"
  const seconds = ms < 600_000 ? Math.round(ms / 1_000) : Math.round(ms / 60_000) * 60;
  const parts = [
    [Math.floor(seconds / 3_600), "h"],
    [Math.floor((seconds % 3_600) / 60), "m"],
    [seconds % 60, "s"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count}${unit}`)
    .join("");
}

function renderSize(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KiB` : `${Math.round(bytes / 1024 / 1024)} MiB`;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

function sentence(error: unknown): string {
  const known: Record<string, string> = {
    ENOSPC: "the disk is full",
    EDQUOT: "the disk quota is used up",
    EROFS: "the file system is read-only",
    EACCES: "permission denied",
    EAGAIN: "the system has no room for another process",
    E2BIG: "the command or the environment is too long",
  };
  const text = error instanceof Error ? error.message : String(error);
  const word = known[codeOf(error) ?? ""];
  return lastLine(word === undefined ? text : `${word} (${text})`);
}
