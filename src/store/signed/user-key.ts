/**
 * The key of this user on this machine, in `key` of the person's folder. It is made on first use and never leaves the
 * machine. What it signed was written here by this user, or by a program that runs as this user.
 */
import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, readSync } from "node:fs";
import { join } from "node:path";
import { surroundingsError } from "../../errors.ts";
import { createOnce, isOwn, NO_LINK, nullOn, openPlain } from "../../system/files.ts";
import { makeUserFolder, userFolder } from "../../system/user-folder.ts";

const KEY_BYTES = 32;
const KEY = /^[0-9a-f]{64}\n$/;

/** null: there is no key yet. Throws a sentence when the file is not a private key file of this user. */
export function readUserKey(env: NodeJS.ProcessEnv): Buffer | null {
  const dir = userFolder(env);
  if (dir === null) return null;
  const path = join(dir, "key");
  // not readable: the process runs as another user, who has no key here
  const fd = nullOn("EACCES", () => nullOn("ENOENT", () => openPlain(path, constants.O_RDONLY | NO_LINK)));
  if (fd === null) return null;
  try {
    const stat = fstatSync(fd);
    if (!isOwn(stat)) throw badKey(path, "is not a file of yours");
    if ((stat.mode & 0o077) !== 0) throw badKey(path, "can be read by other users");
    const bytes = Buffer.alloc(2 * KEY_BYTES + 2);
    const text = bytes.toString("latin1", 0, readSync(fd, bytes, 0, bytes.length, 0));
    if (!KEY.test(text)) throw badKey(path, "is damaged");
    return Buffer.from(text.trim(), "hex");
  } finally {
    closeSync(fd);
  }
}

/** The key; makes it on first use. Two processes that start at once get the same key. */
export function userKey(env: NodeJS.ProcessEnv): Buffer {
  const key = readUserKey(env);
  if (key !== null) return key;
  const path = join(makeUserFolder(env), "key");
  createOnce(path, `${randomBytes(KEY_BYTES).toString("hex")}\n`);
  const made = readUserKey(env);
  // never sign with an empty key, which anybody has
  if (made === null) throw badKey(path, "cannot be read");
  return made;
}

function badKey(path: string, fault: string) {
  return surroundingsError(
    `The key ${path} ${fault}.`,
    `Move it away: a new key is made, and you confirm your loops once more with: loop trust`,
  );
}
