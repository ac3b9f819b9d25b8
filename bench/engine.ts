/** An engine whose looks are started and awaited one by one, on a clock that moves only for them. */
import { Engine } from "../src/engine/engine.ts";
import type { Agent } from "../src/ports/agent.ts";
import type { Clock } from "../src/ports/clock.ts";
import type { Store } from "../src/ports/store.ts";

export interface Ticking {
  readonly engine: Engine;
  readonly clock: Clock;
  /** One look of the engine, from its timer to the next. */
  tick(): Promise<void>;
}

const NO_AGENT: Agent = {
  name: "none",
  run: () => Promise.reject(new Error("nothing is due")),
  reconcile: () => Promise.reject(new Error("nothing was under way")),
};

/** Resolves when the engine owns the project and waits. */
export async function startTicking(store: Store, startAt: number): Promise<Ticking> {
  let now = startAt;
  let last: (() => void) | null = null;
  let waiting: (() => void) | null = null;
  let problem: string | null = null;
  const clock: Clock = {
    now: () => now,
    // The timer for the next look is the last thing that an engine sets before it waits.
    wake(_at, callback) {
      last = callback;
      queueMicrotask(() => {
        if (last !== callback) return;
        waiting?.();
        waiting = null;
      });
      return { cancel: () => {} };
    },
  };
  const engine = new Engine({
    store,
    clock,
    agent: NO_AGENT,
    checker: { run: async () => ({ exitCode: 0, timedOut: false, tail: "" }), sweep: async () => {} },
    notifier: { notify: () => {} },
    goals: null,
    self: { owner: "bench", pid: process.pid, procStart: null, host: "here" },
    firing: true,
    observe: (news) => {
      if (news.type === "problem") problem = news.message;
    },
  });
  const nextWait = () =>
    new Promise<void>((resolve) => {
      waiting = resolve;
    });
  engine.start();
  // the timer of its first publication comes before that of its next look
  for (let looks = 0; looks < 1_000 && engine.role !== "owner"; looks++) await new Promise(setImmediate);
  await new Promise(setImmediate);
  if (engine.role !== "owner") throw new Error(`the engine is ${engine.role}: ${problem}`);
  return {
    engine,
    clock,
    async tick() {
      const callback = last;
      if (callback === null) throw new Error("the engine does not wait");
      now += 1;
      const done = nextWait();
      callback();
      await done;
    },
  };
}
