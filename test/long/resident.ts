/**
 * A project with a one-second task, real `loop up` processes on it, and the books: what the agents themselves
 * recorded, held against what `loop history` says.
 */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TaskView } from "../../src/core/views/task-view.ts";
import type { LeaseFile } from "../../src/store/folder/lease-file.ts";
import type { Entry } from "../../src/store/journal/entry.ts";
import { treeMembers } from "../../src/system/process-tree.ts";
import { linesIn } from "../store/fixtures/lines.ts";
import { giveKey } from "../support/cli.ts";
import { asTask } from "../support/only-tasks.ts";
import { pauseCommand } from "../support/pause.ts";
import { until } from "../support/until.ts";

export const isLong = Boolean(process.env.LOOP_TEST_LONG);

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** A copy of the built command of its own: whoever builds anew meanwhile must not pull it from under us. */
export async function installCommand(): Promise<{ command: string; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), "loop-command-"));
  const command = join(folder, "dist", "loop.cjs");
  await until(async () => {
    try {
      rmSync(join(folder, "dist"), { recursive: true, force: true });
      cpSync(join(ROOT, "dist"), join(folder, "dist"), { recursive: true });
      cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
      await run(process.execPath, [command, "up", "--help"]);
      await run(process.execPath, [command, "history", "--help"]);
      return true;
    } catch {
      return false;
    }
  }, "the built command is whole");
  return { command, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface News {
  readonly type: string;
  readonly role?: string;
  readonly outcome?: string;
  readonly message?: string;
  readonly slot?: string;
}

export class Runner {
  readonly news: News[] = [];
  readonly exited: Promise<number | NodeJS.Signals>;
  readonly #child: ChildProcess;
  /** Null while it runs. */
  end: number | NodeJS.Signals | null = null;
  stderr = "";

  constructor(child: ChildProcess) {
    this.#child = child;
    let rest = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.news.push(JSON.parse(line) as News);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      this.stderr += chunk;
    });
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.end = code ?? signal ?? 0;
        resolve(this.end);
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get role(): string | null {
    return this.news.findLast((news) => news.type === "role")?.role ?? null;
  }

  has(type: string, from = 0): boolean {
    return this.news.slice(from).some((news) => news.type === type);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.exited;
  }
}

export interface HistoryRow {
  readonly fireId: string;
  readonly slot: string;
  readonly outcome: string;
  readonly kind: string;
  readonly reason: string | null;
  readonly count?: number;
}

export interface Record {
  readonly slot: string;
  readonly fireId: string;
}

