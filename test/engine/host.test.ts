/** An engine whose turns go to a live conversation: when it begins one, from whom it takes the lease, what it leaves. */
import { describe, expect, test } from "vitest";
import type { Cadence, LoopId, Task } from "../../src/core/loop.ts";
import { createTask, type TaskDraft } from "../../src/core/task/decide-task.ts";
import { Engine } from "../../src/engine/engine.ts";
import { forwardStore } from "../../src/engine/forward-store.ts";
import type { EngineParts } from "../../src/engine/parts.ts";
import { ABANDONED, type Agent, type Turn, type TurnEnd } from "../../src/ports/agent.ts";
import type { Store } from "../../src/ports/store.ts";
import { FakeClock, MemoryJournal, MemoryStore, settled } from "../../src/testing.ts";
import { DRAFT, OK, START } from "../support/memory-ports.ts";
import { asTask } from "../support/only-tasks.ts";

const SECOND = 1_000;
const DAILY: Cadence = { kind: "cron", expr: "0 3 * * *", tz: "UTC" };
const MINE = "session:mine";
/** In an hour: a look now and then. */
const MOST_LOOKS = 1_000;

/** A folder, its processes, and conversations that live or do not. */
class Folder {
  readonly clock = new FakeClock(START);
  readonly journal = new MemoryJournal();
  readonly dead = new Set<number>();
  readonly live = new Set<string>([MINE]);
  readonly started: string[] = [];
  readonly #ends = new Map<string, (end: TurnEnd) => void>();
  #ids = 0;

  store(name: string): Store {
    const { journal, clock, dead, live } = this;
    const store = new MemoryStore({ journal, clock, name, isRunning: (pid) => !dead.has(pid) });
    return {
      ...forwardStore(store),
      sessions: { ...store.sessions, isOver: (session) => !live.has(session) },
    };
  }

  /** A place for turns: they last until the test ends them. */
  agent(name: string): Agent {
    const follow = (id: string, signal: AbortSignal) =>
      new Promise<TurnEnd>((resolve) => {
        this.#ends.set(id, resolve);
        signal.addEventListener("abort", () => {
          this.started.push(
            `${name} ${signal.reason === ABANDONED ? "abandons" : "stops"} ${id.slice(0, 8)}`,
          );
          resolve({ kind: "cancelled" });
        });
      });
    return {
      name,
      run: async (turn: Turn, { signal, onStarted }) => {
        this.started.push(`${name} runs ${turn.loopId}`);
        onStarted(null);
        return follow(turn.id, signal);
      },
      reconcile: async (turn, { signal }) => {
        this.started.push(`${name} finds ${turn.loopId}`);
        return { kind: "running", process: null, end: follow(turn.id, signal) };
      },
    };
  }

  finish(id: LoopId): void {
    const fire = this.task(id)?.fire;
    this.#ends.get(fire?.id ?? "")?.(OK);
  }

  async open(pid: number, owner: string, parts: Partial<EngineParts> = {}): Promise<Engine> {
    const engine = new Engine({
      store: this.store(`p${pid}`),
      clock: this.clock,
      agent: this.agent("conversation"),
      headless: () => this.agent("headless"),
      host: { isFree: () => true },
      checker: { run: async () => ({ exitCode: 0, timedOut: false, tail: "" }), sweep: async () => {} },
      notifier: { notify: () => {} },
      goals: null,
      self: { owner, pid, procStart: `start-${pid}`, host: "here" },
      firing: true,
      observe: () => {},
      ...parts,
    });
    engine.start();
    await settled();
    return engine;
  }

  async add(draft: Partial<TaskDraft> = {}): Promise<LoopId> {
    this.#ids += 1;
    const id = this.#ids.toString(16).padStart(8, "0") as LoopId;
    const at = this.clock.now();
    const made = createTask({ ...DRAFT, runNow: true, ...draft, id, cadence: DAILY }, at);
    const event = { type: "task.created" } as const;
    const result = await this.store("person").commit({
      id,
      expectedVersion: 0,
      ...made,
      event,
      at,
      token: null,
    });
    expect(result.kind).toBe("committed");
    await this.clock.advance(SECOND);
    return id;
  }

