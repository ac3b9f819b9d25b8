/**
 * The loop that runs all loops: takes events in order, asks `decide`, commits, carries out the effects.
 *
 * Owns: the schedule, the one timer, the running turns and this process's part in the lease.
 * Must not: decide anything about a loop itself, or act for a project without its lease.
 *
 * 1. The engine handles one event at a time (`#pump`). Turns run in the background and return as events.
 * 2. An effect is carried out only after its commit was accepted under the current token.
 * 3. The timer is never longer than 30 s, so that the engine notices a suspend or a changed clock.
 * 4. While a turn runs, the host is busy and gets nothing else (A5).
 */
import type { LoopEvent } from "../core/event.ts";
import type { Loop, LoopId } from "../core/loop.ts";
import { type Applied, applyEvent } from "./apply.ts";
import { BacklogWork } from "./backlogs/backlog-work.ts";
import { carryOut } from "./carry-out.ts";
import { Chores } from "./chores.ts";
import { undoForgeries } from "./forgeries.ts";
import { GoalWork } from "./goals/goal-work.ts";
import { Handover, ownDueAt } from "./lease/handover.ts";
import { Leadership } from "./lease/leadership.ts";
import { Notices } from "./notices.ts";
import { describe, type EngineMessage, type EngineParts, harmless, type Look, type Role } from "./parts.ts";
import {
  type Crew,
  notifiedEvent,
  recoverWork,
  SESSION_ENDED,
  stopUnwanted,
  tasksOfSession,
} from "./recover.ts";
import { Turns } from "./tasks/turns.ts";
import { Awake } from "./time/awake.ts";
import { LookTimer } from "./time/look-timer.ts";
import { dueEvent, isForUs, lookTimeOf, Schedule } from "./time/schedule.ts";
import { Underway, type WorkEnded } from "./underway.ts";

export type { EngineNews, EngineParts, Role } from "./parts.ts";

/** The delay after a failed write. */
const RETRY_AFTER_MS = 1_000;

export class Engine {
  readonly #parts: EngineParts;
  readonly #schedule = new Schedule();
  readonly #underway: Underway;
  readonly #crew: Crew;
  readonly #lead: Leadership;
  readonly #handover: Handover;
  readonly #awake = new Awake();
  readonly #notices: Notices;
  readonly #chores: Chores;
  readonly #timer: LookTimer;
  readonly #done: Promise<void>;
  #finish: () => void = () => {};
  #queue: EngineMessage[] = [];
  #pumping = false;
  #stopping: string | null = null;
  #isLeft = false;
  #stopped = false;
  #unwatch: () => void = () => {};
  #retryAt = 0;
  #recovered = false;

