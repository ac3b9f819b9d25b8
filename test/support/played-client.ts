/**
 * A client that is played: it asks the hooks of one conversation as Claude Code does, with the payloads that it was
 * measured to send, and writes its transcript. The folder, the store, the engine and the checks are real.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { newLoopId } from "../../src/compose/engine.ts";
import type { GoalDraft } from "../../src/core/goal/create.ts";
import type { Goal } from "../../src/core/goal/goal.ts";
import type { Task } from "../../src/core/loop.ts";
import { ownerOf } from "../../src/core/session.ts";
import { addGoal, allGoals } from "../../src/engine/goals/goals.ts";
import { addTask, type Draft, draftTask } from "../../src/engine/tasks/tasks.ts";
import type { Client } from "../../src/hosts/claude-code/client.ts";
import { runHook } from "../../src/hosts/claude-code/hooks/run-hook.ts";
import { Resident } from "../../src/hosts/claude-code/resident.ts";
import { registerMonitor, spoolPath } from "../../src/hosts/claude-code/wake.ts";
import type { SessionRecord } from "../../src/ports/sessions.ts";
import { FolderStore } from "../../src/store/folder/folder-store.ts";
import { ensureLoopDir } from "../../src/store/folder/loop-dir.ts";
import { createSessions } from "../../src/store/folder/session-records.ts";
import { procStart } from "../../src/system/process.ts";
import { tempDir } from "../store/fixtures/temp-dir.ts";
import { aDraft, POLICY } from "./goals/goal-play.ts";
import { statusBlock } from "./goals/goal-world.ts";
import { until } from "./until.ts";

export const SESSION = "5d2f7a10-aaaa-4bbb-8ccc-0123456789ab";
export const OTHER = "77777777-bbbb-4ccc-8ddd-0123456789ab";

const COMMAND = fileURLToPath(new URL("../../dist/loop.cjs", import.meta.url));
const SELF = { pid: process.pid, start: procStart(process.pid) };

/** What a hook was answered, in the client's form. */
export interface Answered {
  readonly decision?: string;
  readonly reason?: string;
  readonly systemMessage?: string;
  readonly hookSpecificOutput?: {
    readonly hookEventName?: string;
    readonly additionalContext?: string;
    readonly permissionDecision?: string;
    readonly suppressOriginalPrompt?: boolean;
  };
}

/** `resident`: one process for all hooks. `hooks`: each has its own, as when the server is dead. */
export type Path = "resident" | "hooks";

export class PlayedClient {
  readonly root: string;
  readonly dir: string;
  readonly transcript: string;
  readonly answers: string[] = [];
  readonly said: string[] = [];
  session = SESSION;
  prompt = "p-0";
  readonly #path: Path;
  readonly #env: NodeJS.ProcessEnv;
  #resident: Resident | null = null;
  #prompts = 0;

  constructor(path: Path = "resident", options: { root?: string; env?: NodeJS.ProcessEnv } = {}) {
    this.#path = path;
    this.#env = { ...process.env, ...options.env };
    this.root = options.root ?? tempDir();
    this.dir = ensureLoopDir(this.root);
    this.transcript = join(tempDir(), "transcript.jsonl");
    if (path === "hooks") {
      vi.stubEnv("CLAUDE_PID", String(process.pid));
      vi.stubEnv("CLAUDE_PROJECT_DIR", this.root);
      for (const [name, value] of Object.entries(options.env ?? {})) vi.stubEnv(name, value);
    }
  }

