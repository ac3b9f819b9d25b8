/**
 * Whose word it takes that a command from a file of a repository runs (H2): a person's, for that very content.
 *
 * Kept outside of every repository, in `$XDG_CONFIG_HOME/loopwright/trust` or `~/.config/loopwright/trust`: one
 * small file per trusted content, named by the hashes of the file's real path and of its content. So two processes
 * at once lose nothing, a content that was trusted once stays so when one changes branches, and a project that was
 * moved or copied asks again: its files have other paths.
 *
 * It keeps out what a clone brings along. It does not keep out a program that runs as the same user, such as an
 * agent without a sandbox: that could write here as well as anywhere.
 */
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync, type Stats } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import * as z from "zod";
import { LoopError } from "../../errors.ts";
import { errorCode, quarantine, readIfThere, writeAtomic } from "../../system/files.ts";
import { cannotRead, cannotWrite } from "./loop-dir.ts";

export interface TrustedFile {
  readonly path: string;
  /** All of it, as it was read: what is run is taken from this text, not from the disk. */
  readonly content: string;
}

export interface TrustEntry {
  /** With all links followed. */
  readonly path: string;
  readonly sha256: string;
  readonly at: number;
}

export interface TrustStore {
  /** False whenever it is not certain. A damaged entry is moved aside. */
  isTrusted(file: TrustedFile): boolean;
  /** Throws the sentence when it cannot be kept. */
  trust(file: TrustedFile, at: number): void;
  /** Whatever its content was. False: nothing of it was trusted. */
  revoke(path: string): boolean;
  /** By path, oldest first. */
  list(): readonly TrustEntry[];
}

const VERSION = 1;
const ENTRY = /^[0-9a-f]{64}-[0-9a-f]{64}\.json$/;

const entrySchema = z.object({
  version: z.literal(VERSION),
  path: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.number(),
});

export function createTrustStore(env: NodeJS.ProcessEnv, now: () => number = Date.now): TrustStore {
  const dir = trustFolder(env);

  return {
    isTrusted({ path, content }) {
      const real = realPath(path);
      if (dir === null || real === null || faultOf(dir) !== null) return false;
      const sha256 = hash(content);
      const entry = readEntry(join(dir, nameOf(real, sha256)), now);
      return entry?.path === real && entry.sha256 === sha256;
    },

    trust({ path, content }, at) {
      if (dir === null) throw noHome();
      const real = realPath(path);
      if (real === null) throw new LoopError("surroundings", `${path} is not there any more.`);
      const sha256 = hash(content);
      makeFolder(dir);
      try {
        const entry = { version: VERSION, path: real, sha256, at };
        writeAtomic(join(dir, nameOf(real, sha256)), `${JSON.stringify(entry)}\n`);
      } catch (error) {
        throw cannotWrite(dir, error);
      }
    },

    revoke(path) {
      if (dir === null) return false;
      const wanted = new Set([realPath(path) ?? resolve(path), resolve(path)].map(hash));
      const names = namesIn(dir).filter((name) => wanted.has(name.slice(0, 64)));
      for (const name of names) remove(join(dir, name));
      return names.length > 0;
    },

    list() {
      if (dir === null || faultOf(dir) !== null) return [];
      const entries = namesIn(dir).flatMap((name) => readEntry(join(dir, name), now) ?? []);
      return entries.sort((one, other) =>
        one.path < other.path ? -1 : one.path > other.path ? 1 : one.at - other.at,
      );
    },
  };
}

/** null: there is no place for it. A relative XDG_CONFIG_HOME does not count, as its rules say. */
function trustFolder({ XDG_CONFIG_HOME: config, HOME: home }: NodeJS.ProcessEnv): string | null {
  if (config !== undefined && isAbsolute(config)) return join(config, "loopwright", "trust");
  return home !== undefined && isAbsolute(home) ? join(home, ".config", "loopwright", "trust") : null;
}

function noHome(): LoopError {
  return new LoopError(
    "surroundings",
    "There is no place to keep what you trust: neither HOME nor XDG_CONFIG_HOME is set.",
    "Set HOME to your own folder.",
  );
}

function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw cannotWrite(dir, error);
  }
  const fault = faultOf(dir);
  if (fault !== null)
    throw new LoopError("surroundings", `${dir} ${fault}.`, "Make it yours alone: chmod 700.");
}

/** Who can write there could trust for the person. */
function faultOf(dir: string): string | null {
  let stat: Stats;
  try {
    stat = lstatSync(dir);
  } catch (error) {
    return errorCode(error) === "ENOENT" ? null : "cannot be looked at";
  }
  if (!stat.isDirectory()) return "is not a folder";
  if (process.getuid !== undefined && stat.uid !== process.getuid()) return "belongs to somebody else";
  return (stat.mode & 0o022) === 0 ? null : "can be written to by others";
}

function readEntry(path: string, now: () => number): TrustEntry | null {
  let content: unknown;
  try {
    const text = readIfThere(path);
    if (text === null) return null;
    content = JSON.parse(text);
  } catch (error) {
    return error instanceof SyntaxError ? moveAside(path, now) : null;
  }
  const parsed = entrySchema.safeParse(content);
  if (parsed.success) return parsed.data;
  return isNewer(content) ? null : moveAside(path, now);
}

/** Of a later loopwright: it is not ours to judge. */
function isNewer(content: unknown): boolean {
  const parsed = z.object({ version: z.int().min(VERSION + 1) }).safeParse(content);
  return parsed.success;
}

function moveAside(path: string, now: () => number): null {
  try {
    quarantine(path, now());
  } catch {
    // another process was faster, or it may not be moved: it is not trusted either way
  }
  return null;
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).filter((name) => ENTRY.test(name));
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return [];
    throw cannotRead(dir, error);
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function nameOf(path: string, sha256: string): string {
  return `${hash(path)}-${sha256}.json`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
