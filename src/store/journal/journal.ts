/**
 * The append-only record of a project. Any number of processes share it.
 *
 * Owns: `.loop/journal.jsonl`, `.loop/journal.2.jsonl`, … (segments; the highest number is the current one) and the
 * state that follows from them. Must not: rewrite or truncate a line, take a lock, or trust its memory over the file.
 *
 * 1. A line is one write(2) in append mode, then fsync. The writer reads the line back among the lines of others to see
 *    whether it counts (`admission.ts`). `committed` means: the line is on disk, and it counts.
 * 2. A writer writes a line only if the line would count as far as the writer can see. So a reader that does not know
 *    what a line depends on has missed something, and may trust the line (`judge`, heal).
 * 3. A torn line (crash, full disk) never counts. The next writer voids it and starts a new line.
 * 4. A seal line closes a segment. A line after the seal does not count, and its writer tries again. The next segment
 *    starts with a snapshot. A process that finds a seal without a next segment creates it by link(2), which only one
 *    process can win. A reader that cannot create it (full disk, no permission) stays at the seal.
 */
import { closeSync, existsSync, fsyncSync, statSync } from "node:fs";
import type { Goal } from "../../core/goal/goal.ts";
import type { Loop, LoopId } from "../../core/loop.ts";
import { LoopError, reasonOf, surroundingsError } from "../../errors.ts";
import type { HeldLoop } from "../../ports/loops.ts";
import { copyAside, createOnce, fsyncDir, orNull, readAfter } from "../../system/files.ts";
import { claimOrigin, openSigner } from "../signed/origin.ts";
import { isBehind, type JournalPosition, ReachedFile } from "../signed/reached.ts";
import type { Signer } from "../signed/signer.ts";
import {
  admit,
  emptyState,
  isTaskOver,
  type JournalState,
  judge,
  type LineVerdict,
  startSegment,
} from "./admission.ts";
import {
  type Decoded,
  type Entry,
  encodeEntry,
  JOURNAL_VERSION,
  type NewEntry,
  type SnapshotEntry,
} from "./entry.ts";
import { ForgeryGuard } from "./forgery-guard.ts";
import { heldLoops } from "./held.ts";
import {
  generations,
  linesOf,
  NO_BYTES,
  openForAppend,
  removeLeftovers,
  retireSegments,
  startFor,
  tailBytes,
  type Written,
  writeLine,
} from "./segment.ts";
import { segmentPath } from "./segment-path.ts";

export interface JournalOptions {
  /** A segment is sealed when it is larger than this and larger than four times its snapshot. */
  readonly segmentBytes: number;
  /** The number of closed segments that are kept for the history and against a damaged snapshot. */
  readonly keptSegments: number;
  /** The size of the kept segments: lines contain whole prompts. */
  readonly keptBytes: number;
}

const DEFAULTS: JournalOptions = {
  segmentBytes: 256 * 1024,
  keptSegments: 200,
  keptBytes: 64 * 1024 * 1024,
};

const KEPT_GOALS = 10;

export class Journal {
  readonly #dir: string;
  readonly #options: JournalOptions;
  /** null: the folder is new or foreign. */
  #signer: Signer | null = null;
  #reached: ReachedFile | null = null;
  #held: ReadonlyMap<LoopId, HeldLoop> = new Map();
  /** The furthest place that the journal had, by the record outside the project. */
  #furthest: JournalPosition = { generation: 0, bytes: 0 };
  /** What was unreadable when the journal was last compared with the record of how far it was; null: not compared. */
  #compared: string | null = null;
  readonly #writer = `${process.pid.toString(36)}.${Math.random().toString(36).slice(2, 10)}`;
  #sequence = 0;
  /** The number of the last own line that was read back. */
  #seen = 0;
  #generation = 0;
  #offset = 0;
  #tail: Buffer = NO_BYTES;
  /** Inode, size and time of the segment when it was last read. */
  #looked = "";
  #snapshotBytes = 0;
  #isFolderSynced = false;
  /** Why a sealed segment has no next segment yet. */
  #obstacle: unknown = null;
  #state: JournalState = emptyState();
  #changed = new Set<LoopId>();
  /** Knows the trusted state while this process holds the lease. */
  readonly guard = new ForgeryGuard();

