/**
 * The open connections of a server, by who uses them. A connection is a stranger's until a request on it has shown a
 * token.
 *
 * 1. A stranger has only a short time to show a token, however much it sends.
 * 2. There are at most so many strangers. The oldest one is cut off for a new one, so strangers who only wait keep
 *    nobody out.
 * 3. The same holds for the connections of one guest, so a guest cannot keep others out.
 */
import type { Socket } from "node:net";

export interface ConnectionLimits {
  readonly most: number;
  readonly strangerMs: number;
}

export interface Connections<Guest extends object> {
  add(socket: Socket): void;
  /** Has shown the token of this guest. */
  claim(socket: Socket, guest: Guest): void;
}

export function createConnections<Guest extends object>({
  most,
  strangerMs,
}: ConnectionLimits): Connections<Guest> {
  const strangers = new Map<Socket, NodeJS.Timeout>();
  const guests = new WeakMap<Guest, Set<Socket>>();

  function dismiss(socket: Socket): void {
    clearTimeout(strangers.get(socket));
    strangers.delete(socket);
  }

  return {
    add(socket) {
      const cut = setTimeout(() => socket.destroy(), strangerMs).unref();
      strangers.set(socket, cut);
      socket.once("close", () => dismiss(socket));
      cutOldest(strangers.keys(), strangers.size - most);
    },
    claim(socket, guest) {
      const own = guests.get(guest) ?? new Set();
      if (socket.destroyed || own.has(socket)) return;
      dismiss(socket);
      guests.set(guest, own.add(socket));
      socket.once("close", () => own.delete(socket));
      cutOldest(own.keys(), own.size - most);
    },
  };
}

function cutOldest(sockets: Iterable<Socket>, count: number): void {
  for (const socket of [...sockets].slice(0, Math.max(0, count))) socket.destroy();
}
