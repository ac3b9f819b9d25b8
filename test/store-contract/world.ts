/**
 * What the contract needs of a store to try it. A third store joins by one more world, and by one more file like
 * `memory.test.ts`.
 */
import type { ProcessRef } from "../../src/core/base.ts";
import type { TurnName } from "../../src/ports/activity.ts";
import type { LeaseBid } from "../../src/ports/lease.ts";
import type { Store } from "../../src/ports/store.ts";

/** A store as one process has it open. */
export interface Handle {
  readonly store: Store;
  /** This process, as it asks for the lease now. */
  bid(): LeaseBid;
  /** The process is gone without a word. Its store is not used any more. */
  crash(): Promise<void>;
}

/** One shared state, empty at first, and the processes that have it open. */
export interface StoreWorld {
  open(): Promise<Handle>;
  now(): number;
  /** Lets time pass for all processes. */
  advance(ms: number): Promise<void>;
  /** Lets pass what has to pass until the store has told of a change. */
  until<T>(news: Promise<T>): Promise<T>;
  /**
   * Runs `act`, and lets the process die after so many of its writes: the next one does not happen, nor any other.
   * true: it died. false: `act` had come to its end before.
   */
  dieAfter(writes: number, handle: Handle, act: () => Promise<void>): Promise<boolean>;
  /** Drops the oldest part of the history, as the store does by itself when there is too much. */
  dropOldHistory(): Promise<void>;
  /** The agent of a turn says this. */
  speak(handle: Handle, turn: TurnName, lines: readonly string[]): Promise<void>;
  /** The process of a client, alive or gone. */
  client(state: "alive" | "gone"): Promise<ProcessRef>;
  close(): Promise<void>;
}

export type OpenWorld = () => Promise<StoreWorld>;

/** The world of one test, closed when the test is over. */
export type UseWorld = () => Promise<StoreWorld>;
