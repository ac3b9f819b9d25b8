/**
 * A project in memory with goals in it: files that turns and people change, checks that look at them, and processes
 * that can die or freeze after any step. The disk, the clock and the host of turns are those of memory-ports.ts.
 *
 * 1. Files belong to the world: what a turn wrote stays, whoever dies.
 * 2. A check takes its time, and looks at the files when it ends.
 * 3. Everything under `test/` is what checks consist of.
 */
import { createChain } from "../../../src/agents/chain/chain.ts";
import type { LoopEvent } from "../../../src/core/event.ts";
import type { GoalDraft } from "../../../src/core/goal/create.ts";
import type { Goal, ProtectedChange } from "../../../src/core/goal/goal.ts";
import type { LoopId } from "../../../src/core/loop.ts";
import { type Applied, applyEvent } from "../../../src/engine/apply.ts";
import { Engine, type EngineNews } from "../../../src/engine/engine.ts";
import { forwardStore } from "../../../src/engine/forward-store.ts";
import { addGoal } from "../../../src/engine/goals/goals.ts";
import type { GoalParts } from "../../../src/engine/parts.ts";
import type { Agent, Turn, TurnControl, TurnEnd, TurnFate } from "../../../src/ports/agent.ts";
import type { CheckEvidence, Checker, Protection, Snapshot } from "../../../src/ports/checks.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Notifier } from "../../../src/ports/notifier.ts";
import type { Store } from "../../../src/ports/store.ts";
import { FakeClock, MemoryJournal, MemoryStore, settled } from "../../../src/testing.ts";
import { ScriptedAgent, START } from "../memory-ports.ts";
import { aDraft } from "./goal-play.ts";

const SECOND = 1_000;

export type GoalStep =
  | "append"
  | "turn started"
  | "turn ended"
  | "reconciled"
  | "notified"
  | "checked"
  | "looked"
  | "saved";

/** What a turn writes as soon as it runs, and how it ends. `block`: with a status block of this turn. */
export interface Act {
  readonly write?: Readonly<Record<string, string | null>>;
  readonly ms?: number;
  readonly exit?: boolean;
  readonly block?: string;
  readonly end?: Partial<Extract<TurnEnd, { kind: "failed" }>> | Partial<Extract<TurnEnd, { kind: "ok" }>>;
}

export const COST = 0.5;

export class GoalWorld {
  readonly clock = new FakeClock(START);
  readonly journal = new MemoryJournal();
  readonly agent = new ScriptedAgent(this.clock);
  /** Agents of a chain that are asked before it. */
  before: readonly ScriptedAgent[] = [];
  readonly files = new Map<string, string>([
    ["src/app.ts", "broken"],
    ["test/app.test.ts", "strict"],
  ]);
  readonly processes: GoalProcess[] = [];
  readonly notes: string[] = [];
  readonly saved: { readonly label: string; readonly files: ReadonlyMap<string, string> }[] = [];
  readonly records = new Map<string, ReadonlyMap<string, string>>();
  /** Every command that was run, in order. */
  readonly ran: string[] = [];
  /** What a dead runner's checks left behind, as far as it was swept up. */
  readonly swept: string[] = [];
  /** What the n-th work turn does, from 1; the last one stays. */
  work: (n: number, turn: Turn) => Act | "hang" = () => ({});
  /** Plans, pre-checks and judges. */
  other: (turn: Turn) => Act | "hang" = () => ({});
  /** How each command ends, by what the files are when it ends. */
  checks: Readonly<Record<string, (files: Map<string, string>) => boolean | string>> = {
    "npm test": (files) => files.get("src/app.ts") === "fixed",
  };
  checkMs = 2 * SECOND;
  /** How long a look at the files takes; they are read at its end. */
  lookMs = 0;
  /** Right after the protected files were compared. */
  onCompared: () => void = () => {};
  agentIsMissing = false;
  snapshotFails = false;
  stateEdited = false;
  /** Called after every append and every effect; may kill or freeze the process. */
  onStep: (step: GoalStep, process: GoalProcess) => void = () => {};
  readonly person: MemoryStore;
  #nonces = 0;
  #works = 0;