  task(id: LoopId): Task | undefined {
    return asTask(this.journal.state().loops.get(id));
  }

  get owner(): string | null {
    return this.journal.state().lease?.owner ?? null;
  }

  get holder(): number | null {
    return this.journal.state().lease?.pid ?? null;
  }
}

/** The answer, once time has passed. */
async function ask(folder: Folder, answer: Promise<boolean>): Promise<boolean> {
  let found: boolean | null = null;
  void answer.then((isOwner) => {
    found = isOwner;
  });
  for (let seconds = 0; seconds < 10 && found === null; seconds++) await folder.clock.advance(SECOND);
  if (found === null) throw new Error("it was never answered");
  return found;
}

describe("A5 a host that is not free", () => {
  test("nothing is begun there, however due it is, until it says that it is free", async () => {
    const folder = new Folder();
    let isFree = false;
    let looks = 0;
    // an engine that asks all the time would never let the clock go on
    const ask = () => ++looks > MOST_LOOKS || isFree;
    const engine = await folder.open(1, MINE, { host: { isFree: ask } });
    const id = await folder.add();
    await folder.clock.advance(3_600 * SECOND);
    expect(looks).toBeLessThan(MOST_LOOKS);
    expect(folder.started).toEqual([]);
    expect(folder.task(id)?.fire).toBeNull();
    isFree = true;
    engine.nudge();
    await settled();
    expect(folder.started).toEqual([`conversation runs ${id}`]);
  });

  test("one turn at a time goes to a host that is free", async () => {
    const folder = new Folder();
    await folder.open(1, MINE);
    const [first, second] = [await folder.add(), await folder.add()];
    expect(folder.started).toEqual([`conversation runs ${first}`]);
    folder.finish(first);
    await folder.clock.advance(SECOND);
    expect(folder.started).toEqual([`conversation runs ${first}`, `conversation runs ${second}`]);
  });
});

describe("D6 lead() takes the lease", () => {
  test("at once where nobody holds it, or who held it is gone", async () => {
    const folder = new Folder();
    const other = await folder.open(1, "runner:1");
    expect(other.role).toBe("owner");
    folder.dead.add(1);
    const engine = await folder.open(2, MINE);
    expect(await ask(folder, engine.lead())).toBe(true);
    expect(folder.owner).toBe(MINE);
    expect(await ask(folder, engine.lead())).toBe(true);
  });

  test("from another process of the same conversation, which abandons what it had under way", async () => {
    const folder = new Folder();
    const server = await folder.open(1, MINE);
    const id = await folder.add();
    const hook = await folder.open(2, MINE);
    expect(hook.role).toBe("passive");
    expect(folder.holder).toBe(1);
    expect(await ask(folder, hook.lead())).toBe(true);
    await folder.clock.advance(SECOND);
    expect(folder.holder).toBe(2);
    expect(server.role).toBe("passive");
    expect(folder.started).toEqual([
      `conversation runs ${id}`,
      ...["conversation finds", "conversation abandons"].map((what) => `${what} ${id}`),
    ]);
    folder.finish(id);
    await folder.clock.advance(SECOND);
    expect(folder.task(id)).toMatchObject({ fire: null, lastFiredAt: expect.any(Number) });
  });

  test("a sibling that only starts takes nothing", async () => {
    const folder = new Folder();
    await folder.open(1, MINE);
    await folder.open(2, MINE);
    await folder.clock.advance(60 * SECOND);
    expect(folder.holder).toBe(1);
  });

  test.each(["runner:77", "session:another"])("not from %s that lives and is at work", async (owner) => {
    const folder = new Folder();
    folder.live.add(owner);
    await folder.open(1, owner);
    const id = await folder.add();
    expect(folder.task(id)?.fire).not.toBeNull();
    const engine = await folder.open(2, MINE);
    expect(await ask(folder, engine.lead())).toBe(false);
    expect(folder.owner).toBe(owner);
    expect(folder.started).toEqual([`conversation runs ${id}`]);
  });

  test("A20 not where it is switched off", async () => {
    const folder = new Folder();
    const engine = await folder.open(1, MINE, { firing: false });
    expect(await ask(folder, engine.lead())).toBe(false);
    expect(folder.owner).toBeNull();
  });
});

