/** Which process holds the other end of a TCP connection on this machine. Linux only. Keeps nothing. */
import { readdirSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
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
export async function isHeldBy(root: number, connection: Connection): Promise<boolean | null> {
  const inode = await peerInode(connection);
  if (typeof inode !== "string") return inode;
  const own = holds(root, inode);
  if (own === true) return true;
  const others = membersOf(root).map((pid) => holds(pid, inode));
  if (others.includes(true)) return true;
  return own === null || others.includes(null) ? null : false;
}

/** false: nobody holds the other end any more; null: there is no table of connections. */
async function peerInode({ localPort, remotePort }: Connection): Promise<string | false | null> {
  if (process.platform !== "linux") return null;
  const [local, remote] = [hexPort(localPort), hexPort(remotePort)];
  // some clients use IPv6 sockets for IPv4 addresses
  for (const name of ["tcp", "tcp6"]) {
    const rows = await readTable(name);
    if (name === "tcp" && !rows.some(([, from, , state]) => state === LISTENING && from?.endsWith(local)))
      return null;
    const inode = rows.find(([, from, to]) => from?.endsWith(remote) && to?.endsWith(local))?.[9];
    if (inode !== undefined && inode !== "0") return inode;
  }
  return false;
}

/** In the background: on a machine with much memory the kernel takes milliseconds for it. */
async function readTable(name: string): Promise<readonly (readonly string[])[]> {
  const table = await readFile(`/proc/net/${name}`, "latin1").catch(() => "");
  return table.split("\n").map((line) => line.trim().split(/\s+/));
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
