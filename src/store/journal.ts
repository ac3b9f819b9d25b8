/**
 * The append-only record of a project, shared by any number of processes.
 *
 * Owns: `.loop/journal.jsonl`, `.loop/journal.2.jsonl`, … (segments; the highest number is the current one)
 * and the state folded from them. Must not: rewrite or truncate a line, take a lock, or trust its memory of the
 * file over the file.
 *
 * 1. A line is one write(2) in append mode, then fsync. Whether it counts is decided by reading it back in its
 *    place among the lines of others (`admission.ts`). An answer of `committed` means: on disk, and counted.
 * 2. A line is written only if it would count as far as its writer can see. So whoever meets a line that builds
 *    on something he does not know of has lost something, and may trust the line (`judge`, heal).
 * 3. A torn line (crash, full disk) never counts. The next writer voids it and starts on a fresh line.
 * 4. A segment is closed by a seal line; whatever lands behind the seal is void and its writer tries again.
 *    The next segment starts with a snapshot. Whoever finds a seal without a successor creates it, by link(2),
 *    which only one process can win. A reader that cannot (full disk, no permission) stays at the seal.
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
import { admit, emptyState, type JournalState, judge, startSegment, type Verdict } from "./admission.ts";
import { decodeEntry, type Entry, encodeEntry, JOURNAL_VERSION, type SnapshotEntry } from "./entry.ts";
import { errorCode, fsyncDir } from "./files.ts";

export interface JournalOptions {
  /** A segment is sealed when it is larger than this and than four times its snapshot. */
  readonly segmentBytes: number;
  /** How many closed segments are kept for the history, and against a damaged snapshot. */
  readonly keptSegments: number;
}

const DEFAULTS: JournalOptions = { segmentBytes: 256 * 1024, keptSegments: 200 };
/** Put behind a torn line, so that one which lacks nothing but its newline does not come to life later. */
const VOID = "~";
/** So many bytes before the offset are compared at every read: a file that was replaced or cut is noticed. */
const TAIL_BYTES = 64;
const NOTHING = Buffer.alloc(0);
const NOFOLLOW = constants.O_NOFOLLOW ?? 0;

type NewEntry<E = Entry> = E extends Entry ? Omit<E, "v" | "w"> : never;

export class Journal {
  readonly #dir: string;
  readonly #options: JournalOptions;
  readonly #writer = `${process.pid.toString(36)}.${Math.random().toString(36).slice(2, 10)}`;
  #sequence = 0;
  #generation = 0;
  #offset = 0;
  #tail: Buffer = NOTHING;
  #snapshotBytes = 0;
  #isFolderSynced = false;
  /** Why a sealed segment has no successor yet. */
  #obstacle: unknown = null;
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
    this.#readOn(null);
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** Like `refresh`, but leaves the list of what changed to the next `refresh`. */
  catchUp(): void {
    this.#readOn(null);
  }

