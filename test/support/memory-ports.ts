/**
 * A whole world in memory: a disk that several processes share, a clock that only a test moves, an agent that
 * does what it is told, and processes that can die or freeze after any step.
 *
 * 1. Lines count by the real rules (`admit`); every process folds them for itself, as the real journal does.
 * 2. Timers run on a monotonic clock. `jump` moves the wall clock only, as suspend, NTP and people do.
 * 3. A dead process does nothing more: its timers are silent, its calls neither act nor return.
 * 4. A frozen process does what it was about to do when it thaws.
 * 5. Turns belong to the world and not to the process that started them: they outlive it.
 */

import type { LoopEvent, Outcome } from "../../src/core/event.ts";
import type { Cadence, LoopId, Task } from "../../src/core/loop.ts";
import { createTask, type TaskDraft } from "../../src/core/task/decide-task.ts";
import { type Applied, applyEvent } from "../../src/engine/apply.ts";
import { Engine, type EngineNews } from "../../src/engine/engine.ts";
import { forwardStore } from "../../src/engine/forward-store.ts";
import {
  ABANDONED,
  type Agent,
  type Turn,
  type TurnControl,
  type TurnEnd,
  type TurnFate,
} from "../../src/ports/agent.ts";
import type { CheckEvidence, Checker } from "../../src/ports/checks.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Notifier } from "../../src/ports/notifier.ts";
import type { Store } from "../../src/ports/store.ts";
import { FakeClock, MemoryJournal, MemoryStore, settled } from "../../src/testing.ts";
import { asTask } from "./only-tasks.ts";

export const START = Date.UTC(2026, 0, 5, 10, 0, 0);

export interface Delivery {
  readonly fireId: string;
  readonly taskId: LoopId;
  readonly slot: number;
  readonly token: number;
  readonly kind: string;
  readonly text: string;
  readonly at: number;
}

/** How a turn goes: it ends by itself after `ms`, or never. */
export type TurnScript = { readonly ms: number; readonly end: TurnEnd } | "hang";

const NOTHING_TOLD = { usage: null, conversation: null, activity: null } as const;

export const OK = { kind: "ok", answer: "done", ...NOTHING_TOLD } as const satisfies TurnEnd;
export const FAILED = failedWith("exit 1");

function failedWith(reason: string): TurnEnd {
  return { kind: "failed", failure: { class: "fault", reason, resetsAt: null }, answer: "", ...NOTHING_TOLD };
}

/** The slot that the agent is told of in its environment. */
export function slotOf(turn: Turn): number {
  return Date.parse(turn.env.LOOP_SLOT ?? "");
}

interface RunningTurn {
  readonly delivery: Delivery;
  readonly end: Promise<TurnEnd>;
  readonly finish: (end: TurnEnd) => void;
  ended: TurnEnd | null;
}