describe("D6 leave() goes without stopping anything", () => {
  test("the lease is given back, the turn runs on, and the next process follows it to its end", async () => {
    const folder = new Folder();
    const hook = await folder.open(1, MINE);
    const id = await folder.add();
    await hook.leave();
    expect(folder.owner).toBeNull();
    expect(folder.started).toEqual([`conversation runs ${id}`, `conversation abandons ${id}`]);
    expect(folder.task(id)?.fire).not.toBeNull();
    await folder.open(2, MINE);
    await folder.clock.advance(SECOND);
    expect(folder.started.at(-1)).toBe(`conversation finds ${id}`);
    folder.finish(id);
    await folder.clock.advance(SECOND);
    expect(folder.task(id)).toMatchObject({ fire: null, lastFiredAt: expect.any(Number) });
  });

  test("tasks of the conversation stay; stop() ends them with it", async () => {
    const folder = new Folder();
    const hook = await folder.open(1, MINE);
    const id = await folder.add({ session: MINE, runNow: false });
    await hook.leave();
    expect(folder.task(id)?.status).toBe("active");
    const server = await folder.open(2, MINE);
    await server.stop("the conversation ended");
    expect(folder.task(id)?.status ?? "ended").toBe("ended");
  });

  test("nothing that comes later is handled any more", async () => {
    const folder = new Folder();
    const hook = await folder.open(1, MINE);
    await hook.leave();
    hook.nudge();
    await folder.add();
    await folder.clock.advance(60 * SECOND);
    expect(folder.started).toEqual([]);
    expect(hook.role).toBe("off");
  });
});

describe("D2 loops of others", () => {
  test("a task of another conversation that lives is neither run nor deleted", async () => {
    const folder = new Folder();
    folder.live.add("session:other");
    await folder.open(1, MINE);
    const id = await folder.add({ session: "session:other" });
    await folder.clock.advance(3_600 * SECOND);
    expect(folder.started).toEqual([]);
    expect(folder.task(id)).toMatchObject({ status: "active", fire: null });
  });

  test("A9 of one that is over it is deleted, and not run", async () => {
    const folder = new Folder();
    const id = await folder.add({ session: "session:other" });
    await folder.open(1, MINE);
    await folder.clock.advance(SECOND);
    expect(folder.started).toEqual([]);
    expect(folder.task(id)?.status ?? "ended").toBe("ended");
  });
});

describe("E1 where a task wants to run", () => {
  test.each([
    ["either", "conversation runs"],
    ["session", "conversation runs"],
    ["headless", "headless runs"],
  ] as const)("%s beside a conversation: %s", async (where, what) => {
    const folder = new Folder();
    await folder.open(1, MINE);
    const id = await folder.add({ where });
    expect(folder.started).toEqual([`${what} ${id}`]);
  });

  test("a headless one that another process left is found where it runs", async () => {
    const folder = new Folder();
    const hook = await folder.open(1, MINE);
    const id = await folder.add({ where: "headless" });
    await hook.leave();
    await folder.open(2, MINE);
    await folder.clock.advance(SECOND);
    expect(folder.started.at(-1)).toBe(`headless finds ${id}`);
  });

  test("one that wants a conversation waits where there is none", async () => {
    const folder = new Folder();
    const runner = new Engine({
      store: folder.store("runner"),
      clock: folder.clock,
      agent: folder.agent("process"),
      checker: { run: async () => ({ exitCode: 0, timedOut: false, tail: "" }), sweep: async () => {} },
      notifier: { notify: () => {} },
      goals: null,
      self: { owner: "runner:1", pid: 1, procStart: null, host: "here" },
      firing: true,
      observe: () => {},
    });
    runner.start();
    await settled();
    const waits = await folder.add({ where: "session" });
    const runs = await folder.add({ where: "headless" });
    await folder.clock.advance(60 * SECOND);
    expect(folder.started).toEqual([`process runs ${runs}`]);
    expect(folder.task(waits)).toMatchObject({ status: "active", fire: null });
  });
});
