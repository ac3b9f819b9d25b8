/**
 * A checkpoint from what is known already: the files that changed since the last one are read here, at once, and one
 * `git fast-import` makes blobs, trees, commit and ref of them while the next turn runs. git looks at no file.
 *
 * Only where git would keep the bytes as they are. Attributes, conversions of line endings, repositories inside of
 * the project and whatever else is unusual are left to `git add`.
 */
import { spawn } from "node:child_process";
import { existsSync, lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { changedFiles } from "../core/goal/changed-files.ts";
import type { Snapshot } from "../ports.ts";
import { type GitOptions, gitEnvironment, SETTINGS } from "./git-process.ts";
import type { Repository } from "./repository.ts";

const MAX_FILES = 200;
const MAX_BYTES = 4 * 1024 * 1024;

export interface ImportSave {
  readonly ref: string;
  readonly parent: string;
  readonly label: string;
  /** Seconds. */
  readonly at: number;
  readonly entries: Entries;
}

/** One per file that changed. */
export type Entries = readonly Entry[];

type Entry =
  | { readonly kind: "deleted"; readonly path: string }
  | { readonly kind: "file"; readonly path: string; readonly mode: string; readonly content: Buffer };

/** null: git itself has to look. Reads the files now: they may change right after it. */
export function readChanges(
  { git, hasConversions }: Repository,
  before: Snapshot,
  after: Snapshot,
): Entries | null {
  if (hasConversions || !after.isGit || !before.isGit) return null;
  const paths = changedFiles(before, after);
  if (paths.length > MAX_FILES || hasAttributes(after) || hasAttributes(before)) return null;
  let left = MAX_BYTES;
  const entries: Entry[] = [];
  for (const path of paths) {
    const entry = readEntry(join(git.cwd, path), path, after.files.has(path), left);
    if (entry === null) return null;
    if (entry.kind === "file") left -= entry.content.length;
    entries.push(entry);
  }
  // what goes first: a folder may stand where a file was
  return entries.sort((a, b) => Number(b.kind === "deleted") - Number(a.kind === "deleted"));
}

function hasAttributes({ files }: Snapshot): boolean {
  for (const path of files.keys()) if (path.endsWith(".gitattributes")) return true;
  return false;
}

function readEntry(file: string, path: string, isThere: boolean, most: number): Entry | null {
  // bytes that are no text, or a name that would need quoting
  if (!/^[^"\\\p{Cc}\p{Cs}]+$/u.test(path)) return null;
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    // gone from the list and still on disk: ignored since
    if (!isThere) return stat === undefined && !existsSync(file) ? { kind: "deleted", path } : null;
    if (stat === undefined || stat.size > most) return null;
    if (stat.isSymbolicLink())
      return { kind: "file", path, mode: "120000", content: readlinkSync(file, { encoding: "buffer" }) };
    if (!stat.isFile()) return null;
    const mode = (stat.mode & 0o100) === 0 ? "100644" : "100755";
    return { kind: "file", path, mode, content: readFileSync(file) };
  } catch {
    return null;
  }
}

/** The commit; null: it was not made. */
export function importSave(
  { git, prefix }: Repository,
  save: ImportSave,
  { env, timeoutMs }: GitOptions,
): Promise<string | null> {
  return new Promise((done) => {
    const args = [...SETTINGS, "fast-import", "--quiet", "--done", "--date-format=raw"];
    const child = spawn("git", args, {
      cwd: git.cwd,
      env: gitEnvironment(env),
      stdio: ["pipe", "pipe", "ignore"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString("latin1");
    });
    child.stdout.on("error", () => {});
    child.stdin.on("error", () => {});
    child.once("error", () => done(null));
    child.once("close", (code) => done(code === 0 ? (/^[0-9a-f]{40,64}$/m.exec(said)?.[0] ?? null) : null));
    child.stdin.end(streamOf(save, prefix));
  });
}

function streamOf({ ref, parent, label, at, entries }: ImportSave, prefix: string): Buffer {
  const message = Buffer.from(`${label}\n`);
  const parts: Buffer[] = [
    Buffer.from(`commit ${ref}\nmark :1\ncommitter Loopwright <loopwright@localhost> ${at} +0000\n`),
    ...data(message),
    Buffer.from(`from ${parent}\n`),
  ];
  for (const entry of entries) {
    if (entry.kind === "deleted") parts.push(Buffer.from(`D ${prefix}${entry.path}\n`));
    else parts.push(Buffer.from(`M ${entry.mode} inline ${prefix}${entry.path}\n`), ...data(entry.content));
  }
  parts.push(Buffer.from("\nget-mark :1\ndone\n"));
  return Buffer.concat(parts);
}

function data(bytes: Buffer): Buffer[] {
  return [Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from("\n")];
}
