/**
 * A command from a file of a repository runs only after a person trusted exactly this content of the file (H2).
 *
 * The trust is kept outside every repository, in `$XDG_CONFIG_HOME/loopwright/trust` or `~/.config/loopwright/trust`:
 * one small file per trusted content, named by the hashes of the real path and of the content. So two processes at the
 * same time lose nothing, a content stays trusted across branches, and a moved or copied project asks again.
 *
 * This protects against files that come with a clone. It does not protect against a program that runs as the same user,
 * such as an agent without a sandbox: that program can write here too.
 */
import { createHash } from "node:crypto";
import { readdirSync, realpathSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import * as z from "zod";
import { surroundingsError } from "../../errors.ts";
import { nullOn, orNull, quarantine, readIfThere, writeAtomic } from "../../system/files.ts";
import { faultOf, makeUserFolder, userFolder } from "../../system/user-folder.ts";
import { whileReading, whileWriting } from "./loop-dir.ts";

interface TrustedFile {
  readonly path: string;
  /** The whole text as read. Commands come from this text and not from the disk. */
  readonly content: string;
  /** The commands in the content, to show later what changed. */
  readonly commands?: readonly string[];
}

interface TrustEntry {
  /** The real path, with all links resolved. */
  readonly path: string;
  readonly sha256: string;
  readonly at: number;
  readonly commands?: readonly string[] | undefined;
}

export interface TrustStore {
  /** false in case of doubt. Moves a damaged entry aside. */
  isTrusted(file: Pick<TrustedFile, "path" | "content">): boolean;
  /** Throws a sentence when the trust cannot be saved. */
  trust(file: TrustedFile, at: number): void;
  /** Revokes every trusted content of this file. false: there was none. */
  revoke(path: string): boolean;
  /** Ordered by path, then oldest first. */
  list(): readonly TrustEntry[];
}

const VERSION = 1;
const ENTRY = /^[0-9a-f]{64}-[0-9a-f]{64}\.json$/;

const entrySchema = z.object({
  version: z.literal(VERSION),
  path: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.number(),
  commands: z.array(z.string()).optional(),
});

export function createTrustStore(env: NodeJS.ProcessEnv, now: () => number = Date.now): TrustStore {
  const base = userFolder(env);
  const dir = base === null ? null : join(base, "trust");

  return {
    isTrusted({ path, content }) {
      const real = realPath(path);
      if (dir === null || real === null || faultOf(dir) !== null) return false;
      const sha256 = hash(content);
      const entry = readEntry(join(dir, nameOf(real, sha256)), now);
      return entry?.path === real && entry.sha256 === sha256;
    },

    trust({ path, content, commands }, at) {
      const folder = makeUserFolder(env, "trust");
      const real = realPath(path);
      if (real === null) throw surroundingsError(`${path} no longer exists.`);
      const sha256 = hash(content);
      const entry = { version: VERSION, path: real, sha256, at, commands };
      const file = join(folder, nameOf(real, sha256));
      whileWriting(folder, () => writeAtomic(file, `${JSON.stringify(entry)}\n`));
    },

    revoke(path) {
      if (dir === null) return false;
      const wanted = new Set([realPath(path) ?? resolve(path), resolve(path)].map(hash));
      const names = namesIn(dir).filter((name) => wanted.has(name.slice(0, 64)));
      for (const path of names.map((name) => join(dir, name)))
        whileWriting(path, () => rmSync(path, { force: true }));
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
  // a later version of loopwright wrote the entry, so this version leaves it alone
  if (z.object({ version: z.int().min(VERSION + 1) }).safeParse(content).success) return null;
  return moveAside(path, now);
}

function moveAside(path: string, now: () => number): null {
  // another process may be faster, or there is no permission to move it: it is not trusted in both cases
  orNull(() => quarantine(path, now()));
  return null;
}

function namesIn(dir: string): string[] {
  const read = () => nullOn("ENOTDIR", () => nullOn("ENOENT", () => readdirSync(dir)));
  return whileReading(dir, read)?.filter((name) => ENTRY.test(name)) ?? [];
}

function realPath(path: string): string | null {
  return orNull(() => realpathSync(path));
}

function nameOf(path: string, sha256: string): string {
  return `${hash(path)}-${sha256}.json`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
