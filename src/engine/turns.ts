/** The turns that an engine has under way: started by it, or found running after a takeover. */

import type { LoopEvent } from "../core/event.ts";
import type { Fire, FireId, LoopId, ProcessRef, Task } from "../core/loop.ts";
import { parseWakeupLine } from "../core/task/wakeup.ts";
import { renderFireText } from "../core/text/fire-text.ts";
import {
  ABANDONED,
  type Agent,
  type Checker,
  type Turn,
  type TurnControl,
  type TurnEnd,
  type TurnFate,
} from "../ports.ts";

export interface TurnOutcome {
  readonly taskId: LoopId;
  readonly fireId: FireId;
  readonly end: TurnEnd;
  /** Why it was stopped, when we stopped it. */
  readonly stopped: string | null;
}

export interface TurnNews {
  started(taskId: LoopId, fireId: FireId, process: ProcessRef | null): void;
  ended(outcome: TurnOutcome): void;
}

interface Running {
  readonly taskId: LoopId;
  readonly abort: AbortController;
  stopped: string | null;
}

/** Time that a postcondition may take. */
const EXPECT_TIMEOUT_MS = 10 * 60_000;

export class Turns {
  readonly #agent: Agent;
  readonly #checker: Checker;
  readonly #news: TurnNews;
  readonly #running = new Map<FireId, Running>();

  constructor(agent: Agent, checker: Checker, news: TurnNews) {
    this.#agent = agent;
    this.#checker = checker;
    this.#news = news;
  }

  get size(): number {
    return this.#running.size;
  }

  has(fireId: FireId): boolean {
    return this.#running.has(fireId);
  }

  tasks(): Iterable<[FireId, LoopId]> {
    return [...this.#running].map(([fireId, { taskId }]) => [fireId, taskId]);
  }

  start(task: Task, fire: Fire, now: number): void {
    const { turn, control, signal } = this.#open(task, fire, now);
    this.#follow(task, fire, this.#agent.run(turn, control), signal);
  }

  /** For a fire that another process intended. A turn that still runs is followed to its end. */
  async reconcile(task: Task, fire: Fire, now: number): Promise<TurnFate> {
    const { turn, control, signal } = this.#open(task, fire, now);
    let fate: TurnFate;
    try {
      fate = await this.#agent.reconcile(turn, control);
    } catch (error) {
      // Not known, so it must be asked again: a turn that stayed listed here would never end.
      this.#running.delete(fire.id);
      throw error;
    }
    if (fate.kind === "running") this.#follow(task, fire, fate.end, signal);
    else if (fate.kind === "ended") this.#follow(task, fire, Promise.resolve(fate.end), signal);
    else this.#running.delete(fire.id);
    return fate;
  }

  stop(fireId: FireId, reason: string): void {
    const running = this.#running.get(fireId);
    if (running === undefined || running.stopped !== null) return;
    running.stopped = reason;
    running.abort.abort();
  }

  /** Their results belong to another owner now. */
  abandonAll(): void {
    const turns = [...this.#running.values()];
    this.#running.clear();
    for (const { abort } of turns) abort.abort(ABANDONED);
  }

  settle(fireId: FireId): void {
    this.#running.delete(fireId);
  }

  #open(task: Task, fire: Fire, now: number): { turn: Turn; control: TurnControl; signal: AbortSignal } {
    const abort = new AbortController();
    this.#running.set(fire.id, { taskId: task.id, abort, stopped: null });
    const turn: Turn = {
      fireId: fire.id,
      taskId: task.id,
      token: fire.token,
      slot: fire.slot,
      fireKind: fire.kind,
      text: renderFireText(task, fire),
      deadlineAt: (fire.startedAt ?? now) + task.timeoutMs,
    };
    const onStarted = (process: ProcessRef | null) => this.#news.started(task.id, fire.id, process);
    return { turn, control: { signal: abort.signal, onStarted }, signal: abort.signal };
  }

  #follow(task: Task, fire: Fire, ending: Promise<TurnEnd>, signal: AbortSignal): void {
    const running = this.#running.get(fire.id);
    const isOurs = () => this.#running.get(fire.id) === running;
    void ending
      .then((end) => (isOurs() ? this.#verify(task, end, signal) : end))
      .catch(
        (error: unknown): TurnEnd => ({
          ...{ kind: "failed", answer: "", usage: null },
          reason: error instanceof Error ? error.message : String(error),
        }),
      )
      .then((end) => {
        if (!isOurs()) return;
        this.#news.ended({ taskId: task.id, fireId: fire.id, end, stopped: running?.stopped ?? null });
      });
  }

  /** A18: the agent's exit code is its word; the postcondition is ours. */
  async #verify(task: Task, end: TurnEnd, signal: AbortSignal): Promise<TurnEnd> {
    if (end.kind !== "ok" || task.expect === null) return end;
    const evidence = await this.#checker.run(
      task.expect,
      Math.min(EXPECT_TIMEOUT_MS, task.timeoutMs),
      signal,
    );
    if (signal.aborted) return { kind: "cancelled" };
    if (evidence.exitCode === 0) return end;
    const how = evidence.timedOut ? "ran out of time" : `exit ${evidence.exitCode ?? "by a signal"}`;
    const said = lastLine(evidence.tail);
    return {
      ...end,
      kind: "failed",
      reason: `expected \`${task.expect}\` to pass: ${how}${said === "" ? "" : `: ${said}`}`,
    };
  }
}

/** What the end of a turn means for its fire. */
export function endingOf({ fireId, end, stopped }: TurnOutcome): LoopEvent {
  if (end.kind === "cancelled") {
    return { type: "fire.interrupted", fireId, reason: stopped ?? "the turn was stopped" };
  }
  const wakeup = parseWakeupLine(end.answer);
  return {
    type: "fire.finished",
    fireId,
    outcome: end.kind,
    reason: end.kind === "failed" ? end.reason : null,
    ...(end.usage === null ? {} : { usage: end.usage }),
    ...(wakeup === null ? {} : { wakeup }),
  };
}

/** For a sentence: what a program printed is not trusted with the terminal. */
function lastLine(output: string): string {
  const line = output.trim().split("\n").at(-1) ?? "";
  return line
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, 200);
}
