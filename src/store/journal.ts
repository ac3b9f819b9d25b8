/**
 * The append-only record of a project, shared by any number of processes.
 *
 * Owns: `.loop/journal.jsonl`, `.loop/journal.2.jsonl`, … (segments; the highest number is the current one)
 * and the state folded from them. Must not: rewrite or truncate a line, take a lock, or trust its memory of the
 * file over the file.
 *
 * 1. A line is one write(2) in append mode, then fsync. Whether it counts is decided by reading it back in its
 *    place among the lines of others (`admission.ts`). An answer of `committed` means: on disk, and counted.
 * 2. A torn line (crash, full disk) fails its checksum. The next writer starts on a fresh line.
 * 3. A segment is closed by a seal line; whatever lands behind the seal is void and its writer decides anew.
 *    The next segment starts with a snapshot. Whoever finds a seal without a successor creates it, by link(2),
 *    which only one process can win.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { TaskId } from "../core/loop.ts";
import { LoopError } from "../errors.ts";
import { admit, emptyState, type JournalState, type Verdict } from "./admission.ts";
import { decodeEntry, type Entry, encodeEntry, JOURNAL_VERSION } from "./entry.ts";
import { errorCode, fsyncDir } from "./files.ts";

export interface JournalOptions {
  /** A segment is sealed when it is larger than this and than four times its snapshot. */
  readonly segmentBytes: number;
  /** How many closed segments are kept for the history. */
  readonly keptSegments: number;
}

const DEFAULTS: JournalOptions = { segmentBytes: 256 * 1024, keptSegments: 200 };

type NewEntry<E = Entry> = E extends Entry ? Omit<E, "v" | "w"> : never;

export class Journal {
  readonly #dir: string;
  readonly #options: JournalOptions;
  readonly #writer = `${process.pid.toString(36)}.${Math.random().toString(36).slice(2, 8)}`;
  #sequence = 0;
  #generation = 0;
  #inode = 0;
  #offset = 0;
  #snapshotBytes = 0;
  #sealed = false;
  #state: JournalState = emptyState();
  #changed = new Set<TaskId>();

  constructor(dir: string, options: Partial<JournalOptions> = {}) {
    this.#dir = dir;
    this.#options = { ...DEFAULTS, ...options };
  }

  get state(): Readonly<JournalState> {
    return this.#state;
  }

