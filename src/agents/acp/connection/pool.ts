/**
 * Agents that stay warm between turns. Owns all peers that are not in a turn, and the timers that close them.
 *
 * 1. A peer serves one turn at a time.
 * 2. A peer that stays was started for a loop, and serves turns of that loop only: its environment says so.
 * 3. A turn of a task gets a process of its own, with the environment of that turn, because commands that it may run
 *    (`loop wakeup`) read it; it ends with the turn.
 * 4. Idle peers keep no runner from exiting, and end with it.
 */
import type { LoopId, ProcessRef } from "../../../core/loop.ts";
import type { Turn } from "../../../ports/agent.ts";
import { isAlive } from "../../../system/process.ts";
import type { Peer } from "./peer.ts";
import type { Session } from "./session.ts";

/** A peer with what is known of its conversations. */
export interface PooledAgent {
  readonly peer: Peer;
  readonly loopId: LoopId;
  /** The one that was used last is the last. */
  readonly sessions: Map<string, Session>;
  /** Was it there before this turn? */
  isUsed: boolean;
  /** Who belonged to the agent before the prompt; null: to be looked up. */
  members: readonly ProcessRef[] | null;
}

export interface PoolOptions {
  /** Rejects as `openPeer` does. */
  readonly open: (turn: Turn, signal: AbortSignal) => Promise<Peer>;
  readonly idleMs: number;
  readonly maxWarm: number;
}

export interface Pool {
  /** Rejects as `open` does. */
  take(turn: Turn, signal: AbortSignal): Promise<PooledAgent>;
  /** After a turn. Resolves when what does not stay is gone. */
  give(seat: PooledAgent, turn: Turn): Promise<void>;
  /** Ends it. Must not reject. */
  drop(seat: PooledAgent): Promise<void>;
  close(): Promise<void>;
}

const MOST_SESSIONS = 4;

export function createPool({ open, idleMs, maxWarm }: PoolOptions): Pool {
  /** The one that was used last is the last. */
  const idle = new Map<PooledAgent, NodeJS.Timeout>();
  const busy = new Set<PooledAgent>();
  let isClosed = false;

  async function take(turn: Turn, signal: AbortSignal): Promise<PooledAgent> {
    const mine = [...idle.keys()].filter(({ peer, loopId }) => loopId === turn.loopId && isThere(peer));
    const wanted = turn.conversation?.id ?? "";
    const warm = staysWarm(turn)
      ? (mine.find(({ sessions }) => sessions.has(wanted)) ?? mine.at(-1))
      : undefined;
    if (warm !== undefined) {
      clearTimeout(idle.get(warm));
      idle.delete(warm);
      warm.isUsed = true;
      return use(warm);
    }
    isClosed = false;
    const peer = await open(turn, signal);
    return use({ peer, loopId: turn.loopId, sessions: new Map(), isUsed: false, members: null });
  }

  function use(seat: PooledAgent): PooledAgent {
    busy.add(seat);
    seat.peer.process.hold(true);
    return seat;
  }

  async function give(seat: PooledAgent, turn: Turn): Promise<void> {
    if (!busy.delete(seat)) return;
    const isFull = !seat.peer.can.close && seat.sessions.size > MOST_SESSIONS;
    if (isClosed || isFull || seat.peer.isGone() || !staysWarm(turn) || maxWarm === 0) return drop(seat);
    trimSessions(seat);
    const timer = setTimeout(() => void drop(seat), idleMs);
    timer.unref();
    idle.set(seat, timer);
    seat.peer.process.hold(false);
    const [oldest] = idle.keys();
    if (idle.size > maxWarm && oldest !== undefined) await drop(oldest);
  }

  async function drop(seat: PooledAgent): Promise<void> {
    clearTimeout(idle.get(seat));
    idle.delete(seat);
    busy.delete(seat);
    for (const session of seat.sessions.values()) session.access?.close();
    seat.sessions.clear();
    await seat.peer.close();
  }

  return {
    take,
    give,
    drop,
    async close() {
      isClosed = true;
      await Promise.all([...idle.keys(), ...busy].map(drop));
    },
  };
}

/** Its end may not have been told yet. */
function isThere(peer: Peer): boolean {
  return !peer.isGone() && isAlive(peer.process.ref);
}

/** A turn of a goal or of a story has a nonce, and others of its loop follow. */
export function staysWarm(turn: Turn): boolean {
  return turn.env.LOOP_NONCE !== undefined;
}

/** Conversations that are not gone on with are memory of the agent's. */
function trimSessions({ peer, sessions }: PooledAgent): void {
  for (const [id, { access }] of [...sessions].slice(0, -MOST_SESSIONS)) {
    access?.close();
    sessions.delete(id);
    peer.request("session/close", { sessionId: id }, 10_000).catch(() => {});
  }
}