  constructor() {
    this.person = new MemoryStore({
      journal: this.journal,
      clock: this.clock,
      name: "person",
      isRunning: (pid) => this.isRunning(pid),
    });
    this.agent.script = (turn) => {
      const isWork = turn.env.LOOP_KIND === "work";
      if (isWork) this.#works += 1;
      const act = isWork ? this.work(this.#works, turn) : this.other(turn);
      if (act === "hang") return act;
      for (const [path, content] of Object.entries(act.write ?? {})) this.write(path, content);
      return { ms: act.ms ?? 10 * SECOND, end: endOf(act, turn) };
    };
  }

  isRunning(pid: number): boolean {
    return this.processes[pid]?.alive ?? false;
  }

  write(path: string, content: string | null): void {
    if (content === null) this.files.delete(path);
    else this.files.set(path, content);
  }

  nonce(): string {
    this.#nonces += 1;
    return `nonce-${this.#nonces}-of-the-world`;
  }

  async spawn(options: { readonly owner?: string } = {}): Promise<GoalProcess> {
    const process = new GoalProcess(this, this.processes.length, options.owner);
    this.processes.push(process);
    process.engine.start();
    await settled();
    return process;
  }

  async create(draft: Partial<GoalDraft> = {}): Promise<LoopId> {
    const { id, ...rest } = aDraft({ criteria: [TESTS], ...draft });
    const goal = await addGoal(this.person, rest, this.clock.now(), () => id);
    return goal.id;
  }

  /** What a person asks for from another terminal. */
  async request(id: LoopId, event: LoopEvent): Promise<Applied> {
    await this.person.catchUp();
    return applyEvent(this.person, id, event, this.clock.now(), null);
  }

  goal(id: LoopId): Goal {
    const loop = this.journal.state().loops.get(id);
    if (loop?.kind !== "goal") throw new Error(`there is no goal ${id}`);
    return loop;
  }

  /** Lets time pass until it holds, or an hour has passed. */
  async until(holds: () => boolean, forMs = 3_600 * SECOND): Promise<void> {
    const end = this.clock.now() + forMs;
    while (!holds() && this.clock.now() < end) await this.clock.advance(SECOND);
  }

  snapshot(except: readonly string[] = []): Snapshot {
    const files = [...this.files].filter(([path]) => !except.includes(path)).sort();
    return { hash: JSON.stringify(files), files: new Map(files), isGit: true };
  }
}

export const TESTS: GoalDraft["criteria"][number] = {
  name: "tests",
  check: { kind: "command", command: "npm test" },
  source: "flag",
};

export function statusBlock(nonce: string, exit: boolean, more: readonly string[] = []): string {
  return [
    "I worked on it.",
    "",
    "---LOOP_STATUS---",
    `NONCE: ${nonce}`,
    `EXIT_SIGNAL: ${exit}`,
    ...more,
    "---END_STATUS---",
  ].join("\n");
}

function endOf({ exit = false, block, end = {} }: Act, { env }: Turn): TurnEnd {
  const answer = block ?? statusBlock(env.LOOP_NONCE ?? "", exit);
  const told = {
    answer,
    usage: { costUsd: COST, inputTokens: 100, outputTokens: 10 },
    conversation: null,
    activity: { toolCalls: 2, edits: {}, denials: [] },
  };
  return { kind: "ok", ...told, ...end } as TurnEnd;
}

/** One process with an engine in it. */
export class GoalProcess {
  readonly pid: number;
  readonly engine: Engine;
  readonly news: EngineNews[] = [];
  alive = true;
  readonly #world: GoalWorld;
  #thawed: Promise<void> | null = null;
  #thaw: () => void = () => {};

