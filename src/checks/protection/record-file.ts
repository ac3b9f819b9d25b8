/**
 * Owns `.loop/runs/<loop>/protected.json`: the files that checks depended on before any work, and their texts. An agent
 * can write there too, so the reader knows the digest of the record, and the record has the digest of the texts.
 */
import { join } from "node:path";
import * as z from "zod";
import type { LoopId } from "../../core/loop.ts";
import { writeAtomic } from "../../system/files.ts";
import { makeInside } from "../../system/inside.ts";
import { readPlain, sha256 } from "../files/file-hash.ts";
import { parseJson } from "./manifest.ts";

const recordSchema = z.object({
  version: z.literal(1),
  entries: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(["file", "value", "entry", "package", "program", "asked", "own"]),
      hash: z.string(),
      /** Empty: no check depends on it yet. It is recorded because a changed check could use it. */
      criteria: z.array(z.string()),
    }),
  ),
  /** Missing programs, and missing folders that would come first on a search path. */
  missing: z.array(z.string()),
  /** Files that the checks wrote themselves. Missing in old records, which do not have `asked` and `own`. */
  written: z.array(z.string()).optional(),
  /** Names in the program folders of installed packages. */
  installed: z.array(z.string()),
  /** Folders of the PATH outside the project. */
  pathFolders: z.array(z.string()),
  /** Texts of the ignore files, by folder. */
  ignore: z.record(z.string(), z.string()),
  /** Digest of the file with the texts. */
  originals: z.string(),
});
const originalsSchema = z.record(z.string(), z.string());

export type ProtectionRecord = z.infer<typeof recordSchema>;
export type Originals = z.infer<typeof originalsSchema>;

const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** Returns the digest of the record. Throws if the record cannot or must not be written. */
export function writeProtectionRecord(
  root: string,
  loopId: LoopId,
  record: Omit<ProtectionRecord, "originals">,
  originals: Originals,
): string {
  const folder = folderFor(root, loopId);
  makeInside(root, folder);
  const texts = JSON.stringify(originals);
  writeAtomic(originalsFile(folder), texts, false);
  const text = `${JSON.stringify({ ...record, originals: sha256(texts) }, null, 1)}\n`;
  writeAtomic(recordFile(folder), text);
  return sha256(text);
}

export type RecordRead =
  | { readonly kind: "record"; readonly record: ProtectionRecord }
  | { readonly kind: "unusable"; readonly reason: string };

/** `digest` null: any record counts. `known`: the parsed record with this digest. */
export function readProtectionRecord(
  root: string,
  loopId: LoopId,
  digest: string | null,
  known?: ProtectionRecord,
): RecordRead {
  const bytes = readPlain(recordFile(folderFor(root, loopId)), MAX_RECORD_BYTES);
  if (bytes === null) return { kind: "unusable", reason: "the record of the protected files is missing" };
  if (digest !== null && sha256(bytes) !== digest)
    return { kind: "unusable", reason: "the record of the protected files was changed" };
  const record = known ?? recordSchema.safeParse(parseJson(bytes.toString("utf8"))).data;
  return record === undefined
    ? { kind: "unusable", reason: "the record of the protected files cannot be read" }
    : { kind: "record", record };
}

/** null: missing, or not the texts of this record. */
export function readOriginals(root: string, loopId: LoopId, record: ProtectionRecord): Originals | null {
  const bytes = readPlain(originalsFile(folderFor(root, loopId)), MAX_RECORD_BYTES);
  if (bytes === null || sha256(bytes) !== record.originals) return null;
  return originalsSchema.safeParse(parseJson(bytes.toString("utf8"))).data ?? null;
}

function recordFile(folder: string): string {
  return join(folder, "protected.json");
}

function originalsFile(folder: string): string {
  return join(folder, "protected-originals.json");
}

function folderFor(root: string, loopId: LoopId): string {
  if (!/^[A-Za-z0-9._-]+$/.test(loopId) || loopId === "." || loopId === "..") {
    throw new Error(`${JSON.stringify(loopId)} is no valid id`);
  }
  return join(root, ".loop", "runs", loopId);
}
