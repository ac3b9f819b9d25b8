/**
 * `.loop/origin`: names the folder and is signed with the user's key (H2). While it is valid, what the engine wrote here
 * can be told from what came with a clone, a pull or a copy: only signed lines and files count. Without a valid origin
 * all of the engine's files are foreign: they may be read, but they do not run and nothing is written.
 *
 * A move of the project on its disk keeps the signature valid, because it covers the inode of the folder and not its
 * path. The device number is not part of it, because it may change at every boot.
 *
 * The origin is written before the engine's first file and checked after it. So two first commands at the same time
 * never see each other's files as foreign.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { surroundingsError } from "../../errors.ts";
import { createOnce, nullOn, readSmall, writeAtomic } from "../../system/files.ts";
import { ORIGIN_START } from "./origin-line.ts";
import { Signer } from "./signer.ts";
import { readUserKey, userKey } from "./user-key.ts";

export const FOREIGN =
  "The loops here are not signed with your key: they came from elsewhere, or from an earlier version of loopwright. They do not run until you trust them: loop trust";

/** The names of files with something to run. Some disks ignore upper and lower case. */
const ENGINE_FILES = /^(?:journal.*\.jsonl|tasks\.json|runs)$/i;
const ORIGIN = new RegExp(`^${ORIGIN_START}([0-9a-f]{32}) ([0-9a-f]{32})\\n$`);

/** `none`: the engine has no files here yet. */
export function originOf(dir: string): "none" | "ours" | "foreign" {
  if (!hasEngineFiles(dir)) return "none";
  return openSigner(dir) === null ? "foreign" : "ours";
}

/** null: the folder has no valid origin. */
export function openSigner(dir: string): Signer | null {
  const [, id, signature] = ORIGIN.exec(readSmall(originPath(dir)) ?? "") ?? [];
  const key = id === undefined ? null : readUserKey(process.env);
  const inode = nullOn("ENOENT", () => statSync(dir, { bigint: true }).ino);
  if (id === undefined || key === null || inode === null) return null;
  const signer = new Signer(key, id, inode);
  return signer.isOurs("origin", id, signature) ? signer : null;
}

/** Throws a sentence when the folder is foreign. */
export function refuseForeign(dir: string): void {
  if (originOf(dir) === "foreign") throw surroundingsError(FOREIGN);
}

/** The signer of a folder of ours, or of a folder without engine files. Throws a sentence when the folder is foreign. */
export function claimOrigin(dir: string): Signer {
  const known = openSigner(dir);
  if (known !== null) return known;
  refuseForeign(dir);
  // an origin of another folder, or of another key, proves nothing here
  if (openSigner(dir) === null) rmSync(originPath(dir), { force: true });
  createOnce(originPath(dir), render(newSigner(dir)));
  const signer = openSigner(dir);
  if (signer === null) throw surroundingsError(FOREIGN);
  return signer;
}

export function newSigner(dir: string): Signer {
  const { ino } = statSync(dir, { bigint: true });
  return new Signer(userKey(process.env), randomBytes(16).toString("hex"), ino);
}

/** Called after a person reviewed the files, and after all of them were signed. */
export function writeOrigin(dir: string, signer: Signer): void {
  writeAtomic(originPath(dir), render(signer));
}

function render(signer: Signer): string {
  return `${ORIGIN_START}${signer.id} ${signer.sign("origin", signer.id)}\n`;
}

function hasEngineFiles(dir: string): boolean {
  return nullOn("ENOENT", () => readdirSync(dir))?.some((name) => ENGINE_FILES.test(name)) ?? false;
}

function originPath(dir: string): string {
  return join(dir, "origin");
}