  constructor(world: GoalWorld, pid: number, owner = `runner:${pid}`) {
    this.#world = world;
    this.pid = pid;
    const clock: Clock = {
      now: () => world.clock.now(),
      wake: (at, callback) => world.clock.wake(at, () => void this.#act(() => callback())),
    };
    const store = new MemoryStore({
      journal: world.journal,
      clock,
      name: `p${pid}`,
      isRunning: (other) => world.isRunning(other),
    });
    this.engine = new Engine({
      store: this.#guard(store),
      clock,
      agent: this.#agent(),
      checker: this.#checker(),
      notifier: this.#notifier(),
      goals: this.#goals(),
      self: { owner, pid, procStart: `start-${pid}`, host: "here" },
      firing: true,
      observe: (news) => {
        if (this.alive) this.news.push(news);
      },
    });
  }

  get problems(): string[] {
    return this.news.flatMap((news) => (news.type === "problem" ? [news.message] : []));
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
  async #act<T>(action: () => T | Promise<T>, step: GoalStep | null = null): Promise<T> {
    while (this.#thawed !== null) await this.#thawed;
    if (!this.alive) return new Promise<T>(() => {});
    try {
      return await action();
    } finally {
      if (step !== null && this.alive) this.#world.onStep(step, this);
      while (this.#thawed !== null) await this.#thawed;
      if (!this.alive) await new Promise<T>(() => {});
    }
  }

  #wait(ms: number, signal?: AbortSignal): Promise<void> {
    const { clock } = this.#world;
    return new Promise((resolve) => {
      clock.wake(clock.now() + ms, resolve);
      signal?.addEventListener("abort", () => resolve());
    });
  }

  #guard(store: MemoryStore): Store {
    return {
      ...forwardStore(store),
      catchUp: () => this.#act(() => store.catchUp()),
      refresh: () => this.#act(() => store.refresh()),
      commit: (commit) => this.#act(() => store.commit(commit), "append"),
      acquire: (lease, expected) => this.#act(() => store.acquire(lease, expected), "append"),
      release: (token, at) => this.#act(() => store.release(token, at), "append"),
      heartbeat: (lease, at) => this.#act(() => store.heartbeat(lease, at)),
    };
  }

  #agent(agent = this.#world.agent): Agent {
    const finish = (end: Promise<TurnEnd>) => this.#act(() => end, "turn ended");
    const run = async (turn: Turn, control: TurnControl): Promise<TurnEnd> => {
      const started = await this.#act(
        () => ({ end: agent.start(turn, this.#signal(control.signal), () => {}) }),
        "turn started",
      );
      control.onStarted({ pid: 1, start: turn.id });
      return finish(started.end);
    };
    const reconcile = async (turn: Turn, control: TurnControl): Promise<TurnFate> => {
      const fate = await this.#act(() => agent.reconcile(turn, this.#signal(control.signal)), "reconciled");
      return fate.kind === "running" ? { ...fate, end: finish(fate.end) } : fate;
    };
    return { name: "scripted", run, reconcile };
  }

  /** A dead process stops nobody. */
  #signal(signal: AbortSignal): AbortSignal {
    const abort = new AbortController();
    const forward = () => {
      if (this.alive) abort.abort(signal.reason);
    };
    if (signal.aborted) forward();
    else signal.addEventListener("abort", forward);
    return abort.signal;
  }

  #checker(): Checker {
    const world = this.#world;
    const run = async (command: string, _: number, signal: AbortSignal): Promise<CheckEvidence> => {
      await this.#act(() => this.#wait(world.checkMs, signal));
      return this.#act(() => {
        if (signal.aborted) return { exitCode: null, timedOut: false, tail: "" };
        world.ran.push(command);
        const result = world.checks[command]?.(world.files) ?? false;
        const isMet = result !== false;
        const tail = typeof result === "string" ? result : isMet ? "ok" : "1 failed";
        return { exitCode: isMet ? 0 : 1, timedOut: false, tail };
      }, "checked");
    };
    return { run, sweep: (mark) => this.#act(() => void world.swept.push(mark)) };
  }

  #notifier(): Notifier {
    return {
      notify: (title, body) => {
        if (!this.alive) return;
        this.#world.notes.push(`${title}: ${body}`);
        this.#world.onStep("notified", this);
      },
    };
  }

  #goals(): GoalParts {
    const world = this.#world;
    const { before, clock } = world;
    const agent =
      before.length === 0
        ? this.#agent()
        : createChain([...before.map((each) => this.#agent(each)), this.#agent()], {
            now: () => clock.now(),
          });
    return {
      agentFor: () => {
        if (world.agentIsMissing) throw new Error("No agent was found.");
        return agent;
      },
      workspace: {
        snapshot: (except) =>
          this.#act(async () => {
            if (world.lookMs > 0) await this.#wait(world.lookMs);
            if (world.snapshotFails) throw new Error("the disk cannot be read");
            return world.snapshot(except);
          }, "looked"),
      },
      protection: this.#protection(),
      checkpoints: {
        save: (_, label) =>
          this.#act(() => {
            const step = world.saved.length;
            world.saved.push({ label, files: new Map(world.files) });
            return { kind: "saved", commit: `c0ffee${step}`, step } as const;
          }, "saved"),
        begin: (_, label) =>
          this.#act(() => {
            const step = world.saved.length;
            world.saved.push({ label, files: new Map(world.files) });
            return { kind: "begun", step } as const;
          }, "saved"),
        settle: async () => {},
        list: async () => [],
        restore: async () => ({ kind: "refused", reason: "not in this world" }),
      },
      newNonce: () => world.nonce(),
      wasStateEdited: () => world.stateEdited,
    };
  }

  #protection(): Protection {
    const world = this.#world;
    const protectedFiles = () =>
      new Map([...world.files].filter(([path]) => path.startsWith("test/")).sort());
    return {
      stamps: async () => new Map(),
      record: () =>
        this.#act(() => {
          const files = protectedFiles();
          const digest = JSON.stringify([...files]);
          world.records.set(digest, files);
          return { digest, count: files.size };
        }, "saved"),
      compare: (_, digest, { criteria }) =>
        this.#act(() => {
          const before = world.records.get(digest);
          if (before === undefined) return { kind: "tampered", reason: "it is gone" } as const;
          const names = criteria.map(({ name }) => name);
          const changes = changesBetween(before, protectedFiles(), names);
          world.onCompared();
          return { kind: "known", changes, stamps: new Map<string, string>() } as const;
        }),
      diff: async () => "",
    };
  }
}

function changesBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  criteria: readonly string[],
): readonly ProtectedChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path): ProtectedChange[] => {
    const [was, is] = [before.get(path), after.get(path)];
    if (was === is) return [];
    const change = is === undefined ? "deleted" : was === undefined ? "added" : "changed";
    return [{ path, change, hash: is ?? null, criteria }];
  });
}
