/**
 * Owns the hashes of files and knows which hashes are still valid. Must not hang, follow a link or throw, whatever a
 * name refers to: a pipe, a socket, a device, a file that vanishes while it is read.
 *
 * 1. A hash is kept only while size, times, inode and mode of the file stay the same.
 * 2. A file that changed very recently could change again with the same times (git calls this racy). It is hashed
 *    again. Only ctime counts, because no program can set it.
 * 3. Large files are read in parts, so that other work can run in between.
 */
import { createHash, type Hash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { errorCode } from "../../system/files.ts";
import { encodePath } from "./raw-path.ts";

export interface FileHashes {
  /** Hashes kind, mode and content. null: the file does not exist. A promise only for large files. */
  hash(path: string): string | null | Promise<string | null>;
  /** Size, times, inode and mode at the last hash; null: the file did not exist. */
  sign(path: string): string | null;
}

const LARGE_BYTES = 1024 * 1024;
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** File systems record times in steps of at most 10 ms, or in whole seconds. */
const FINE_TICK_NS = 20_000_000n;
const COARSE_TICK_NS = 2_000_000_000n;
const SECOND_NS = 1_000_000_000n;

export function createFileHashes(now: () => number = Date.now): FileHashes {
  /** `hash` null: hash the file again. */
  const known = new Map<string, { readonly sign: string; readonly hash: string | null }>();
  return {
    hash(path) {
      const raw = encodePath(path);
      const stat = look(raw);
      if (stat === null || stat.isDirectory()) {
        known.delete(path);
        return stat === null ? null : hashRepository(path);
      }
      const sign = signOf(stat);
      const before = known.get(path);
      if (before?.sign === sign && before.hash !== null) return before.hash;
      known.set(path, { sign, hash: null });
      if (!stat.isFile()) return hashOther(raw, stat);
      const keep = (hash: string | null): string | null => {
        if (isSettled(stat, now())) known.set(path, { sign, hash });
        return hash;
      };
      return stat.size > LARGE_BYTES ? hashLarge(raw, stat).then(keep) : keep(hashSmall(raw, stat));
    },
    sign: (path) => known.get(path)?.sign ?? null,
  };
}

/** The content of a small plain file; null: not a plain file, or too large. */
export function readPlain(path: string, capBytes: number): Buffer | null {
  let file: number | null = null;
  try {
    file = openSync(encodePath(path), READ);
    const stat = fstatSync(file);
    return stat.isFile() && stat.size <= capBytes ? readAll(file, stat.size) : null;
  } catch {
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** A file counts as unchanged while this text stays the same. */
export function signOf(stat: BigIntStats): string {
  return `${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.dev} ${stat.ino} ${stat.mode}`;
}

/** Would another change show in the times of the file? */
export function isSettled(stat: BigIntStats, nowMs: number): boolean {
  const isCoarse = stat.ctimeNs % SECOND_NS === 0n && stat.mtimeNs % SECOND_NS === 0n;
  return BigInt(Math.floor(nowMs)) * 1_000_000n - stat.ctimeNs > (isCoarse ? COARSE_TICK_NS : FINE_TICK_NS);
}

export function sha256(text: string | Buffer): string {
  return createHash("sha256").update(text).digest("hex");
}

function look(path: string | Buffer): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch {
    // a parent is no folder any more, or we have no permission
    return null;
  }
}

function hashSmall(path: string | Buffer, stat: BigIntStats): string | null {
  let file: number | null = null;
  try {
    file = openSync(path, READ);
    // the name may refer to something else now
    const size = fstatSync(file).isFile() ? Number(stat.size) : 0;
    return start(stat).update(readAll(file, size)).digest("hex");
  } catch (error) {
    return hashFailure(error);
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Reads the whole file, also when its size changed. */
function readAll(file: number, size: number): Buffer {
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const read = readSync(file, buffer, length, buffer.length - length, null);
    length += read;
    if (read === 0 || length > LARGE_BYTES * 16) return buffer.subarray(0, length);
    if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
}

async function hashLarge(path: string | Buffer, stat: BigIntStats): Promise<string | null> {
  try {
    const file = await open(path, READ);
    try {
      const hash = start(stat);
      if ((await file.stat()).isFile()) {
        const buffer = Buffer.allocUnsafe(LARGE_BYTES);
        for (;;) {
          const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
          if (bytesRead === 0) break;
          hash.update(buffer.subarray(0, bytesRead));
        }
      }
      return hash.digest("hex");
    } finally {
      await file.close();
    }
  } catch (error) {
    return hashFailure(error);
  }
}

/** Of the mode only the executable bit counts, as in git. */
function start(stat: BigIntStats): Hash {
  return createHash("sha256").update((stat.mode & 0o111n) === 0n ? "file\n" : "program\n");
}

/** null: the file vanished. A file that cannot be read has a hash of its own. */
function hashFailure(error: unknown): string | null {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR" ? null : sha256(`unreadable\n${code}`);
}

function hashOther(path: string | Buffer, stat: BigIntStats): string | null {
  if (!stat.isSymbolicLink()) return sha256(`special\n${stat.mode & 0o170000n} ${stat.rdev}`);
  try {
    return sha256(Buffer.concat([Buffer.from("link\n"), readlinkSync(path, { encoding: "buffer" })]));
  } catch (error) {
    return hashFailure(error);
  }
}

const HEAD_BYTES = 4096;

/** A nested repository counts as its commit. Any other folder has no hash. */
function hashRepository(path: string): string | null {
  const link = readPlain(`${path}/.git`, HEAD_BYTES)?.toString("utf8");
  const target = /^gitdir: (.+)/.exec(link ?? "")?.[1];
  const gitDir =
    target === undefined ? `${path}/.git` : target.startsWith("/") ? target : `${path}/${target}`;
  const head = readPlain(`${gitDir}/HEAD`, HEAD_BYTES)?.toString("utf8");
  if (head === undefined) return null;
  const ref = /^ref: (refs\/[\w./-]+)\s*$/.exec(head)?.[1];
  const commit = ref === undefined || ref.includes("..") ? null : readPlain(`${gitDir}/${ref}`, HEAD_BYTES);
  return sha256(`repository\n${head}\n${commit?.toString("utf8") ?? ""}`);
}
