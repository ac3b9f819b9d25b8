/**
 * Saves a checkpoint without a search: it reads the files that changed since the last checkpoint at once. Then
 * `git fast-import` creates blobs, trees, commit and ref while the next turn runs.
 *
 * It works only where git stores the bytes unchanged. Attributes, line ending conversions and nested repositories are
 * left to `git add`.
 */
import { spawn } from "node:child_process";
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { changedFiles } from "../../core/checks/changed-files.ts";
import type { Snapshot } from "../../ports/checks.ts";
import { readBytes } from "../../system/files.ts";
import type { Repository } from "../repository.ts";

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

/** One entry for each changed file. */
export type Entries = readonly Entry[];

type Entry =
  | { readonly kind: "deleted"; readonly path: string }
  | { readonly kind: "file"; readonly path: string; readonly mode: string; readonly content: Buffer };

/** Reads the files now, because they may change right after it. null: use `git add`. */
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
  // deleted files first: a folder may have replaced a file
  return entries.sort((a, b) => Number(b.kind === "deleted") - Number(a.kind === "deleted"));
}

function hasAttributes({ files }: Snapshot): boolean {
  for (const path of files.keys()) if (path.endsWith(".gitattributes")) return true;
  return false;
}

function readEntry(file: string, path: string, isThere: boolean, most: number): Entry | null {
  // the name is not valid text, or it would need quotes
  if (!/^[^"\\\p{Cc}\p{Cs}]+$/u.test(path)) return null;
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    // not in the list but still on disk: it is ignored now
    if (!isThere) return stat === undefined && !existsSync(file) ? { kind: "deleted", path } : null;
    if (stat === undefined || stat.size > most) return null;
    if (stat.isSymbolicLink())
      return { kind: "file", path, mode: "120000", content: readlinkSync(file, { encoding: "buffer" }) };
    if (!stat.isFile()) return null;
    const mode = (stat.mode & 0o100) === 0 ? "100644" : "100755";
    return { kind: "file", path, mode, content: readBytes(file) };
  } catch {
    return null;
  }
}

export interface Importer {
  /** Returns the commit; null: it was not created. */
  save(save: ImportSave): Promise<string | null>;
  /** Ends the process; resolves when it has ended. */
  end(): Promise<void>;
}

/**
 * Runs one `git fast-import` for all checkpoints of a run. When it answers, the checkpoint and its ref are on disk. It
 * ends with this process.
 */
export function startImporter({ git, prefix }: Repository): Importer {
  const args = [...git.settings, "fast-import", "--quiet", "--done", "--date-format=raw"];
  const child = spawn(git.program, args, {
    cwd: git.cwd,
    env: git.env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  let waiting: ((commit: string | null) => void) | null = null;
  let said = "";
  let isOver = false;
  const answer = (commit: string | null) => {
    const done = waiting;
    waiting = null;
    done?.(commit);
  };
  const ended = new Promise<void>((resolve) => {
    const over = () => {
      isOver = true;
      answer(null);
      resolve();
    };
    child.once("error", over);
    child.once("close", over);
  });
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString("latin1");
    const [line, rest] = said.split(/\n(.*)/s);
    if (rest === undefined) return;
    said = rest;
    answer(/^[0-9a-f]{40,64}$/.test(line ?? "") ? (line ?? null) : null);
  });
  child.stdout.on("error", () => {});
  child.stdin.on("error", () => {});
  // it must not keep this process alive
  child.unref();
  return {
    save: (save) =>
      new Promise((done) => {
        if (isOver || waiting !== null) return done(null);
        const timer = setTimeout(() => child.kill("SIGKILL"), git.timeoutMs);
        waiting = (commit) => {
          clearTimeout(timer);
          done(commit);
        };
        child.stdin.write(streamOf(save, prefix));
      }),
    end() {
      if (!isOver) child.stdin.end("done\n");
      return ended;
    },
  };
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
  // `checkpoint` writes everything to disk; the answer comes after it
  parts.push(Buffer.from("\ncheckpoint\n\nget-mark :1\n"));
  return Buffer.concat(parts);
}

function data(bytes: Buffer): Buffer[] {
  return [Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from("\n")];
}
