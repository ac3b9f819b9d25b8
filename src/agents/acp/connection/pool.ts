/**
 * Agents that stay warm between turns. Owns all idle peers and the timers that close them.
 *
 * 1. A peer serves one turn at a time.
 * 2. A warm peer serves turns of one loop only, because its environment names the loop.
 * 3. A turn of a task gets its own process with its own environment, because commands such as `loop wakeup` read it.
 *    The process ends with the turn.
 * 4. Idle peers do not keep the runner from exiting, and end with it.
 */
import type { LoopId, ProcessRef } from "../../../core/loop.ts";
import type { Turn } from "../../../ports/agent.ts";
import { isAlive } from "../../../system/process.ts";
import type { Peer } from "./peer.ts";
import type { Session } from "./session.ts";

export interface PooledAgent {
  readonly peer: Peer;
  readonly loopId: LoopId;
  /** Most recently used last. */
  readonly sessions: Map<string, Session>;
  isUsed: boolean;
  /** The agent's processes before the prompt; null: not looked up yet. */
  members: readonly ProcessRef[] | null;
}

interface PoolOptions {
  /** Rejects like `openPeer`. */
  readonly open: (turn: Turn, signal: AbortSignal) => Promise<Peer>;
  readonly idleMs: number;
  readonly maxWarm: number;
}

export type Pool = ReturnType<typeof createPool>;

const MOST_SESSIONS = 4;

export function createPool({ open, idleMs, maxWarm }: PoolOptions) {
  /** Most recently used last. */
  const idle = new Map<PooledAgent, NodeJS.Timeout>();
  const busy = new Set<PooledAgent>();
  let isClosed = false;

  /** Rejects like `open`. */
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

  /** Call it after a turn. Resolves when a peer that does not stay has ended. */
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

  /** Ends the peer. Must not reject. */
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
    async close(): Promise<void> {
      isClosed = true;
      await Promise.all([...idle.keys(), ...busy].map(drop));
    },
  };
}

/** The process may have ended before anyone noticed. */
function isThere(peer: Peer): boolean {
  return !peer.isGone() && isAlive(peer.process.ref);
}

/** A turn of a goal or a story has a nonce. More turns of its loop follow. */
export function staysWarm(turn: Turn): boolean {
  return turn.env.LOOP_NONCE !== undefined;
}

/** Closes old conversations, which cost the agent memory. */
function trimSessions({ peer, sessions }: PooledAgent): void {
  for (const [id, { access }] of [...sessions].slice(0, -MOST_SESSIONS)) {
    access?.close();
    sessions.delete(id);
    peer.request("session/close", { sessionId: id }, 10_000).catch(() => {});
  }
}