/** The host of all turns, with the promise of the port: one start per fire and token, never after "never". */
export class ScriptedAgent {
  readonly deliveries: Delivery[] = [];
  script: (turn: Turn) => TurnScript = () => ({ ms: 0, end: OK });
  /** What a recovery is told about this turn instead of the truth. */
  fate: (turn: Turn) => TurnFate | null = () => null;
  running = 0;
  mostAtOnce = 0;
  readonly #clock: Clock;
  readonly #turns = new Map<string, RunningTurn>();
  readonly #void = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(turn: Turn, signal: AbortSignal, onStarted: () => void): Promise<TurnEnd> {
    const key = `${turn.id}#${turn.token}`;
    if (this.#void.has(key) || this.#turns.has(key)) {
      return Promise.resolve(failedWith("this attempt is taken"));
    }
    const { id: fireId, loopId: taskId, token, text } = turn;
    const kind = turn.env.LOOP_KIND ?? "";
    const delivery = { fireId, taskId, slot: slotOf(turn), token, kind, text, at: this.#clock.now() };
    this.deliveries.push(delivery);
    let resolve: (end: TurnEnd) => void = () => {};
    const end = new Promise<TurnEnd>((done) => {
      resolve = done;
    });
    const finish = (how: TurnEnd) => {
      if (running.ended !== null) return;
      running.ended = how;
      this.running -= 1;
      resolve(how);
    };
    const running: RunningTurn = { delivery, end, finish, ended: null };
    this.#turns.set(key, running);
    this.running += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.running);
    this.#stopOn(signal, running);
    const script = this.script(turn);
    if (script !== "hang") this.#clock.wake(this.#clock.now() + script.ms, () => finish(script.end));
    onStarted();
    return end;
  }

  reconcile(turn: Turn, signal: AbortSignal): TurnFate {
    const key = `${turn.id}#${turn.token}`;
    const told = this.fate(turn);
    if (told !== null) return told;
    const running = this.#turns.get(key);
    if (running === undefined) {
      this.#void.add(key);
      return { kind: "never" };
    }
    if (running.ended !== null) return { kind: "ended", end: running.ended };
    this.#stopOn(signal, running);
    return { kind: "running", process: null, end: running.end };
  }

  /** Ends a turn that hangs. */
  finish(fireId: string, end: TurnEnd): void {
    for (const running of this.#turns.values()) if (running.delivery.fireId === fireId) running.finish(end);
  }

  /** Long runs keep no record. */
  forget(): void {
    this.deliveries.length = 0;
    for (const [key, { ended }] of this.#turns) if (ended !== null) this.#turns.delete(key);
  }

  #stopOn(signal: AbortSignal, running: RunningTurn): void {
    const stop = () => {
      if (signal.reason !== ABANDONED) running.finish({ kind: "cancelled" });
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
  }
}

export type Step = "append" | "delivery started" | "delivery ended" | "notified" | "reconciled";

/** One process with an engine in it. */
export class MemoryProcess {
  readonly pid: number;
  readonly store: MemoryStore;
  readonly engine: Engine;
  readonly news: EngineNews[] = [];
  alive = true;
  #thawed: Promise<void> | null = null;
  #thaw: () => void = () => {};
  readonly #world: World;

  constructor(world: World, pid: number, options: { firing?: boolean; owner?: string }) {
    this.#world = world;
    this.pid = pid;
    const clock: Clock = {
      now: () => world.clock.now(),
      wake: (at, callback) => world.clock.wake(at, () => void this.#act(() => callback())),
    };
    this.store = new MemoryStore({
      journal: world.journal,
      clock,
      name: `p${pid}`,
      isRunning: (other) => world.isRunning(other),
    });
    this.engine = new Engine({
      store: this.#guardStore(),
      clock,
      agent: this.#agent(),
      checker: this.#checker(),
      notifier: this.#notifier(),
      goals: null,
      self: { owner: options.owner ?? `runner:${pid}`, pid, procStart: `start-${pid}`, host: "here" },
      firing: options.firing ?? true,
      observe: (news) => {
        if (this.alive) this.news.push(news);
      },
    });
  }

  get problems(): string[] {
    return this.news.flatMap((news) => (news.type === "problem" ? [news.message] : []));
  }

  get roles(): string[] {
    return this.news.flatMap((news) => (news.type === "role" ? [news.role] : []));
  }

  kill(): void {
    this.alive = false;
  }

  freeze(): void {
    this.#thawed ??= new Promise((resolve) => {
      this.#thaw = resolve;
    });
  }

  thaw(): void {
    this.#thawed = null;
    this.#thaw();
  }

  /** Acts now, after the thaw, or never. */
  async #act<T>(action: () => T | Promise<T>): Promise<T> {
    while (this.#thawed !== null) await this.#thawed;
    if (!this.alive) return new Promise<T>(() => {});
    const result = await action();
    while (this.#thawed !== null) await this.#thawed;
    return this.alive ? result : new Promise<T>(() => {});
  }

  #step(step: Step): void {
    this.#world.onStep(step, this);
  }

  #guardStore(): Store {
    const { store } = this;
    const appending = <T>(action: () => Promise<T>) =>
      this.#act(async () => {
        try {
          return await action();
        } finally {
          this.#step("append");
        }
      });
    return {
      ...forwardStore(store),
      catchUp: () => this.#act(() => store.catchUp()),
      refresh: () => this.#act(() => store.refresh()),
      commit: (commit) => appending(() => store.commit(commit)),
      acquire: (lease, expected) => appending(() => store.acquire(lease, expected)),
      release: (token, at) => appending(() => store.release(token, at)),
      heartbeat: (lease, at) => this.#act(() => store.heartbeat(lease, at)),
    };
  }

  #agent(): Agent {
    const { agent } = this.#world;
    const run = async (turn: Turn, control: TurnControl): Promise<TurnEnd> => {
      const started = await this.#act(() => {
        const end = agent.start(turn, this.#signal(control), () => {});
        this.#step("delivery started");
        return { end };
      });
      control.onStarted({ pid: 1, start: turn.id });
      return this.#act(async () => {
        const end = await started.end;
        this.#step("delivery ended");
        return end;
      });
    };
    const reconcile = (turn: Turn, control: TurnControl): Promise<TurnFate> =>
      this.#act(() => {
        const fate = agent.reconcile(turn, this.#signal(control));
        this.#step("reconciled");
        if (fate.kind !== "running") return fate;
        return { ...fate, end: this.#act(() => fate.end) };
      });
    return { name: "scripted", run, reconcile };
  }

  /** A dead process stops nobody. */
  #signal(control: TurnControl): AbortSignal {
    const abort = new AbortController();
    const forward = () => {
      if (this.alive) abort.abort(control.signal.reason);
    };
    if (control.signal.aborted) forward();
    else control.signal.addEventListener("abort", forward);
    return abort.signal;
  }

  #checker(): Checker {
    return {
      run: (command) => this.#act(() => this.#world.check(command)),
      sweep: () => this.#act(() => {}),
    };
  }

  #notifier(): Notifier {
    return {
      notify: (title, body) => {
        if (!this.alive) return;
        this.#world.notes.push({ title, body });
        this.#step("notified");
      },
    };
  }
}