  /** Appends one line and answers what became of it. Throws when it is not on disk. */
  append(entry: NewEntry): Verdict {
    const w = this.#nextId();
    const whole = { v: JOURNAL_VERSION, w, ...entry } as Entry;
    const line = encodeEntry(whole);
    for (let vanished = 0; vanished < 20; ) {
      // on a second round the line may be there after all: a network drive showed less than there was
      const earlier = this.#readOn(w);
      if (earlier?.kind === "committed") return earlier;
      if (this.#state.sealed) throw this.#obstacle;
      const expected = judge(this.#state, whole, false);
      if (expected.kind !== "committed") return expected;
      const verdict = this.#writeAndLook(line, w);
      // Not there: it merged with somebody's torn line, or the file was taken away. Once more.
      if (verdict === null) vanished += 1;
      else if (verdict.kind !== "sealed") {
        if (verdict.kind === "committed") this.#rotateWhenLarge(entry.at);
        return verdict;
      }
    }
    throw new LoopError("surroundings", `The journal in ${this.#dir} does not keep what is written to it.`);
  }

  /** All lines of all kept segments, oldest first, accepted ones only. */
  *entries(): Generator<Entry> {
    this.#readOn(null);
    const state = emptyState();
    let before = 0;
    for (const generation of generations(this.#dir)) {
      startSegment(state, generation === before + 1 && before > 0);
      before = generation;
      for (const { entry } of linesOf(readWhole(this.#path(generation)))) {
        const verdict = admit(state, entry);
        if (verdict.kind === "sealed") break;
        if (verdict.kind === "committed" && entry !== null) yield entry;
      }
    }
  }

  #nextId(): string {
    return `${this.#writer}.${++this.#sequence}`;
  }

  #path(generation: number): string {
    return join(this.#dir, generation === 1 ? "journal.jsonl" : `journal.${generation}.jsonl`);
  }

  /** Reads on to the end of the newest segment. With `w`, answers what became of that line (null: not seen). */
  #readOn(w: string | null): Verdict | null {
    let found: Verdict | null = null;
    let isEndKnown = false;
    for (;;) {
      if (this.#generation === 0 && !this.#reload()) return found;
      const bytes = readBehind(this.#path(this.#generation), this.#offset, this.#tail);
      if (bytes === null) {
        // The folder was removed or replaced under us: start from what is there now.
        this.#generation = 0;
        continue;
      }
      found = this.#takeLines(bytes, w) ?? found;
      if (this.#state.sealed) {
        if (!this.#openNext()) return found;
        isEndKnown = false;
      } else {
        // A successor without a seal: it came just now (read on to the seal), or the seal is damaged.
        if (!exists(this.#path(this.#generation + 1))) return found;
        if (isEndKnown) this.#enter(this.#generation + 1, true);
        isEndKnown = !isEndKnown;
      }
    }
  }

  #takeLines(bytes: Buffer, w: string | null): Verdict | null {
    const from = this.#offset;
    let found: Verdict | null = null;
    try {
      for (const { entry, end } of linesOf(bytes)) {
        const verdict = this.#take(entry, from + end);
        if (w !== null && entry !== null && entry.w === w) found = verdict;
      }
    } finally {
      // also when it stops at a line of a newer version: what was taken is not taken again
      const known = Buffer.concat([this.#tail, bytes.subarray(0, this.#offset - from)].map(lastBytes));
      this.#tail = Buffer.from(lastBytes(known));
    }
    return found;
  }

  #take(entry: Entry | null, end: number): Verdict {
    const before = entry?.type === "snapshot" ? new Map(this.#state.loops) : null;
    const verdict = admit(this.#state, entry);
    this.#offset = end;
    if (verdict.kind !== "committed" || entry === null) return verdict;
    if (entry.type === "loop") this.#changed.add(entry.id);
    if (entry.type === "snapshot") {
      this.#snapshotBytes = end;
      this.#noteDifferences(before ?? new Map());
    }
    return verdict;
  }

  /** A snapshot says what the lines before it said, unless some of them were lost on us. */
  #noteDifferences(before: JournalState["loops"]): void {
    const { loops } = this.#state;
    for (const id of before.keys()) if (!loops.has(id)) this.#changed.add(id);
    for (const [id, loop] of loops) if (before.get(id)?.version !== loop.version) this.#changed.add(id);
  }

  /** Starts from the newest snapshot; false when there is no journal. */
  #reload(): boolean {
    for (const id of this.#state.loops.keys()) this.#changed.add(id);
    this.#state = emptyState();
    const known = generations(this.#dir);
    for (let start = known.length - 1; start >= 0; start--) {
      const generation = known[start] ?? 0;
      const isOldest = start === 0 || known[start - 1] !== generation - 1;
      // A snapshot that did not survive is rebuilt from the segment before it.
      if (!isOldest && !startsWithSnapshot(readWhole(this.#path(generation)))) continue;
      this.#enter(generation, false);
      return true;
    }
    this.#enter(0, false);
    return false;
  }

  #enter(generation: number, carried: boolean): void {
    this.#generation = generation;
    this.#offset = 0;
    this.#tail = NOTHING;
    this.#snapshotBytes = 0;
    this.#isFolderSynced = false;
    startSegment(this.#state, carried);
  }

  #openNext(): boolean {
    // Not always the next number: a person may have deleted one, and a late-comer may find it retired.
    const later = generations(this.#dir).find((generation) => generation > this.#generation);
    const next = later ?? this.#generation + 1;
    if (later === undefined) {
      try {
        createOnce(this.#path(next), `${this.#path(next)}.${this.#nextId()}.tmp`, () =>
          encodeEntry(this.#snapshot()),
        );
      } catch (error) {
        this.#obstacle = error;
        return false;
      }
    }
    this.#enter(next, next === this.#generation + 1);
    return true;
  }

  #snapshot(): SnapshotEntry {
    const { lastToken, lease, loops } = this.#state;
    const w = this.#nextId();
    return { v: JOURNAL_VERSION, w, at: 0, type: "snapshot", lastToken, lease, loops: [...loops.values()] };
  }

  #writeAndLook(line: string, w: string): Verdict | null {
    const fd = this.#openForAppend();
    if (fd === null) return null;
    try {
      writeLine(fd, line);
      // Look for the line where it was written: others may have sealed this first segment meanwhile, and who
      // starts from the newest snapshot does not find it.
      if (this.#generation === 0) this.#enter(1, false);
      try {
        fsyncSync(fd);
        if (!this.#isFolderSynced) fsyncDir(this.#dir);
        this.#isFolderSynced = true;
        return this.#readOn(w);
      } catch (error) {
        throw new LoopError(
          "surroundings",
          `The change was written to ${this.#dir}, but it is not certain that it was kept: ${reasonOf(error)}.`,
          "Look at what is there before you repeat it.",
          error,
        );
      }
    } finally {
      closeSync(fd);
    }
  }

  /** null: the segment is gone. Only the very first may be created here; any other starts with a snapshot. */
  #openForAppend(): number | null {
    const isFirst = this.#generation === 0;
    const flags = constants.O_RDWR | constants.O_APPEND | NOFOLLOW | (isFirst ? constants.O_CREAT : 0);
    try {
      return openSync(this.#path(isFirst ? 1 : this.#generation), flags, 0o600);
    } catch (error) {
      if (!isFirst && errorCode(error) === "ENOENT") return null;
      throw error;
    }
  }

  /** Housekeeping behind a commit that stands, whatever becomes of this. Tried again after the next one. */
  #rotateWhenLarge(at: number): void {
    if (this.#offset < Math.max(this.#options.segmentBytes, 4 * this.#snapshotBytes)) return;
    try {
      const w = this.#nextId();
      this.#writeAndLook(encodeEntry({ v: JOURNAL_VERSION, w, at, type: "seal" }), w);
      const old = generations(this.#dir).slice(0, -(this.#options.keptSegments + 1));
      for (const generation of old) rmSync(this.#path(generation), { force: true });
      removeLeftovers(this.#dir, at);
    } catch {
      // a full disk, most likely: the next append says so if it is in the way
    }
  }
}

const SEGMENT = /^journal(?:\.(?!1\.)([1-9]\d{0,8}))?\.jsonl$/;
const LEFTOVER = /^(?:journal(?:\.\d+)?\.jsonl|tasks\.json|loop\.lock)\..+\.tmp$/;
const LEFTOVER_AFTER_MS = 60 * 60_000;

function generations(dir: string): number[] {
  const found: number[] = [];
  for (const name of listDir(dir)) {
    const match = SEGMENT.exec(name);
    if (match !== null) found.push(Number(match[1] ?? 1));
  }
  return found.sort((a, b) => a - b);
}

/** Temporary files of processes that were killed. */
function removeLeftovers(dir: string, now: number): void {
  for (const name of listDir(dir)) {
    if (!LEFTOVER.test(name)) continue;
    const stat = statSync(join(dir, name), { throwIfNoEntry: false });
    if (stat !== undefined && stat.mtimeMs < now - LEFTOVER_AFTER_MS)
      rmSync(join(dir, name), { force: true });
  }
}

function listDir(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface Line {
  readonly entry: Entry | null;
  /** Index of the byte behind the line. */
  readonly end: number;
}

/** Complete lines. A last line without its newline may still be growing: it is left for later. */
function* linesOf(bytes: Buffer): Generator<Line> {
  let start = 0;
  for (;;) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1) return;
    const text = bytes.toString("utf8", start, newline);
    // nothing was torn after all: the line before was merely not finished when the next writer looked
    if (text !== "" && text !== VOID) yield { entry: decodeEntry(text), end: newline + 1 };
    start = newline + 1;
  }
}

function startsWithSnapshot(bytes: Buffer): boolean {
  for (const { entry } of linesOf(bytes)) return entry?.type === "snapshot";
  return false;
}

function readWhole(path: string): Buffer {
  return readBehind(path, 0, NOTHING) ?? NOTHING;
}

/** What is behind the offset; null when the file is not there or does not hold `tail` before it. */
function readBehind(path: string, offset: number, tail: Buffer): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
  try {
    const from = offset - tail.length;
    const bytes = Buffer.allocUnsafe(Math.max(0, fstatSync(fd).size - from));
    const read = bytes.length === 0 ? 0 : readSync(fd, bytes, 0, bytes.length, from);
    if (!bytes.subarray(0, Math.min(read, tail.length)).equals(tail)) return null;
    return bytes.subarray(tail.length, read);
  } finally {
    closeSync(fd);
  }
}

function lastBytes(bytes: Buffer): Buffer {
  return bytes.subarray(Math.max(0, bytes.length - TAIL_BYTES));
}

function writeLine(fd: number, line: string): void {
  const bytes = Buffer.from(endsTorn(fd) ? `${VOID}\n${line}` : line);
  // Never a second write(2) for the rest: somebody else's line may already stand in between.
  if (writeSync(fd, bytes) === bytes.length) return;
  throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
}

function endsTorn(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}

/** Creates the file whole or not at all; when another process was first, its file stands. */
function createOnce(path: string, temporary: string, content: () => string): void {
  const text = content();
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: "wx", flush: true });
    linkSync(temporary, path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") return;
    if (!NO_LINKS.has(code ?? "")) throw error;
    createInPlace(path, text);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** What link(2) answers on file systems without links (FAT, some shared folders). */
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EINVAL"]);

/**
 * Others may enter the segment before its snapshot is in it. They carry the state with them and lose nothing;
 * a snapshot that is not the first line does not count, and the segment before is read instead.
 */
function createInPlace(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: "ax", flush: true });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