  get resident(): Resident {
    const client: Client = { process: SELF, root: this.root, session: this.session, serverFile: null };
    this.#resident ??= new Resident({
      client,
      env: this.#env,
      command: [process.execPath, COMMAND],
      say: (message) => this.said.push(message),
      stays: true,
    });
    return this.#resident;
  }

  /** The server is killed: what it had in memory is gone, and it gives nothing back. */
  async dropServer(): Promise<void> {
    const before = this.#resident;
    this.#resident = null;
    await before?.close(false);
  }

  async close(): Promise<void> {
    await this.#resident?.close(true);
    this.#resident = null;
  }

  /** The answer as text, just as the client gets it. */
  async askRaw(event: string, fields: object = {}, signal = new AbortController().signal): Promise<string> {
    const input = {
      ...{
        session_id: this.session,
        transcript_path: this.transcript,
        cwd: this.root,
        prompt_id: this.prompt,
      },
      permission_mode: "acceptEdits",
      hook_event_name: event,
      ...fields,
    };
    const text =
      this.#path === "resident"
        ? await this.resident.answer(input, signal)
        : await runHook(JSON.stringify(input), event, COMMAND);
    this.answers.push(text);
    return text;
  }

  async ask(event: string, fields: object = {}, signal?: AbortSignal): Promise<Answered> {
    const text = await this.askRaw(event, fields, signal);
    return text === "" ? {} : (JSON.parse(text) as Answered);
  }

  /** The person types, or a wake-up comes: a new prompt begins. */
  submit(prompt: string): Promise<Answered> {
    this.#prompts += 1;
    this.prompt = `p-${this.#prompts}`;
    return this.ask("UserPromptSubmit", { prompt });
  }

  stop(answer = "ok", fields: object = {}, signal?: AbortSignal): Promise<Answered> {
    return this.ask("Stop", { stop_hook_active: false, last_assistant_message: answer, ...fields }, signal);
  }

  /** The agent calls a tool. */
  use(id: string, fields: object = {}): Promise<Answered> {
    return this.ask("PostToolUse", {
      ...{ tool_name: "Write", tool_use_id: id, tool_input: { file_path: "x" }, duration_ms: 3 },
      ...{ tool_response: { type: "create" } },
      ...fields,
    });
  }

  /** The agent ends its turn with a status block, under the nonce that it was given. */
  report(exit: boolean): Promise<Answered> {
    return this.stop(statusBlock(this.goal().job?.nonce ?? "", exit));
  }

  write(name: string, text = "x"): void {
    writeFileSync(join(this.root, name), text);
  }

  /** Lines that the client adds to its record of the conversation. */
  log(...lines: readonly object[]): void {
    for (const line of lines) appendFileSync(this.transcript, `${JSON.stringify(line)}\n`);
  }

  queue(operation: string, content?: string): void {
    this.log({
      type: "queue-operation",
      operation,
      sessionId: this.session,
      ...(content === undefined ? {} : { content }),
    });
  }

  store(): FolderStore {
    return new FolderStore(this.dir, { now: Date.now, say: () => {} });
  }

  async addGoal(overrides: Partial<GoalDraft> = {}): Promise<Goal> {
    const { id: _, ...draft } = aDraft({
      session: ownerOf(this.session),
      criteria: [{ name: "ready", check: { kind: "command", command: "test -f done.txt" }, source: "flag" }],
      policy: { ...POLICY, yes: true },
      ...overrides,
    });
    return addGoal(
      this.store(),
      draft,
      Date.now(),
      () => `a${String(allGoals(this.store()).length).padStart(7, "0")}`,
    );
  }

  /** A task that is due every day, and now when it says so. */
  addTask(given: Partial<Draft> & Pick<Draft, "prompt">): Promise<Task> {
    const defaults = { expiresMs: null, jitter: false, turnTimeoutMs: 60_000 };
    const draft = draftTask(
      { cadence: { kind: "cron", expr: "0 3 * * *", tz: "UTC" }, ...given },
      defaults,
      Date.now(),
    );
    return addTask(this.store(), draft, 50, Date.now(), newLoopId);
  }

  goal(): Goal {
    const goal = allGoals(this.store()).at(-1);
    if (goal === undefined) throw new Error("there is no goal");
    return goal;
  }

  record(session = this.session): SessionRecord | null {
    return createSessions(this.dir).read(session);
  }

  /** From now on this conversation can be woken. */
  startMonitor(): void {
    registerMonitor(this.dir, process.pid, SELF);
    if (this.#path === "resident") this.resident.lookAround();
  }

  /** The lines that the monitor would have printed so far. */
  wakes(): readonly string[] {
    const path = spoolPath(this.dir, process.pid);
    return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  }

  /** Waits for the nth wake-up, and hands it to the conversation as the client does. */
  async wake(nth = 1): Promise<Answered> {
    const line = await until(() => this.wakes()[nth - 1], `wake-up ${nth}`);
    return this.submit(asNotification(line));
  }
}

export function asNotification(line: string): string {
  return `<task-notification>\n<task-id>bsph74lzr</task-id>\n<summary>Monitor event: "loopwright wake"</summary>\n<event>${line}</event>\n</task-notification>`;
}

/** The text with which the conversation goes on; "": it was let go. */
export function contextOf(answered: Answered): string {
  return answered.hookSpecificOutput?.additionalContext ?? "";
}
