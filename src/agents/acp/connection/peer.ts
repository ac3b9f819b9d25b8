/**
 * An agent that was started and greeted: requests to it, and what it sends by itself. Owns its process and the
 * connection. Knows nothing of turns; whoever has one listens while it lasts.
 *
 * 1. No request waits for a process or a connection that is gone.
 * 2. Updates come in the order in which they were sent, before the answer that was sent after them.
 * 3. A permission that is asked for while nobody listens is refused.
 */
import { describeExit } from "../../process/reasons.ts";
import {
  type AgentCapabilities,
  type PermissionParams,
  parseInitialized,
  parsePermission,
  parseUpdate,
  type Update,
} from "./messages.ts";
import { type PeerCommand, type PeerProcess, startPeer } from "./peer-process.ts";
import type { AcpNotifications, AcpRequests, PermissionOutcome } from "./protocol.ts";
import { CLOSED, openWire } from "./wire.ts";

export interface PeerListener {
  /** Each message that is no answer; `update` is null for what is of no interest. */
  onUpdate(sessionId: string | null, update: Update | null, line: string): void;
  /** Must not reject. */
  onPermission(params: PermissionParams): Promise<PermissionOutcome>;
  onBytes(count: number): void;
}

export interface Peer {
  readonly process: PeerProcess;
  readonly can: AgentCapabilities;
  isGone(): boolean;
  /** Resolves with why it is gone, for a person. */
  readonly gone: Promise<string>;
  /** Rejects with an error of the agent's (`code`, `data`), with `PeerGone` or with `PeerSilent`. */
  request<M extends keyof AcpRequests>(
    method: M,
    params: AcpRequests[M],
    withinMs?: number,
  ): Promise<unknown>;
  notify<M extends keyof AcpNotifications>(method: M, params: AcpNotifications[M]): void;
  listen(listener: PeerListener | null): void;
  /** Ends it and all that it started. Must not reject. */
  close(): Promise<void>;
}

/** It ended, or closed its stdout. */
export class PeerGone extends Error {}

/** It does not answer what agents answer at once. */
export class PeerSilent extends Error {}

const PROTOCOL_VERSION = 1;
const EXIT_MS = 500;
/** Claude and Codex then say what kind of failure a failure was. */
const CAPABILITIES = {
  fs: { readTextFile: false, writeTextFile: false },
  terminal: false,
  session: { compaction: {}, notices: {} },
  _meta: { jetbrains: { air: { version: 1, capabilities: ["sessionFailure"] } } },
};

export interface PeerLimits {
  readonly maxLineBytes: number;
  /** From the start to the end of the greeting. */
  readonly startMs: number;
}

/** Rejects as `request` does, or with what the system had against it; nothing is left then. The signal ends it. */
export async function openPeer(command: PeerCommand, limits: PeerLimits, signal: AbortSignal): Promise<Peer> {
  signal.throwIfAborted();
  const child = await startPeer(command);
  let listener: PeerListener | null = null;
  let isGone = false;

  async function permit(params: PermissionParams): Promise<object> {
    return { outcome: (await listener?.onPermission(params)) ?? { outcome: "cancelled" } };
  }

  const wire = openWire(child.stdin, child.stdout, {
    maxLineBytes: limits.maxLineBytes,
    onBytes: (count) => listener?.onBytes(count),
    onNotification(method, params, line) {
      const parsed = method === "session/update" ? parseUpdate(params) : null;
      listener?.onUpdate(parsed?.sessionId ?? null, parsed?.update ?? null, line);
    },
    onRequest: (method, params) =>
      method === "session/request_permission" ? parsePermission(params).then(permit) : undefined,
  });
  const gone = wire.closed.then(async () => {
    isGone = true;
    return describeEnd(child, await exitAfter(child));
  });

  const peer: Omit<Peer, "can"> = {
    process: child,
    isGone: () => isGone,
    gone,
    request: (method, params, withinMs) => raced(wire.request(method, params), gone, method, withinMs),
    notify: wire.notify,
    listen(next) {
      listener = next;
    },
    async close() {
      isGone = true;
      await child.kill();
    },
  };
  const onAbort = (): void => void child.kill();
  signal.addEventListener("abort", onAbort);
  try {
    const greeting = {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: "loopwright", version: "1" },
      clientCapabilities: CAPABILITIES,
    };
    const can = parseInitialized(await peer.request("initialize", greeting, limits.startMs));
    return { ...peer, can };
  } catch (error) {
    await peer.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** One that closes its stdout is about to exit; one that stays is as good as gone, and is ended. */
async function exitAfter(child: PeerProcess): Promise<number | Error> {
  const timer = setTimeout(() => void child.kill(), EXIT_MS);
  try {
    return await child.exited;
  } finally {
    clearTimeout(timer);
  }
}

function describeEnd(child: PeerProcess, exit: number | Error): string {
  if (exit instanceof Error) return `the agent's process could not be started: ${exit.message}`;
  const end = describeExit({ exitCode: exit, answer: "", stderr: child.stderr() });
  return `the agent's process ended: ${end}`;
}

/** The first of: the answer, the end of the process, the end of patience. */
function raced(
  answer: Promise<unknown>,
  gone: Promise<string>,
  method: string,
  withinMs: number | undefined,
): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    if (withinMs === undefined) return;
    const text = `the agent did not answer ${method} within ${Math.round(withinMs / 1000)}s`;
    timer = setTimeout(() => reject(new PeerSilent(text)), withinMs);
  });
  const end = gone.then((reason) => {
    throw new PeerGone(reason);
  });
  // the end of the process says more than that of the connection
  const told = answer.catch((error: unknown) => (error === CLOSED ? end : Promise.reject(error)));
  return Promise.race([told, end, silence]).finally(() => clearTimeout(timer));
}
