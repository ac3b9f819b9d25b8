/** Runs the fires of tasks: one turn each, and the postcondition after it. */
import type { LoopEvent } from "../../core/event.ts";
import type { Fire, ProcessRef, Task } from "../../core/loop.ts";
import { parseWakeupLine } from "../../core/task/wakeup.ts";
import { renderFireText } from "../../core/text/fire-text.ts";
import type { Agent, Turn, TurnControl, TurnEnd, TurnFate } from "../../ports/agent.ts";
import { describe, type EngineParts } from "../parts.ts";
import type { Underway } from "../underway.ts";

/** The time limit of a postcondition. */
const EXPECT_TIMEOUT_MS = 10 * 60_000;

export class Turns {
  readonly #parts: Pick<EngineParts, "agent" | "headless" | "checker" | "observe">;
  readonly #underway: Underway;

  constructor(parts: Pick<EngineParts, "agent" | "headless" | "checker" | "observe">, underway: Underway) {
    this.#parts = parts;
    this.#underway = underway;
  }

  start(task: Task, fire: Fire, now: number): void {
    const { turn, control } = this.#open(task, fire, now);
    this.#follow(task, fire, this.#agentFor(task).run(turn, control), control.signal);
  }

  /** Recovers a fire that another process intended. Follows a turn that still runs to its end. */
  reconcile(task: Task, fire: Fire, now: number): Promise<TurnFate> {
    const { turn, control } = this.#open(task, fire, now);
    return this.#underway.reconcile(
      fire.id,
      async () => this.#agentFor(task).reconcile(turn, control),
      (end) => this.#follow(task, fire, end, control.signal),
    );
  }

  /** A headless task does not run in the conversation. */
  #agentFor({ where }: Task): Agent {
    const { agent, headless } = this.#parts;
    return where === "headless" && headless !== undefined ? headless() : agent;
  }

  #open(task: Task, fire: Fire, now: number): { turn: Turn; control: TurnControl } {
    const signal = this.#underway.open(task.id, fire.id);
    const turn: Turn = {
      id: fire.id,
      loopId: task.id,
      token: fire.token,
      text: renderFireText(task, fire),
      deadlineAt: (fire.startedAt ?? now) + task.timeoutMs,
      env: { LOOP_SLOT: new Date(fire.slot).toISOString(), LOOP_KIND: fire.kind },
      conversation: null,
      budgetUsd: null,
    };
    const onStarted = (process: ProcessRef | null) =>
      this.#underway.started(fire.id, { type: "fire.started", fireId: fire.id, process });
    const onTaken: TurnControl["onTaken"] = (event) =>
      this.#parts.observe({ type: "agent", loopId: task.id, event });
    return { turn, control: { signal, onStarted, onTaken } };
  }

  #follow(task: Task, fire: Fire, ending: Promise<TurnEnd>, signal: AbortSignal): void {
    const { id } = fire;
    this.#underway.follow(
      id,
      ending.then((end) => (this.#underway.has(id) ? this.#verify(task, end, signal) : end)),
      (end, stopped) => ({
        event: endingOf(fire, end, stopped),
        answer: end.kind === "cancelled" ? null : end.answer,
      }),
      (error) => ({
        type: "fire.finished",
        fireId: id,
        outcome: "failed",
        reason: describe(error),
      }),
    );
  }

  /** A18: the agent's exit code is a claim; the engine checks the postcondition. */
  async #verify(task: Task, end: TurnEnd, signal: AbortSignal): Promise<TurnEnd> {
    if (end.kind !== "ok" || task.expect === null) return end;
    const evidence = await this.#parts.checker.run(
      task.expect,
      Math.min(EXPECT_TIMEOUT_MS, task.timeoutMs),
      signal,
    );
    if (signal.aborted) return { kind: "cancelled" };
    if (evidence.exitCode === 0) return end;
    const how = evidence.timedOut ? "ran out of time" : `exit ${evidence.exitCode ?? "by a signal"}`;
    const said = lastLine(evidence.tail);
    const reason = `expected \`${task.expect}\` to pass: ${how}${said === "" ? "" : `: ${said}`}`;
    return { ...end, kind: "failed", failure: { class: "fault", reason, resetsAt: null } };
  }
}

/** The event for the end of a turn. */
function endingOf({ id }: Fire, end: TurnEnd, stopped: string | null): LoopEvent {
  if (end.kind === "cancelled") {
    return { type: "fire.interrupted", fireId: id, reason: stopped ?? "the turn was stopped" };
  }
  const wakeup = parseWakeupLine(end.answer);
  return {
    type: "fire.finished",
    fireId: id,
    outcome: end.kind,
    reason: end.kind === "failed" ? end.failure.reason : null,
    ...(end.usage === null ? {} : { usage: end.usage }),
    ...(end.takenBy === undefined ? {} : { takenBy: end.takenBy }),
    ...(wakeup === null ? {} : { wakeup }),
  };
}

/** Removes control characters, because a program's output is not trusted on the terminal. */
function lastLine(output: string): string {
  const line = output.trim().split("\n").at(-1) ?? "";
  return line
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, 200);
}