  constructor(parts: EngineParts) {
    this.#parts = { ...parts, observe: harmless(parts.observe) };
    this.#lead = new Leadership(this.#parts);
    this.#handover = new Handover(this.#parts, this.#lead);
    this.#notices = new Notices(this.#parts, (loopId) => this.#post({ type: "notified", loopId }));
    this.#chores = new Chores(parts.store, parts.clock);
    this.#timer = new LookTimer(parts.store, parts.clock, () => this.#post({ type: "look" }));
    this.#underway = new Underway({
      started: (started) => this.#post({ type: "work.started", ...started }),
      ended: (ended) => this.#post({ type: "work.ended", ...ended }),
    });
    this.#crew = {
      underway: this.#underway,
      turns: new Turns(parts, this.#underway),
      goals: parts.goals === null ? null : new GoalWork(this.#parts, parts.goals, this.#underway),
      backlogs: parts.backlog ? new BacklogWork(this.#parts, parts.backlog, this.#underway) : null,
    };
    this.#done = new Promise<void>((resolve) => {
      this.#finish = resolve;
    }).then(() => parts.close?.());
  }

  /** Resolves when the engine has stopped: turns ended, lease released, agents closed. */
  get done(): Promise<void> {
    return this.#done;
  }

  get role(): Role {
    return this.#lead.role ?? "off";
  }

  start(): void {
    const { store, clock } = this.#parts;
    this.#awake.start(clock.now());
    for (const loop of store.loops()) this.#arm(loop.id);
    this.#unwatch = store.watch(() => this.#post({ type: "look" }));
    this.#post({ type: "look" });
  }

  /** Ends the running turns, records them and releases the lease. */
  stop(reason: string): Promise<void> {
    if (this.#stopping === null) this.#post({ type: "stop", reason });
    return this.#done;
  }

  /** Releases the lease and leaves the running work to the next owner. */
  leave(): Promise<void> {
    this.#post({ type: "stop", reason: null });
    return this.#done;
  }

  /** Takes the lease if no other process works, or from another process of this conversation. */
  lead(): Promise<boolean> {
    if (this.#stopped || this.#stopping !== null) return Promise.resolve(false);
    return new Promise((answer) => this.#post({ type: "lead", answer }));
  }

  /** Tells the engine that something may have changed. */
  nudge = (): void => this.#post({ type: "look" });

  #post(message: EngineMessage): void {
    if (this.#stopped) return;
    this.#queue.push(message);
    if (!this.#pumping) void this.#pump();
  }

  async #pump(): Promise<void> {
    this.#pumping = true;
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      for (const message of batch) {
        if (message.type !== "look") await this.#guard(message, () => this.#handle(message));
      }
      const isOnlyStart = batch.every(({ type }) => type === "work.started");
      if (!this.#stopped && !isOnlyStart) await this.#guard(null, () => this.#look());
    }
    this.#pumping = false;
    this.#setTimer();
  }

  /** A broken environment (a full disk) must not end the runner: report it, keep the event, try again. */
  async #guard(message: Exclude<EngineMessage, Look> | null, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const { clock, observe } = this.#parts;
      observe({ type: "problem", message: describe(error) });
      this.#retryAt = clock.now() + RETRY_AFTER_MS;
      // a failed write may have succeeded after all, and an unknown fire would block its task
      this.#recovered = false;
      if (message === null) return;
      // a stopping engine does not wait: the next owner finds the work and settles it
      const isLeaving = this.#stopping !== null && message.type === "work.ended";
      if (isLeaving) this.#underway.settle(message.workId);
      else clock.wake(this.#retryAt, () => this.#post(message));
    }
  }

  async #handle(message: Exclude<EngineMessage, Look>): Promise<void> {
    switch (message.type) {
      case "work.started":
        if (!this.#underway.has(message.workId)) return;
        await this.#apply(message.loopId, message.event);
        return message.noted();
      case "work.ended":
        return this.#endWork(message);
      case "notified": {
        const loop = this.#parts.store.load(message.loopId);
        if (loop !== undefined) await this.#apply(loop.id, notifiedEvent(loop));
        this.#notices.settle(message.loopId);
        return;
      }
      case "lead":
        await this.#parts.store.catchUp();
        if (this.#lead.isLost) this.#demote();
        if (this.#stopping !== null) return message.answer(false);
        if (this.#lead.lease === null) await this.#tryLead(true);
        if (this.#lead.lease === null) return this.#handover.ask(message.answer, this.nudge);
        return message.answer(true);
      case "stop":
        this.#stopping = message.reason ?? "left to others";
        this.#isLeft = message.reason === null;
        if (this.#isLeft) this.#underway.abandonAll();
        for (const [id] of this.#underway.loops()) this.#underway.stop(id, this.#stopping);
        return;
    }
  }

  async #endWork({ loopId, workId, event, answer }: WorkEnded): Promise<void> {
    // the work was abandoned, so its result belongs to another owner
    if (!this.#underway.has(workId)) return;
    const loop = this.#parts.store.load(loopId);
    if (answer !== null && loop !== undefined)
      this.#parts.observe({ type: "answer", loop, workId, text: answer });
    await this.#apply(loopId, event, () => this.#underway.settle(workId));
    this.#underway.settle(workId);
  }

  /** Handles what no event brings: commits of others, the lease, due loops. */
  async #look(): Promise<void> {
    const { store, clock } = this.#parts;
    if (this.#awake.look(clock.now())) {
      this.#retryAt = 0;
      for (const loop of store.loops()) this.#arm(loop.id);
    }
    if (this.#stopping !== null && this.#underway.size === 0) return this.#leave();
    const changed = await store.refresh();
    await this.#undoForgeries();
    this.#take(changed);
    stopUnwanted(this.#underway, store);
    if (this.#stopping !== null) return;
    if (this.#lead.isLost) this.#demote();
    await this.#handover.giveUpWhenAsked(this.#underway.size);
    if (this.#lead.lease === null) await this.#tryLead();
    const { lease } = this.#lead;
    if (lease === null) return this.#handover.askWhenDue();
    await this.#undoForgeries();
    this.#chores.beatWhenDue(lease);
    if (clock.now() < this.#retryAt) return;
    if (!this.#recovered) {
      const apply = (id: LoopId, event: LoopEvent) => this.#apply(id, event);
      this.#recovered = await recoverWork(this.#parts, this.#crew, lease.token, apply);
      stopUnwanted(this.#underway, store);
    }
    await this.#fireDue();
  }

  /** Runs before changes are reported, so that nobody sees a forgery. */
  async #undoForgeries(): Promise<void> {
    const { store, clock } = this.#parts;
    const undone = await undoForgeries(store, clock.now(), this.#lead.lease?.token ?? null);
    for (const { good, applied } of undone) this.#follow(good.id, good, applied, true);
  }

  #take(changed: readonly LoopId[]): void {
    for (const id of changed) this.#arm(id);
    if (changed.length > 0) this.#parts.observe({ type: "tasks" });
    if (this.#lead.lease !== null) this.#notices.handAll(changed.map((id) => this.#parts.store.load(id)));
  }

  async #tryLead(fromSibling = false): Promise<void> {
    const now = this.#parts.clock.now();
    const led = await this.#lead.tryLead(now, this.#awake.since, fromSibling);
    if (led === "no") return;
    if (led === "after-silence") this.#awake.start(now);
    this.#recovered = false;
    this.#chores.publishSoon();
  }

  #demote(): void {
    this.#lead.drop();
    this.#underway.abandonAll();
    this.#post({ type: "look" });
  }

  async #fireDue(): Promise<void> {
    const { clock, host } = this.#parts;
    while (this.#lead.lease !== null && host?.isFree() !== false) {
      const id = this.#schedule.popDue(clock.now(), (next) => this.#underway.isRoomFor(next));
      if (id === null) return;
      const { token } = this.#lead.lease;
      const applied = await this.#apply(id, dueEvent(this.#parts, id, token, this.#awake.since));
      const at = this.#schedule.armedAt(id);
      if (applied.kind === "none" && at !== null) {
        this.#schedule.arm(id, Math.max(at, clock.now() + RETRY_AFTER_MS));
      }
    }
  }

  /** Calls `onCommitted` before it carries out the effects. */
  async #apply(id: LoopId, event: LoopEvent, onCommitted: () => void = () => {}): Promise<Applied> {
    const { store, clock } = this.#parts;
    const before = store.load(id);
    let applied: Applied;
    try {
      const token = this.#lead.lease?.token ?? null;
      applied = await applyEvent(store, id, event, clock.now(), token, this.nudge);
    } finally {
      this.#arm(id);
    }
    if (applied.kind === "committed") onCommitted();
    this.#follow(id, before, applied, event.type !== "task.notified");
    return applied;
  }

  /** Updates schedule and observers after a commit, and carries out its effects. */
  #follow(id: LoopId, before: Loop | undefined, applied: Applied, isNews: boolean): void {
    const { observe } = this.#parts;
    if (applied.kind === "fenced") this.#demote();
    if (applied.kind !== "committed") return;
    this.#arm(id);
    this.#chores.publishSoon();
    const { loop, outcomes } = applied;
    if (outcomes.length > 0) observe({ type: "outcomes", outcomes });
    if (loop.kind === "goal" && before?.kind === "goal") observe({ type: "goal", before, goal: loop });
    if (loop.kind === "backlog" && before?.kind === "backlog") {
      observe({ type: "backlog", before, backlog: loop });
      this.#crew.backlogs?.records.add(before, loop);
    }
    const isOver = loop.kind === "task" && loop.status === "ended" && loop.fire === null;
    if (isOver && isNews) observe({ type: "ended", task: loop });
    carryOut(this.#parts, this.#crew, this.#notices, applied, this.#stopping);
  }

  #arm(id: LoopId): void {
    const loop = this.#parts.store.load(id);
    const isOurs = loop !== undefined && isForUs(this.#parts, loop);
    this.#schedule.arm(id, isOurs ? lookTimeOf(loop, this.#parts.clock.now()) : null);
  }

  #setTimer(): void {
    if (this.#stopped) return;
    if (this.#lead.role === "passive") {
      this.#timer.lookWhenOrphaned(ownDueAt(this.#parts));
      return;
    }
    // a busy host nudges the engine when it is free, so until then there is no reason to look
    const isOpen = this.#lead.lease !== null && this.#underway.isRoomFor(this.#schedule.nextId());
    const isFree = isOpen && this.#parts.host?.isFree() !== false;
    const next = isFree ? (this.#schedule.nextAt() ?? Infinity) : Infinity;
    this.#timer.lookBy(Math.max(next, this.#retryAt));
  }

  async #leave(): Promise<void> {
    try {
      if (this.#lead.lease !== null) await this.#handBack();
    } catch (error) {
      this.#parts.observe({ type: "problem", message: describe(error) });
    }
    this.#stopped = true;
    this.#timer.cancel();
    this.#chores.stop();
    this.#unwatch();
    this.#lead.leave();
    this.#finish();
  }

  /** The last steps of an owner: write everything, end the loops of its session, release the lease. */
  async #handBack(): Promise<void> {
    const { store, clock, self, goals } = this.#parts;
    await store.catchUp();
    await this.#undoForgeries();
    // another process continues the loops of a session that was left
    const ended = this.#isLeft ? [] : tasksOfSession(store, self.owner);
    for (const id of ended) await this.#apply(id, SESSION_ENDED);
    await goals?.checkpoints.settle();
    await this.#crew.backlogs?.records.written();
    // the lease may be lost by now
    const { lease } = this.#lead;
    if (lease !== null) await store.release(lease.token, clock.now());
    await store.published?.publish();
  }
}
