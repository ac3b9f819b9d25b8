/** The store in memory. Its processes are handles with a number; a dead one appends nothing more. */
import type { Store } from "../../src/ports/store.ts";
import { FakeClock, MemoryJournal, MemoryStore } from "../../src/testing.ts";
import { NOW } from "../store/fixtures/tasks.ts";
import { storeContract } from "./store-contract.ts";
import type { Handle, StoreWorld } from "./world.ts";

storeContract("memory", openMemory);

async function openMemory(): Promise<StoreWorld> {
  const clock = new FakeClock(NOW);
  const journal = new MemoryJournal();
  const dead = new Set<number>();
  let pids = 100;

  function open(pid: number): Store {
    return new MemoryStore({ journal, clock, name: `p${pid}`, isRunning: (other) => !dead.has(other) });
  }

  return {
    async open() {
      const pid = ++pids;
      const bid = () => ({
        ...{ owner: `runner:${pid}`, pid, procStart: `start-${pid}`, host: "here" },
        acquiredAt: clock.now(),
      });
      return { store: open(pid), bid, crash: async () => void dead.add(pid) };
    },
    now: () => clock.now(),
    advance: (ms) => clock.advance(ms),
    async until(news) {
      await clock.advance(1_000);
      return news;
    },
    async dieAfter(writes, _handle: Handle, act) {
      let left = writes;
      // a write is followed by the answer to it: a process can die before either
      journal.fail = () => {
        left -= 2;
        return left >= 0 ? null : left === -1 ? "landed" : "lost";
      };
      try {
        await act();
        return false;
      } catch {
        return true;
      } finally {
        journal.fail = () => null;
      }
    },
    dropOldHistory: async () => journal.compact(),
    async speak({ store }, turn, lines) {
      const events = lines.map((text) => ({ type: "text", text }) as const);
      store.activity?.append(turn, events);
    },
    async client(state) {
      const pid = ++pids;
      if (state === "gone") dead.add(pid);
      return { pid, start: `start-${pid}` };
    },
    close: async () => {},
  };
}
