/**
 * The one loop that runs loops: takes events in order, asks `decide`, commits, carries out.
 *
 * Owns: the schedule, the one timer, the turns under way and this process's part in the lease.
 * Must not: decide anything about a loop itself, or act for a project whose lease it does not hold.
 *
 * 1. Events are handled one at a time (`#pump`); turns run beside it and come back as events.
 * 2. Nothing is carried out before its commit was accepted under the current token.
 * 3. The timer is never set further ahead than 30 s: a suspended machine or a changed clock is noticed.
 * 4. A turn under way means that the host is busy: nothing else is delivered (A5).
 */
import type { LoopEvent } from "../core/event.ts";
import type { LoopId, Notice } from "../core/loop.ts";
import { clockWentBack } from "../core/task/due.ts";
import { wakeAt } from "../core/task/slots.ts";
import type { Lease } from "../ports.ts";
import { type Applied, applyEvent } from "./apply.ts";
import { Chores } from "./chores.ts";
import { LookTimer, MAX_TIMER_MS } from "./look-timer.ts";
import { describe, type EngineParts, harmless, type Look, type Message, type Role } from "./parts.ts";
import { recoverFires } from "./recover.ts";
import { Schedule } from "./schedule.ts";
import { endingOf, type TurnOutcome, Turns } from "./turns.ts";

export type { EngineNews, EngineParts, Role } from "./parts.ts";

/** A gap between two looks that is longer than this was no normal wait: nobody was there. */
const ASLEEP_AFTER_MS = MAX_TIMER_MS + 15_000;
/** After a failed write (full disk): do not spin. */
const RETRY_AFTER_MS = 1_000;

export class Engine {
  readonly #parts: EngineParts;
  readonly #schedule = new Schedule();
  readonly #turns: Turns;
  readonly #chores: Chores;
  readonly #timer: LookTimer;
  readonly #done: Promise<void>;
  #finish: () => void = () => {};
  #queue: Message[] = [];
  #pumping = false;
  #stopping: string | null = null;
  #stopped = false;
  #lease: Lease | null = null;
  #role: Role | null = null;
  #unwatch: () => void = () => {};
  #awakeSince = 0;
  #lastLookAt = 0;
  #retryAt = 0;
  #recovered = false;

