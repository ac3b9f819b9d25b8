/** The holder of one token: its sessions, its running calls and the process that may use the token. */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { ProcessRef } from "../../core/loop.ts";
import { isHeldBy } from "../../system/loopback-peer.ts";
import type { MessageId } from "./message.ts";
import type { McpOffer } from "./offer.ts";

export interface Guest {
  readonly offer: () => McpOffer;
  /** Opened by `initialize`, for clients that want one. The token alone is enough. Most recent last. */
  readonly sessions: Set<string>;
  readonly calls: Set<RunningCall>;
  readonly gone: AbortController;
  process: ProcessRef | null;
  /** The connections that `process` holds. */
  checked: WeakSet<Socket>;
}

interface RunningCall {
  readonly id: MessageId;
  readonly session: string | null;
  cancel(): void;
}

const MAX_SESSIONS = 64;

export function newGuest(offer: () => McpOffer): Guest {
  return {
    ...{ offer, sessions: new Set(), calls: new Set(), gone: new AbortController() },
    ...{ process: null, checked: new WeakSet() },
  };
}

/** true also where the system cannot tell. Looks once for each connection. */
export async function isAtItsProcess({ process, checked }: Guest, socket: Socket): Promise<boolean> {
  const { localPort, remotePort } = socket;
  if (process === null || checked.has(socket)) return true;
  if (localPort === undefined || remotePort === undefined) return false;
  if ((await isHeldBy(process.pid, { localPort, remotePort })) === false) return false;
  checked.add(socket);
  return true;
}

export function openSession({ sessions }: Guest): string {
  const session = randomBytes(16).toString("hex");
  sessions.add(session);
  for (const oldest of [...sessions].slice(0, -MAX_SESSIONS)) sessions.delete(oldest);
  return session;
}

export function endSession(guest: Guest, session: string): void {
  guest.sessions.delete(session);
  cancelCalls(guest, (call) => call.session === session);
}

export function cancelCalls({ calls }: Guest, isMeant: (call: RunningCall) => boolean): void {
  for (const call of [...calls].filter(isMeant)) call.cancel();
}
