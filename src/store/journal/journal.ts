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
import { closeSync, fsyncSync } from "node:fs";
import type { Goal } from "../../core/goal/goal.ts";
import type { Loop, LoopId } from "../../core/loop.ts";
import { LoopError } from "../../errors.ts";
import { copyAside, createOnce, fsyncDir } from "../../system/files.ts";
import { admit, emptyState, type JournalState, judge, type LineVerdict, startSegment } from "./admission.ts";
import { type Entry, encodeEntry, JOURNAL_VERSION, type SnapshotEntry } from "./entry.ts";
import { ForgeryGuard } from "./forgery-guard.ts";
import {
  exists,
  generations,
  linesOf,
  NO_BYTES,
  openForAppend,
  readBehind,
  readWhole,
  removeLeftovers,
  retireSegments,
  startsWithSnapshot,
  tailBytes,
  type Written,
  writeLine,
} from "./segment.ts";
import { segmentPath } from "./segment-path.ts";

export interface JournalOptions {
  /** A segment is sealed when it is larger than this and than four times its snapshot. */
  readonly segmentBytes: number;
  /** How many closed segments are kept for the history, and against a damaged snapshot. */
  readonly keptSegments: number;
  /** And how many bytes of them: lines carry whole prompts. */
  readonly keptBytes: number;
}

const DEFAULTS: JournalOptions = {
  segmentBytes: 256 * 1024,
  keptSegments: 200,
  keptBytes: 64 * 1024 * 1024,
};

type NewEntry<E = Entry> = E extends Entry ? Omit<E, "v" | "w"> : never;

const KEPT_GOALS = 10;