  /** Where the fold stands; published files carry it. */
  get position(): { generation: number; bytes: number } {
    return { generation: this.#generation, bytes: this.#offset };
  }

  /** Takes in all complete lines that were appended since; returns the loops that changed. */
  refresh(): readonly TaskId[] {
    this.#catchUp(null);
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** Appends one line and answers what became of it. Throws when it is not on disk. */
  append(entry: NewEntry): Verdict {
    this.#catchUp(null);
    const w = `${this.#writer}.${++this.#sequence}`;
    const line = encodeEntry({ v: JOURNAL_VERSION, w, ...entry } as Entry);
    for (let attempt = 0; attempt < 5; attempt++) {
      this.#write(line);
      const verdict = this.#catchUp(w);
      if (verdict?.kind === "committed") this.#rotateWhenLarge(entry.at);
      if (verdict !== null) return verdict.kind === "sealed" ? { kind: "conflict" } : verdict;
      // Not there: it merged with somebody's torn line, or the file was taken away. Once more.
    }
    throw new LoopError("surroundings", `The journal in ${this.#dir} does not keep what is written to it.`);
  }

  /** All lines of all kept segments, oldest first, accepted ones only. */
  *entries(): Generator<Entry> {
    this.#catchUp(null);
    const state = emptyState();
    for (const generation of generations(this.#dir)) {
      state.ended.clear();
      for (const { entry } of linesOf(this.#path(generation), 0)) {
        const verdict = entry === null ? null : admit(state, entry);
        if (entry === null || verdict === null) state.damaged += 1;
        else if (verdict.kind === "sealed") break;
        else if (verdict.kind === "committed") yield entry;
      }
    }
  }

  #path(generation: number): string {
    return join(this.#dir, generation === 1 ? "journal.jsonl" : `journal.${generation}.jsonl`);
  }

  /** Reads on to the end of the newest segment. With `w`, answers what became of that line (null: not seen). */
  #catchUp(w: string | null): Verdict | null {
    let found: Verdict | null = null;
    if (!this.#isSameFile()) this.#reload();
    for (;;) {
      if (this.#generation === 0) return found;
      for (const { entry, end } of linesOf(this.#path(this.#generation), this.#offset)) {
        this.#offset = end;
        const verdict = this.#take(entry);
        if (w !== null && entry !== null && entry.w === w) found = verdict;
      }
      if (!this.#sealed || !this.#openNext()) return found;
    }
  }

  #take(entry: Entry | null): Verdict {
    if (entry === null) {
      this.#state.damaged += 1;
      return { kind: "conflict" };
    }
    if (this.#sealed) return { kind: "sealed" };
    const verdict = admit(this.#state, entry);
    if (verdict.kind === "sealed") this.#sealed = true;
    if (verdict.kind === "committed" && entry.type === "loop") this.#changed.add(entry.id);
    if (entry.type === "snapshot") this.#snapshotBytes = this.#offset;
    return verdict;
  }

  #isSameFile(): boolean {
    if (this.#generation === 0) return false;
    const stat = statSync(this.#path(this.#generation), { throwIfNoEntry: false });
    return stat !== undefined && stat.ino === this.#inode && stat.size >= this.#offset;
  }

  /** First use, or the folder was removed or replaced under us: start from what is there now. */
  #reload(): void {
    for (const id of this.#state.loops.keys()) this.#changed.add(id);
    this.#state = emptyState();
    const known = generations(this.#dir);
    let start = known.length - 1;
    // A snapshot that did not survive is rebuilt from the segment before it.
    while (start > 0 && !startsWithSnapshot(this.#path(known[start] ?? 1))) start -= 1;
    this.#enter(known[start] ?? 0);
    for (const id of this.#state.loops.keys()) this.#changed.add(id);
  }

  #enter(generation: number): void {
    this.#generation = generation;
    this.#offset = 0;
    this.#snapshotBytes = 0;
    this.#sealed = false;
    this.#state.ended.clear();
    const stat = generation === 0 ? undefined : statSync(this.#path(generation), { throwIfNoEntry: false });
    this.#inode = stat?.ino ?? 0;
  }

  /** false where a reader may not write: it then stays at the seal, which is all there is. */
  #openNext(): boolean {
    const next = this.#generation + 1;
    const { lastToken, lease, loops } = this.#state;
    const there = createOnce(this.#path(next), () =>
      encodeEntry({
        v: JOURNAL_VERSION,
        w: `${this.#writer}.${++this.#sequence}`,
        at: 0,
        type: "snapshot",
        lastToken,
        lease,
        loops: [...loops.values()],
      }),
    );
    if (there) this.#enter(next);
    return there;
  }

  #write(line: string): void {
    const generation = Math.max(1, this.#generation);
    const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
    const fd = openSync(this.#path(generation), flags, 0o600);
    try {
      const bytes = Buffer.from(endsTorn(fd) ? `\n${line}` : line);
      const written = writeSync(fd, bytes);
      if (written < bytes.length)
        throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
      fsyncSync(fd);
      if (this.#generation === 0) fsyncDir(this.#dir);
    } finally {
      closeSync(fd);
    }
  }

  #rotateWhenLarge(at: number): void {
    if (this.#offset < Math.max(this.#options.segmentBytes, 4 * this.#snapshotBytes)) return;
    this.#write(
      encodeEntry({ v: JOURNAL_VERSION, w: `${this.#writer}.${++this.#sequence}`, at, type: "seal" }),
    );
    this.#catchUp(null);
    const old = generations(this.#dir).slice(0, -(this.#options.keptSegments + 1));
    for (const generation of old) rmSync(this.#path(generation), { force: true });
  }
}

const SEGMENT = /^journal(?:\.(\d+))?\.jsonl$/;

function generations(dir: string): number[] {
  const found: number[] = [];
  for (const name of listDir(dir)) {
    const match = SEGMENT.exec(name);
    if (match !== null) found.push(Number(match[1] ?? 1));
  }
  return found.sort((a, b) => a - b);
}

function listDir(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

interface Line {
  readonly entry: Entry | null;
  /** Offset of the byte behind the line. */
  readonly end: number;
}

/** Complete lines from `offset` on. A last line without its newline may still be growing: it is left for later. */
function* linesOf(path: string, offset: number): Generator<Line> {
  const bytes = readFrom(path, offset);
  let start = 0;
  for (;;) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1) return;
    if (newline > start) {
      yield { entry: decodeEntry(bytes.toString("utf8", start, newline)), end: offset + newline + 1 };
    }
    start = newline + 1;
  }
}

function readFrom(path: string, offset: number): Buffer {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
  try {
    const size = fstatSync(fd).size;
    if (size <= offset) return Buffer.alloc(0);
    const bytes = Buffer.allocUnsafe(size - offset);
    const read = readSync(fd, bytes, 0, bytes.length, offset);
    return bytes.subarray(0, read);
  } finally {
    closeSync(fd);
  }
}

function startsWithSnapshot(path: string): boolean {
  for (const { entry } of linesOf(path, 0)) return entry?.type === "snapshot";
  return false;
}

function endsTorn(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}

/** Creates the file whole or not at all; when another process was first, its file stands. */
function createOnce(path: string, content: () => string): boolean {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return true;
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content(), { mode: 0o600, flush: true });
    linkSync(temporary, path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EACCES" || code === "EROFS") return false;
    if (code !== "EEXIST") throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return true;
}