  constructor(dir: string, options: Partial<JournalOptions> = {}) {
    this.#dir = dir;
    this.#options = { ...DEFAULTS, ...options };
  }

  get state(): Readonly<JournalState> {
    return this.#state;
  }

  /** null: the folder is foreign, or the engine has no files here yet. */
  get signer(): Signer | null {
    return this.#signer;
  }

  /** The loops that were further than the journal says. They must not run. */
  get held(): ReadonlyMap<LoopId, HeldLoop> {
    return this.#held;
  }

  /** The position up to which the journal was read. Published files contain it. */
  get position(): JournalPosition {
    return { generation: this.#generation, bytes: this.#offset };
  }

  /** Was the journal never further than this place? */
  isNewest(place: JournalPosition): boolean {
    return !isBehind(place, this.#furthest);
  }

  /** Reads all new complete lines; returns the loops that changed since the last `refresh`. */
  refresh(): readonly LoopId[] {
    this.#readOn(null);
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** Like `refresh`, but leaves the list of changed loops to the next `refresh`. */
  catchUp(): void {
    this.#readOn(null);
  }

  /**
   * Appends one line and returns its verdict. Throws when the line is not on disk. With `mayWait` all processes can read
   * the line at once, but it is on disk only with the next line without `mayWait`.
   */
  append(entry: NewEntry, mayWait = false): LineVerdict {
    const w = this.#nextId();
    const whole = { v: JOURNAL_VERSION, w, ...entry } as Entry;
    let line = this.#sign(whole);
    for (let vanished = 0; vanished < 20; ) {
      // in a second round the line may exist after all: a network drive may show a file late
      const earlier = this.#readOn(line);
      if (earlier?.kind === "committed") return earlier;
      if (this.#state.sealed) throw this.#obstacle;
      const expected = judge(this.#state, whole, false);
      if (expected.kind !== "committed") return expected;
      // the folder was replaced by another one
      if (line.folder !== this.#signer?.id) line = this.#sign(whole);
      const verdict = this.#writeAndLook(line, mayWait);
      // the line is missing: it merged with a torn line, or the file was removed; try again
      if (verdict === null) vanished += 1;
      else if (verdict.kind !== "sealed") {
        if (verdict.kind === "committed") {
          this.#note(whole, !mayWait);
          this.#rotateWhenLarge(entry.at);
        }
        return verdict;
      }
    }
    throw surroundingsError(`The journal in ${this.#dir} loses new lines.`, "Check the disk.");
  }

  /** A person said that the journal counts as it is, even if it was further before. */
  acceptPast(): void {
    this.catchUp();
    const { loops } = this.#state;
    const noted = [...this.#held.keys(), ...loops.keys()].map(
      (id) => [id, loops.get(id)?.version ?? 0] as const,
    );
    for (const [id, version] of noted)
      this.#reached?.note({
        id,
        version,
        place: this.position,
        isOver: false,
        isSynced: true,
        isReset: true,
      });
    this.catchUp();
  }

  /** Copies the current segment, so that a person can see what was lost; null: there is none. */
  keepAside(now: number): string | null {
    return this.#generation === 0 ? null : copyAside(this.#path(this.#generation), now);
  }

  #nextId(): string {
    return `${this.#writer}.${++this.#sequence}`;
  }

  /** Own lines arrive in the order of their numbers, each once. So a forged copy of a number comes too late. */
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

  #sign(entry: Entry): Written {
    if (this.#signer === null) this.#useSigner(claimOrigin(this.#dir));
    const signer = this.#signer as Signer;
    return { folder: signer.id, bytes: Buffer.from(encodeEntry(entry, signer)), entry };
  }

  #useSigner(signer: Signer | null): void {
    const isSame = signer !== null && signer.id === this.#signer?.id;
    this.#signer = signer;
    if (isSame) return;
    this.#reached?.close();
    this.#reached = signer === null ? null : new ReachedFile(process.env, signer.id);
  }

  /** Remembers outside the project how far the loop is. Without that record the journal is as good, only not provable. */
  #note(entry: Entry, isSynced: boolean): void {
    if (entry.type !== "loop") return;
    const { id, ver: version, loop } = entry;
    const isOver = isTaskOver(loop) || (loop.kind === "goal" && isGoalOver(loop));
    // a process that knows the lost state has just written it again
    const isReset = this.#held.has(id);
    if (isReset) this.#held = new Map([...this.#held].filter(([other]) => other !== id));
    orNull(() => this.#reached?.note({ id, version, place: this.position, isOver, isSynced, isReset }));
  }

  /** Reads to the end of the newest segment. Returns the verdict on `line`; null: the line was not found. */
  #readOn(line: Written | null): LineVerdict | null {
    const found = this.#readLines(line);
    const { damaged, foreign } = this.#state;
    const unreadable = `${damaged} ${foreign}`;
    if (this.#reached !== null && (unreadable !== this.#compared || this.#held.size > 0)) {
      // the record first: a commit of another process is in the journal before it is in the record
      const reached = this.#reached.read();
      this.#readLines(null);
      this.#held = heldLoops(this.#state, reached);
      this.#furthest = reached.place;
      this.#compared = unreadable;
    }
    return found;
  }

  #readLines(line: Written | null): LineVerdict | null {
    let found: LineVerdict | null = null;
    let isEndKnown = false;
    for (;;) {
      if (this.#generation === 0 && !this.#reload()) return found;
      const bytes = this.#newBytes();
      if (bytes === null) {
        // the folder was removed or replaced: start again from its current content
        this.#generation = 0;
        continue;
      }
      found = this.#takeLines(bytes, line) ?? found;
      if (this.#state.sealed) {
        if (!this.#openNext()) return found;
        isEndKnown = false;
      } else {
        // a next segment without a seal: it is new (read again up to the seal), or the seal is damaged
        if (!existsSync(this.#path(this.#generation + 1))) return found;
        if (isEndKnown) this.#enter(this.#generation + 1, true);
        isEndKnown = !isEndKnown;
      }
    }
  }

  /** null: the segment is gone, or it is not the one that was read before. */
  #newBytes(): Buffer | null {
    const path = this.#path(this.#generation);
    const stat = statSync(path, { throwIfNoEntry: false });
    const now = stat === undefined ? "" : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
    // the usual case before an append: nobody else wrote
    if (now === this.#looked && stat?.size === this.#offset) return NO_BYTES;
    const bytes = readAfter(path, this.#offset, this.#tail);
    this.#looked = now;
    return bytes;
  }

  #takeLines(bytes: Buffer, line: Written | null): LineVerdict | null {
    const from = this.#offset;
    let found: LineVerdict | null = null;
    try {
      for (const { entry, end } of linesOf(bytes, this.#signer, line)) {
        const verdict = this.#take(entry, from + end);
        if (entry === "foreign") this.guard.takeForeign();
        if (typeof entry !== "object") continue;
        const isOwn = this.#isOwn(entry.w);
        if (entry.type === "loop" && verdict.kind === "committed") this.guard.take(entry, isOwn);
        if (entry.w === line?.entry.w) found = verdict;
      }
    } finally {
      // even when a line of a newer version stops the read: no line is taken twice
      const known = Buffer.concat([this.#tail, bytes.subarray(0, this.#offset - from)].map(tailBytes));
      this.#tail = Buffer.from(tailBytes(known));
    }
    return found;
  }

  #take(entry: Decoded, end: number): LineVerdict {
    const isSnapshot = typeof entry === "object" && entry.type === "snapshot";
    const before = isSnapshot ? new Map(this.#state.loops) : null;
    const verdict = admit(this.#state, entry);
    this.#offset = end;
    if (verdict.kind !== "committed" || typeof entry !== "object") return verdict;
    if (entry.type === "loop") this.#changed.add(entry.id);
    if (entry.type === "snapshot") {
      this.#snapshotBytes = end;
      this.#noteDifferences(before ?? new Map());
    }
    return verdict;
  }

  /** A snapshot differs from the lines before it only if this process missed some of them. */
  #noteDifferences(before: JournalState["loops"]): void {
    const { loops } = this.#state;
    for (const id of before.keys()) if (!loops.has(id)) this.#changed.add(id);
    for (const [id, loop] of loops) if (before.get(id)?.version !== loop.version) this.#changed.add(id);
  }

  /** Starts from the newest snapshot; false: there is no journal. */
  #reload(): boolean {
    for (const id of this.#state.loops.keys()) this.#changed.add(id);
    this.#state = emptyState();
    this.#compared = null;
    this.#useSigner(openSigner(this.#dir));
    const known = generations(this.#dir);
    this.#enter(startFor(this.#dir, known, known.at(-1) ?? 0, this.#signer), false);
    return this.#generation > 0;
  }

  #enter(generation: number, carried: boolean): void {
    this.#generation = generation;
    this.#offset = 0;
    this.#tail = NO_BYTES;
    this.#looked = "";
    this.#snapshotBytes = 0;
    this.#isFolderSynced = false;
    startSegment(this.#state, carried);
  }

  #openNext(): boolean {
    // not always the next number: a segment may be deleted by a person or retired
    const later = generations(this.#dir).find((generation) => generation > this.#generation);
    const next = later ?? this.#generation + 1;
    if (later === undefined) {
      try {
        // On a disk without hard links, others may enter the segment before its snapshot exists. They keep their state,
        // and a snapshot that is not the first line does not count; the segment before is read instead.
        createOnce(this.#path(next), this.#sign(this.#snapshot()).bytes.toString());
      } catch (error) {
        this.#obstacle = error;
        return false;
      }
    }
    this.#enter(next, next === this.#generation + 1);
    return true;
  }

  #snapshot(): SnapshotEntry {
    const { lastToken, lease } = this.#state;
    const loops = worthKeeping([...this.#state.loops.values()]);
    return { v: JOURNAL_VERSION, w: this.#nextId(), at: 0, type: "snapshot", lastToken, lease, loops };
  }

  #writeAndLook(line: Written, mayWait = false): LineVerdict | null {
    const isFirst = this.#generation === 0;
    const fd = openForAppend(this.#path(isFirst ? 1 : this.#generation), isFirst);
    if (fd === null) return null;
    try {
      writeLine(fd, line.bytes);
      // Read the line back where it was written: others may have sealed this first segment meanwhile, and the newest
      // snapshot does not contain the line.
      if (this.#generation === 0) this.#enter(1, false);
      try {
        if (!mayWait) fsyncSync(fd);
        if (!mayWait && !this.#isFolderSynced) fsyncDir(this.#dir);
        this.#isFolderSynced ||= !mayWait;
        return this.#readOn(line);
      } catch (error) {
        throw new LoopError(
          "surroundings",
          `The change was written to ${this.#dir}, but the disk may not have kept it: ${reasonOf(error)}.`,
          "Run loop list before you repeat the command.",
          error,
        );
      }
    } finally {
      closeSync(fd);
    }
  }

  /** Housekeeping after a commit. An error does not affect the commit; the next commit tries again. */
  #rotateWhenLarge(at: number): void {
    if (this.#offset < Math.max(this.#options.segmentBytes, 4 * this.#snapshotBytes)) return;
    try {
      const entry: Entry = { v: JOURNAL_VERSION, w: this.#nextId(), at, type: "seal" };
      this.#writeAndLook(this.#sign(entry));
      retireSegments(this.#dir, this.#options.keptSegments, this.#options.keptBytes);
      removeLeftovers(this.#dir, at);
    } catch {
      // probably a full disk: the next append reports it
    }
  }
}

/** Drops all but the newest ended goals; their reports stay in their run folders. */
function worthKeeping(loops: readonly Loop[]): readonly Loop[] {
  const over = loops.filter((loop) => loop.kind === "goal").filter(isGoalOver);
  const old = new Set<Loop>(over.sort((a, b) => endedAt(b) - endedAt(a)).slice(KEPT_GOALS));
  return loops.filter((loop) => !old.has(loop));
}

function isGoalOver({ status, job, notice }: Goal): boolean {
  return status === "ended" && job === null && notice === null;
}

function endedAt({ end, createdAt }: Goal): number {
  return end?.at ?? createdAt;
}