export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "loop-long-"));
  readonly root: string;
  readonly recordFile = join(this.folder, "agents.txt");
  readonly runners: Runner[] = [];
  readonly #command: string;
  task: TaskView | null = null;

  /** `root`: a folder that is there already, for instance a mount. */
  constructor(command: string, root?: string) {
    this.#command = command;
    this.root = root ?? join(this.folder, "project");
    giveKey(join(this.folder, "home"));
    mkdirSync(this.root, { recursive: true });
  }

  get id(): string {
    return this.task?.id ?? "";
  }

  async loop(...args: string[]): Promise<string> {
    const { stdout } = await run(process.execPath, [this.#command, ...args], this.#options());
    return stdout;
  }

  async create(...flags: string[]): Promise<void> {
    this.task = JSON.parse(await this.loop("1s", "--exact", "--json", ...flags, "tick")) as TaskView;
  }

  /** An agent that records its slot before anything else and then takes its time. */
  up(agentMs: number): Runner {
    const line = `printf '%s %s\\n' "$LOOP_SLOT" "$LOOP_FIRE_ID" >>'${this.recordFile}'`;
    const args = [this.#command, "up", "--json", "--agent-cmd", `${line}; ${pauseCommand(agentMs)}`];
    const runner = new Runner(
      spawn(process.execPath, args, { ...this.#options(), stdio: ["ignore", "pipe", "pipe"] }),
    );
    this.runners.push(runner);
    return runner;
  }

  /** Who fires, as the lock file says it. */
  holder(): LeaseFile | null {
    try {
      return JSON.parse(readFileSync(join(this.root, ".loop", "loop.lock"), "utf8")) as LeaseFile;
    } catch {
      return null;
    }
  }

  records(): Record[] {
    if (!existsSync(this.recordFile)) return [];
    const lines = readFileSync(this.recordFile, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => {
      const [slot = "", fireId = ""] = line.split(" ");
      return { slot, fireId };
    });
  }

  async history(): Promise<HistoryRow[]> {
    return JSON.parse(await this.loop("history", this.id, "--json")) as HistoryRow[];
  }

  /** Lines that count. */
  entries(): Entry[] {
    return linesIn(join(this.root, ".loop"));
  }

  /** Deletes the task, so that whatever is still open gets its reason; returns when that was asked for. */
  async close(): Promise<number> {
    const at = Date.now();
    await this.loop("delete", this.id);
    return at;
  }

  /** Processes of turns that are still there. */
  leftOver(): readonly number[] {
    const turns = treeMembers({ group: null, marks: [`LOOP_PROJECT=${this.root}`] });
    return [...turns, ...this.runners.filter((runner) => runner.end === null).map((runner) => runner.pid)];
  }

  async remove(): Promise<void> {
    for (const runner of this.runners) if (runner.end === null) await runner.kill();
    for (const pid of this.leftOver()) process.kill(pid, "SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** For a person who has to find out what went wrong. */
  describe(): string {
    const journal = this.entries().map((entry) => {
      const at = new Date(entry.at).toISOString().slice(11);
      if (entry.type === "lease") return `${at} lease ${entry.lease.token} pid ${entry.lease.pid}`;
      if (entry.type !== "loop") return `${at} ${entry.type}`;
      const said = entry.outcomes.map((line) => `${shortSlot(line.slot)} ${line.outcome} (${line.reason})`);
      const { fire } = asTask(entry.loop);
      return `${at} v${entry.ver} t${entry.token} ${entry.event.type} fire ${fire === null ? "-" : shortSlot(fire.slot)} ${said.join("; ")}`;
    });
    const records = this.records().map(({ slot, fireId }) => `${slot.slice(11)} ${fireId}`);
    const problems = this.runners.flatMap((runner) =>
      [runner.stderr, ...runner.news.filter(({ type }) => type === "problem").map((one) => one.message ?? "")]
        .filter((text) => text !== "")
        .map((text) => `${runner.pid}: ${text}`),
    );
    const files = readdirSync(join(this.root, ".loop"));
    return `\n== journal\n${journal.join("\n")}\n== agents\n${records.join("\n")}\n== said\n${problems.join("\n")}\n== files\n${files.join(" ")}\n`;
  }

  #options() {
    const { PATH = "" } = process.env;
    return { cwd: this.root, env: { PATH, HOME: join(this.folder, "home"), TZ: "UTC" } };
  }
}

function shortSlot(slot: number): string {
  return new Date(slot).toISOString().slice(14, 23);
}

export interface Books {
  readonly faults: string[];
  readonly tally: { [outcome: string]: number };
  readonly slots: number;
}

/**
 * The promise, slot by slot (invariant 1). `until`: slots that were due by then must be accounted for. `mayStop`:
 * reasons with which a turn may have been interrupted.
 */
export function audit(
  task: TaskView,
  records: readonly Record[],
  history: readonly HistoryRow[],
  untilAt: number,
  mayInterrupt: RegExp,
): Books {
  const faults: string[] = [];
  const rows = new Map<string, HistoryRow>();
  const tally: { [outcome: string]: number } = {};
  for (const row of history) {
    tally[row.outcome] = (tally[row.outcome] ?? 0) + 1;
    if (rows.has(row.slot)) faults.push(`${row.slot} is twice in the history`);
    if (row.outcome !== "ok" && (row.reason ?? "") === "")
      faults.push(`${row.slot} is ${row.outcome} for no reason`);
    if (row.outcome === "failed") faults.push(`${row.slot} failed: ${row.reason}`);
    if (row.outcome === "interrupted" && !mayInterrupt.test(row.reason ?? ""))
      faults.push(`${row.slot} was interrupted: ${row.reason}`);
    if (row.outcome === "running") faults.push(`${row.slot} is still said to run`);
    if (row.count !== undefined) faults.push(`${row.slot} stands for ${row.count} slots`);
    rows.set(row.slot, row);
  }
  const delivered = new Set<string>();
  for (const { slot, fireId } of records) {
    const row = rows.get(slot);
    if (delivered.has(slot)) faults.push(`${slot} was delivered twice`);
    delivered.add(slot);
    if (row === undefined) faults.push(`${slot} was delivered and is not in the history`);
    else if (row.outcome !== "ok" && row.outcome !== "interrupted")
      faults.push(`${slot} was delivered, and the history says ${row.outcome} (${row.reason})`);
    else if (row.fireId !== fireId) faults.push(`${slot} was delivered as ${fireId}, not ${row.fireId}`);
  }
  for (const { slot, outcome } of rows.values())
    if (outcome === "ok" && !delivered.has(slot)) faults.push(`${slot} is ok, and no agent saw it`);
  const created = Date.parse(task.createdAt);
  let slots = 0;
  for (let at = created + 1000; at + task.jitterMs <= untilAt; at += 1000) {
    slots += 1;
    if (!rows.has(new Date(at).toISOString()))
      faults.push(`${new Date(at).toISOString()} is not accounted for`);
  }
  for (const slot of rows.keys())
    if ((Date.parse(slot) - created) % 1000 !== 0) faults.push(`${slot} is no slot of the task`);
  return { faults, tally, slots };
}