  constructor(parts: EngineParts) {
    this.#parts = { ...parts, observe: harmless(parts.observe) };
    this.#chores = new Chores(parts.store, parts.clock);
    this.#timer = new LookTimer(parts.store, parts.clock, () => this.#post({ type: "look" }));
    this.#turns = new Turns(parts.agent, parts.checker, {
      started: (taskId, fireId, process) => this.#post({ type: "turn.started", taskId, fireId, process }),
      ended: (outcome) => this.#post({ type: "turn.ended", outcome }),
    });
    this.#done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Resolves when the engine has stopped: turns ended, lease released. */
  get done(): Promise<void> {
    return this.#done;
  }

  get role(): Role {
    return this.#role ?? "off";
  }

  start(): void {
    const { store, clock } = this.#parts;
    this.#lastLookAt = clock.now();
    this.#awakeSince = clock.now();
    for (const loop of store.loops()) this.#arm(loop.id);
    this.#unwatch = store.watch(() => this.#post({ type: "look" }));
    this.#post({ type: "look" });
  }

  /** Ends the turns under way, records them, gives the lease back. */
  stop(reason: string): Promise<void> {
    if (this.#stopping === null) this.#post({ type: "stop", reason });
    return this.#done;
  }

  /** Look now: something may have changed. */
  nudge(): void {
    this.#post({ type: "look" });
  }

  #post(message: Message): void {
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
      const isOnlyStart = batch.every(({ type }) => type === "turn.started");
      if (!this.#stopped && !isOnlyStart) await this.#guard(null, () => this.#look());
    }
    this.#pumping = false;
    this.#setTimer();
  }

  /** Broken surroundings (a full disk) must not end the runner: say it, keep the event, try again. */
  async #guard(message: Exclude<Message, Look> | null, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const { clock, observe } = this.#parts;
      observe({ type: "problem", message: describe(error) });
      this.#retryAt = clock.now() + RETRY_AFTER_MS;
      // A write that failed may have landed all the same: a fire that we do not know of would block its task.
      this.#recovered = false;
      if (message === null) return;
      // On the way out nothing is waited for: the next owner finds the fire and settles it.
      const isLeaving = this.#stopping !== null && message.type === "turn.ended";
      if (isLeaving) this.#turns.settle(message.outcome.fireId);
      else clock.wake(this.#retryAt, () => this.#post(message));
    }
  }

  async #handle(message: Exclude<Message, Look>): Promise<void> {
    switch (message.type) {
      case "turn.started": {
        const { taskId, fireId, process } = message;
        if (this.#turns.has(fireId)) await this.#apply(taskId, { type: "fire.started", fireId, process });
        return;
      }
      case "turn.ended":
        return this.#endTurn(message.outcome);
      case "notified":
        await this.#apply(message.taskId, { type: "task.notified" });
        return;
      case "stop":
        this.#stopping = message.reason;
        for (const [fireId] of this.#turns.tasks()) this.#turns.stop(fireId, message.reason);
        return;
    }
  }

  async #endTurn(outcome: TurnOutcome): Promise<void> {
    const { taskId, fireId, end } = outcome;
    // Abandoned since: its result belongs to another owner now.
    if (!this.#turns.has(fireId)) return;
    if (end.kind !== "cancelled") {
      this.#parts.observe({ type: "answer", taskId, fireId, text: end.answer });
    }
    await this.#apply(taskId, endingOf(outcome));
    this.#turns.settle(fireId);
  }

  /** Everything that is not an answer to a particular event: what others did, the lease, what is due. */
  async #look(): Promise<void> {
    const { store, clock } = this.#parts;
    this.#noticeClock(clock.now());
    if (this.#stopping !== null && this.#turns.size === 0) return this.#leave();
    this.#take(await store.refresh());
    this.#stopDeletedTurns();
    if (this.#stopping !== null) return;
    if (this.#lease !== null && store.lease()?.token !== this.#lease.token) this.#demote();
    if (this.#lease === null) await this.#tryLead(clock.now());
    if (this.#lease === null) return;
    this.#chores.beatWhenDue(this.#lease);
    if (clock.now() < this.#retryAt) return;
    if (!this.#recovered) {
      const apply = (id: LoopId, event: LoopEvent) => this.#apply(id, event);
      this.#recovered = await recoverFires(this.#parts, this.#turns, this.#lease.token, apply, (notice) =>
        this.#notify(notice),
      );
      this.#stopDeletedTurns();
    }
    await this.#fireDue();
  }

  #take(changed: readonly LoopId[]): void {
    for (const id of changed) this.#arm(id);
    if (changed.length > 0) this.#parts.observe({ type: "tasks" });
  }

  #noticeClock(now: number): void {
    if (now - this.#lastLookAt > ASLEEP_AFTER_MS) this.#awakeSince = now;
    if (now < this.#lastLookAt) {
      this.#awakeSince = Math.min(this.#awakeSince, now);
      this.#retryAt = 0;
      for (const loop of this.#parts.store.loops()) this.#arm(loop.id);
    }
    this.#lastLookAt = now;
  }

  async #tryLead(now: number): Promise<void> {
    const { store, self, firing } = this.#parts;
    const holder = store.lease();
    if (!firing) return this.#enter("off", holder);
    // Our own, when acquiring it failed after it was written: taken anew, under a token that nothing was done with.
    const isOurs = holder !== null && holder.owner === self.owner;
    const state = holder === null || isOurs ? "gone" : store.holderState(holder, now);
    // After a suspend everybody wakes at once, and the owner's next look, with its sign of life, is still to come.
    const isWaiting = state === "silent" && now - this.#awakeSince < ASLEEP_AFTER_MS;
    if (state === "alive" || isWaiting) return this.#enter("passive", holder);
    const lease = await store.acquire({ ...self, acquiredAt: now }, store.lastToken());
    if (lease === null) return this.#enter("passive", store.lease());
    this.#lease = lease;
    // Nobody fired while it was silent, although we were there.
    if (state === "silent" || state === "frozen") this.#awakeSince = now;
    this.#recovered = false;
    this.#chores.publishSoon();
    this.#enter("owner", lease);
  }

  #enter(role: Role, lease: Lease | null): void {
    if (role === this.#role) return;
    this.#role = role;
    this.#parts.observe({ type: "role", role, lease });
  }

  #demote(): void {
    this.#lease = null;
    this.#turns.abandonAll();
    this.#post({ type: "look" });
  }

  async #fireDue(): Promise<void> {
    const { clock } = this.#parts;
    while (this.#turns.size === 0 && this.#lease !== null) {
      const id = this.#schedule.popDue(clock.now());
      if (id === null) return;
      const { token } = this.#lease;
      const applied = await this.#apply(id, { type: "task.due", token, awakeSince: this.#awakeSince });
      const at = this.#schedule.armedAt(id);
      if (applied.kind === "none" && at !== null) {
        this.#schedule.arm(id, Math.max(at, clock.now() + RETRY_AFTER_MS));
      }
    }
  }

  async #apply(id: LoopId, event: LoopEvent): Promise<Applied> {
    const { store, clock, observe } = this.#parts;
    let applied: Applied;
    try {
      const token = this.#lease?.token ?? null;
      applied = await applyEvent(store, id, event, clock.now(), token, () => this.nudge());
    } finally {
      this.#arm(id);
    }
    if (applied.kind === "fenced") this.#demote();
    if (applied.kind !== "committed") return applied;
    this.#chores.publishSoon();
    if (applied.outcomes.length > 0) observe({ type: "outcomes", outcomes: applied.outcomes });
    const isOver = applied.loop.status === "ended" && applied.loop.fire === null;
    if (isOver && event.type !== "task.notified") observe({ type: "ended", task: applied.loop });
    this.#carryOut(applied);
    return applied;
  }

  #carryOut({ loop, effects }: Extract<Applied, { kind: "committed" }>): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case "deliver":
          if (loop.fire === null) break;
          this.#parts.observe({ type: "fire.intended", task: loop });
          this.#turns.start(loop, loop.fire, this.#parts.clock.now());
          break;
        case "notify":
          this.#notify(effect);
          this.#post({ type: "notified", taskId: loop.id });
          break;
        case "cancel":
          this.#turns.stop(effect.fireId, effect.reason);
          break;
      }
    }
  }

  /** A notifier that breaks its contract must not stop the fires. */
  #notify({ title, body }: Notice): void {
    try {
      this.#parts.notifier.notify(title, body);
    } catch (error) {
      this.#parts.observe({ type: "problem", message: `A notice could not be given: ${describe(error)}` });
    }
  }

  /** Another process deleted the task of a running turn. */
  #stopDeletedTurns(): void {
    for (const [fireId, taskId] of this.#turns.tasks()) {
      const status = this.#parts.store.load(taskId)?.status ?? "ended";
      if (status === "ended") this.#turns.stop(fireId, "the task was deleted");
    }
  }

  #arm(id: LoopId): void {
    const { store, clock, self } = this.#parts;
    const task = store.load(id);
    if (task === undefined || (task.session !== null && task.session !== self.owner)) {
      this.#schedule.arm(id, null);
      return;
    }
    const now = clock.now();
    const at = wakeAt(task);
    // A run by hand waits for nothing, also when the clock was set back since it was asked for.
    const soon = clockWentBack(task, now) || (at !== null && task.request?.kind === "manual");
    this.#schedule.arm(id, soon ? Math.min(at ?? now, now) : at);
  }

  #setTimer(): void {
    if (this.#stopped) return;
    if (this.#role === "passive") {
      this.#timer.lookWhenOrphaned();
      return;
    }
    const isFree = this.#lease !== null && this.#turns.size === 0;
    const next = isFree ? (this.#schedule.nextAt() ?? Infinity) : Infinity;
    this.#timer.lookBy(Math.max(next, this.#retryAt));
  }

  async #leave(): Promise<void> {
    const { store, clock, self, observe } = this.#parts;
    try {
      if (this.#lease !== null) {
        for (const task of [...store.loops()]) {
          if (task.session === self.owner)
            await this.#apply(task.id, { type: "task.deleted", reason: "its session ended" });
        }
        if (this.#lease !== null) await store.release(this.#lease.token, clock.now());
        await store.publish();
      }
    } catch (error) {
      observe({ type: "problem", message: describe(error) });
    }
    this.#stopped = true;
    this.#timer.cancel();
    this.#chores.stop();
    this.#unwatch();
    this.#role = "off";
    this.#finish();
  }
}