export const DRAFT: Omit<TaskDraft, "id" | "cadence"> = {
  prompt: "check the deploy",
  session: null,
  expiresAt: null,
  jitter: false,
  missed: null,
  graceMs: null,
  expect: null,
  alertAfter: null,
  timeoutMs: 3_600_000,
  runNow: false,
  importedFrom: null,
};

export class World {
  readonly clock: FakeClock;
  readonly journal = new MemoryJournal();
  readonly agent: ScriptedAgent;
  readonly notes: { title: string; body: string }[] = [];
  readonly processes = new Map<number, MemoryProcess>();
  /** Called after every append and every effect; may kill or freeze the process. */
  onStep: (step: Step, process: MemoryProcess) => void = () => {};
  check: (command: string) => CheckEvidence = () => ({ exitCode: 0, timedOut: false, tail: "" });
  readonly #person: MemoryStore;
  #ids = 0;

  constructor(startAt = START) {
    this.clock = new FakeClock(startAt);
    this.agent = new ScriptedAgent(this.clock);
    this.#person = new MemoryStore({
      journal: this.journal,
      clock: this.clock,
      name: "person",
      isRunning: (pid) => this.isRunning(pid),
    });
  }

  isRunning(pid: number): boolean {
    return this.processes.get(pid)?.alive ?? false;
  }

  /** A new process whose engine runs. */
  async spawn(options: { firing?: boolean; owner?: string } = {}): Promise<MemoryProcess> {
    const process = new MemoryProcess(this, 100 + this.processes.size, options);
    this.processes.set(process.pid, process);
    process.engine.start();
    await settled();
    return process;
  }

  async create(cadence: Cadence, draft: Partial<TaskDraft> = {}): Promise<LoopId> {
    const id = draft.id ?? ((++this.#ids).toString(16).padStart(8, "0") as LoopId);
    const at = this.clock.now();
    const { loop, effects, outcomes } = createTask({ ...DRAFT, ...draft, id, cadence }, at);
    await this.#person.refresh();
    const event = { type: "task.created" } as const;
    const commit = { id, expectedVersion: 0, loop, event, effects, outcomes, at, token: null };
    const result = await this.#person.commit(commit);
    if (result.kind !== "committed") throw new Error(`not created: ${result.kind}`);
    return id;
  }

  /** What a person asks for from another terminal. */
  async request(id: LoopId, event: LoopEvent): Promise<Applied> {
    await this.#person.refresh();
    return applyEvent(this.#person, id, event, this.clock.now(), null);
  }

  task(id: LoopId): Task | undefined {
    return asTask(this.journal.state().loops.get(id));
  }

  outcomes(id?: LoopId): Outcome[] {
    const all = this.journal.accepted().flatMap((entry) => entry.outcomes);
    return id === undefined ? all : all.filter((outcome) => outcome.taskId === id);
  }

  deliveries(id: LoopId): Delivery[] {
    return this.agent.deliveries.filter((delivery) => delivery.taskId === id);
  }
}
