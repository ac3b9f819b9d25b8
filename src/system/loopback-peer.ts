/** Which process holds the other end of a TCP connection on this machine. Linux only. Keeps nothing. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { errorCode, orNull } from "./files.ts";
import { parseStat, readStat } from "./process-table.ts";
import { allPids } from "./process-tree.ts";

/** A connection to our listening port, as our side sees it. */
export interface Connection {
  readonly localPort: number;
  readonly remotePort: number;
}

/**
 * Does `root`, a process that it started or one of its session hold the other end? null: the system cannot tell. A
 * process cannot forge this: it can neither choose its ancestors nor join a session.
 */
export function isHeldBy(root: number, connection: Connection): boolean | null {
  const inode = peerInode(connection);
  if (typeof inode !== "string") return inode;
  const own = holds(root, inode);
  if (own === true) return true;
  const others = membersOf(root).map((pid) => holds(pid, inode));
  if (others.includes(true)) return true;
  return own === null || others.includes(null) ? null : false;
}

/** false: nobody holds the other end any more; null: there is no table of connections. */
function peerInode({ localPort, remotePort }: Connection): string | false | null {
  if (process.platform !== "linux") return null;
  const rows = ["tcp", "tcp6"].flatMap((name) => {
    const table = orNull(() => readFileSync(`/proc/net/${name}`, "latin1"));
    return table?.split("\n").map((line) => line.trim().split(/\s+/)) ?? [];
  });
  const [local, remote] = [localPort, remotePort].map(hexPort) as [string, string];
  if (!rows.some(([, from, , state]) => state === LISTENING && from?.endsWith(local))) return null;
  const row = rows.find(([, from, to]) => from?.endsWith(remote) && to?.endsWith(local));
  const inode = row?.[9];
  return inode === undefined || inode === "0" ? false : inode;
}

const LISTENING = "0A";

function hexPort(port: number): string {
  return `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** null: another user's process. */
function holds(pid: number, inode: string): boolean | null {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some(
      (fd) => orNull(() => readlinkSync(`${folder}/${fd}`)) === `socket:[${inode}]`,
    );
  } catch (error) {
    return errorCode(error) === "EACCES" ? null : false;
  }
}

/** The living processes that `root` started, and those of its session whose parents have ended. */
function membersOf(root: number): readonly number[] {
  const table = new Map(
    allPids()?.flatMap((pid) => {
      const stat = parseStat(readStat(pid) ?? "");
      return stat === null ? [] : [[pid, stat] as const];
    }),
  );
  const isMember = (pid: number, depth = 0): boolean => {
    const stat = table.get(pid);
    if (stat === undefined || depth > table.size) return false;
    return stat.session === root || stat.parent === root || isMember(stat.parent, depth + 1);
  };
  return [...table.keys()].filter((pid) => pid !== root && isMember(pid));
}