export class Journal {
  readonly #dir: string;
  readonly #options: JournalOptions;
  readonly #writer = `${process.pid.toString(36)}.${Math.random().toString(36).slice(2, 10)}`;
  #sequence = 0;
  /** The number of the last of our own lines that was read back. */
  #seen = 0;
  #generation = 0;
  #offset = 0;
  #tail: Buffer = NO_BYTES;
  #snapshotBytes = 0;
  #isFolderSynced = false;
  /** Why a sealed segment has no successor yet. */
  #obstacle: unknown = null;
  #state: JournalState = emptyState();
  #changed = new Set<LoopId>();
  /** Knows what is to be believed while this process holds the lease. */
  readonly guard = new ForgeryGuard();

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
  refresh(): readonly LoopId[] {
    this.#readOn(null);
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** Like `refresh`, but leaves the list of what changed to the next `refresh`. */
  catchUp(): void {
    this.#readOn(null);
  }

  /**
   * Appends one line and answers what became of it. Throws when it is not on disk; with `mayWait` it is there for
   * all to read, and on disk with the next line that may not.
   */
  append(entry: NewEntry, mayWait = false): LineVerdict {
    const w = this.#nextId();
    const whole = { v: JOURNAL_VERSION, w, ...entry } as Entry;
    const line = { bytes: Buffer.from(encodeEntry(whole)), entry: whole };
    for (let vanished = 0; vanished < 20; ) {
      // on a second round the line may be there after all: a network drive showed less than there was
      const earlier = this.#readOn(line);
      if (earlier?.kind === "committed") return earlier;
      if (this.#state.sealed) throw this.#obstacle;
      const expected = judge(this.#state, whole, false);
      if (expected.kind !== "committed") return expected;
      const verdict = this.#writeAndLook(line, mayWait);
      // Not there: it merged with somebody's torn line, or the file was taken away. Once more.
      if (verdict === null) vanished += 1;
      else if (verdict.kind !== "sealed") {
        if (verdict.kind === "committed") this.#rotateWhenLarge(entry.at);
        return verdict;
      }
    }
    throw new LoopError("surroundings", `The journal in ${this.#dir} does not keep what is written to it.`);
  }

  /** A copy of the segment as it is, for whoever wants to know what was lost; null when there is none. */
  keepAside(now: number): string | null {
    return this.#generation === 0 ? null : copyAside(this.#path(this.#generation), now);
  }

  #nextId(): string {
    return `${this.#writer}.${++this.#sequence}`;
  }

  /** Our lines come in the order in which they were numbered, each once: who copies a number comes too late. */
  #isOwn(w: string): boolean {
    if (!w.startsWith(`${this.#writer}.`)) return false;
    const number = Number(w.slice(this.#writer.length + 1));
    const isNext = number > this.#seen && number <= this.#sequence;
    if (isNext) this.#seen = number;
    return isNext;
  }

  #path(generation: number): string {
    return segmentPath(this.#dir, generation);
  }

  /** Reads on to the end of the newest segment. With `line`, answers what became of it (null: not seen). */
  #readOn(line: Written | null): LineVerdict | null {
    let found: LineVerdict | null = null;
    let isEndKnown = false;
    for (;;) {
      if (this.#generation === 0 && !this.#reload()) return found;
      const bytes = readBehind(this.#path(this.#generation), this.#offset, this.#tail);
      if (bytes === null) {
        // The folder was removed or replaced under us: start from what is there now.
        this.#generation = 0;
        continue;
      }
      found = this.#takeLines(bytes, line) ?? found;
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

  #takeLines(bytes: Buffer, line: Written | null): LineVerdict | null {
    const from = this.#offset;
    let found: LineVerdict | null = null;
    try {
      for (const { entry, end } of linesOf(bytes, line)) {
        const verdict = this.#take(entry, from + end);
        const isOwn = entry !== null && this.#isOwn(entry.w);
        if (entry?.type === "loop" && verdict.kind === "committed") this.guard.take(entry, isOwn);
        if (line !== null && entry?.w === line.entry.w) found = verdict;
      }
    } finally {
      // also when it stops at a line of a newer version: what was taken is not taken again
      const known = Buffer.concat([this.#tail, bytes.subarray(0, this.#offset - from)].map(tailBytes));
      this.#tail = Buffer.from(tailBytes(known));
    }
    return found;
  }

  #take(entry: Entry | null, end: number): LineVerdict {
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
    this.#tail = NO_BYTES;
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
        // Without links others may enter it before its snapshot is there: they carry the state with them, and a
        // snapshot that is not the first line does not count; the segment before is read instead.
        createOnce(this.#path(next), encodeEntry(this.#snapshot()));
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
    return {
      v: JOURNAL_VERSION,
      w,
      at: 0,
      type: "snapshot",
      lastToken,
      lease,
      loops: worthKeeping([...loops.values()]),
    };
  }

  #writeAndLook(line: Written, mayWait = false): LineVerdict | null {
    const isFirst = this.#generation === 0;
    const fd = openForAppend(this.#path(isFirst ? 1 : this.#generation), isFirst);
    if (fd === null) return null;
    try {
      writeLine(fd, line.bytes);
      // Look for the line where it was written: others may have sealed this first segment meanwhile, and who
      // starts from the newest snapshot does not find it.
      if (this.#generation === 0) this.#enter(1, false);
      try {
        if (!mayWait) fsyncSync(fd);
        if (!mayWait && !this.#isFolderSynced) fsyncDir(this.#dir);
        this.#isFolderSynced ||= !mayWait;
        return this.#readOn(line);
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

  /** Housekeeping behind a commit that stands, whatever becomes of this. Tried again after the next one. */
  #rotateWhenLarge(at: number): void {
    if (this.#offset < Math.max(this.#options.segmentBytes, 4 * this.#snapshotBytes)) return;
    try {
      const entry: Entry = { v: JOURNAL_VERSION, w: this.#nextId(), at, type: "seal" };
      this.#writeAndLook({ bytes: Buffer.from(encodeEntry(entry)), entry });
      retireSegments(this.#dir, this.#options.keptSegments, this.#options.keptBytes);
      removeLeftovers(this.#dir, at);
    } catch {
      // a full disk, most likely: the next append says so if it is in the way
    }
  }
}

/** Of goals that are over, those that ended last; the reports of the others stay in their run folders. */
function worthKeeping(loops: readonly Loop[]): readonly Loop[] {
  const over = loops.filter((loop) => loop.kind === "goal").filter(isOver);
  const old = new Set<Loop>(over.sort((a, b) => endedAt(b) - endedAt(a)).slice(KEPT_GOALS));
  return loops.filter((loop) => !old.has(loop));
}

function isOver({ status, job, notice }: Goal): boolean {
  return status === "ended" && job === null && notice === null;
}

function endedAt({ end, createdAt }: Goal): number {
  return end?.at ?? createdAt;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
