/**
 * Remembers outside the project how far each loop of a journal was. A journal that was cut, rolled back by a backup or
 * by git, or lost a line to a flipped bit is still valid in itself; only this record shows that it is older than it was.
 *
 * 1. A line is appended after a commit: loop, version, place in the journal, marks. A reader takes the highest version of
 *    each loop. Lines of commits within `PAUSE_MS` are written together.
 * 2. The record may be behind the journal (a crash between the two writes), and never ahead of it: a line that is not on
 *    disk yet is only demanded until the next boot of the machine, because a power cut may take it away.
 */
import { closeSync, constants, fstatSync, readFileSync, writeSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import type { LoopId } from "../../core/loop.ts";
import { openOwn, orNull, readSmall, writeAtomic } from "../../system/files.ts";
import { makeUserFolder, userFolder } from "../../system/user-folder.ts";

export interface Reached {
  readonly version: number;
  /** The loop has ended, so the journal may have dropped it. */
  readonly isOver: boolean;
}

export interface JournalPosition {
  readonly generation: number;
  readonly bytes: number;
}

export interface ReachedState {
  readonly loops: ReadonlyMap<LoopId, Reached>;
  /** The furthest place in the journal. */
  readonly place: JournalPosition;
}

export interface ReachedNote extends Reached {
  readonly id: LoopId;
  /** The end of the line in the journal. */
  readonly place: JournalPosition;
  /** The line is on disk, and not only in the memory of the system. */
  readonly isSynced: boolean;
  /** A person said that this state counts, even if the loop was further before. */
  readonly isReset?: boolean;
}

/** `a1b2c3d4 12 1.2048 e`: over; `=`: counts instead of what was before; `w` and a boot: not on disk yet. */
const LINE = /^([0-9a-f]{8}) (\d{1,15}) (\d{1,9})\.(\d{1,15}) (e?)(=?)(?:w([0-9a-z]+))?$/;
const COMPACT_BYTES = 64 * 1024;
/** At most one write in this time: each would slow down the next sync of the disk. */
const PAUSE_MS = 25;

export class ReachedFile {
  readonly #env: NodeJS.ProcessEnv;
  readonly #name: string;
  #fd: number | null = null;
  #writtenAt = Number.NEGATIVE_INFINITY;
  #unwritten = "";

  /** `journal` is the id of the folder in its `origin`. */
  constructor(env: NodeJS.ProcessEnv, journal: string) {
    this.#env = env;
    this.#name = journal;
  }

  read(): ReachedState {
    writeWaiting();
    const base = userFolder(this.#env);
    const text = base === null ? null : readSmall(join(base, "reached", this.#name));
    return parse(text ?? "");
  }

  note(note: ReachedNote): void {
    this.#unwritten += render(note);
    const isSoon = performance.now() - this.#writtenAt < PAUSE_MS;
    if (isSoon && note.isReset !== true) waitFor(this);
    else this.write();
  }

  /** Writes what waits. */
  write(): void {
    if (this.#unwritten === "") return;
    const text = this.#unwritten;
    this.#unwritten = "";
    this.#writtenAt = performance.now();
    const { fd, size } = this.#open();
    writeSync(fd, text);
    if (size + text.length > COMPACT_BYTES) this.#compact();
  }

  close(): void {
    orNull(() => this.write());
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  /** Another process may have replaced the file since. */
  #open(): { readonly fd: number; readonly size: number } {
    const stat = this.#fd === null ? null : fstatSync(this.#fd);
    if (this.#fd !== null && stat !== null && stat.nlink > 0) return { fd: this.#fd, size: stat.size };
    this.close();
    const path = join(makeUserFolder(this.#env, "reached"), this.#name);
    this.#fd = openOwn(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
    return { fd: this.#fd, size: fstatSync(this.#fd).size };
  }

  /** A note that another process appends at the same moment may be lost: the record is behind then, which is allowed. */
  #compact(): void {
    const { loops, place } = this.read();
    const lines = [...loops].map(([id, { version, isOver }]) =>
      render({ id, version, isOver, place, isSynced: true }),
    );
    const path = join(makeUserFolder(this.#env, "reached"), this.#name);
    writeAtomic(path, lines.join(""), false);
    this.close();
  }
}

/** Files with lines that are not written yet. Usually one: a process has one journal. */
const waiting = new Set<ReachedFile>();
let timer: NodeJS.Timeout | null = null;

function waitFor(file: ReachedFile): void {
  if (waiting.size === 0) process.once("exit", writeWaiting);
  waiting.add(file);
  timer ??= setTimeout(writeWaiting, PAUSE_MS).unref();
}

/** Without the record the journal is as good, only not provable: so nothing is thrown. */
function writeWaiting(): void {
  if (waiting.size === 0) return;
  if (timer !== null) clearTimeout(timer);
  timer = null;
  process.off("exit", writeWaiting);
  for (const file of waiting) orNull(() => file.write());
  waiting.clear();
}

function render({ id, version, place, isOver, isSynced, isReset }: ReachedNote): string {
  const marks = `${isOver ? "e" : ""}${isReset ? "=" : ""}${isSynced ? "" : `w${boot()}`}`;
  return `${id} ${version} ${place.generation}.${place.bytes} ${marks}\n`;
}

function parse(text: string): ReachedState {
  const loops = new Map<LoopId, Reached>();
  let place: JournalPosition = { generation: 0, bytes: 0 };
  for (const line of text.split("\n")) {
    const [, id, version, generation, bytes, over, reset, bootOfLine] = LINE.exec(line) ?? [];
    if (id === undefined || (bootOfLine !== undefined && bootOfLine !== boot())) continue;
    const note = { version: Number(version), isOver: over === "e" };
    const isHigher = note.version > (loops.get(id as LoopId)?.version ?? 0);
    if (isHigher || reset === "=") loops.set(id as LoopId, note);
    const at = { generation: Number(generation), bytes: Number(bytes) };
    if (reset === "=" || isBehind(place, at)) place = at;
  }
  return { loops, place };
}

export function isBehind(one: JournalPosition, other: JournalPosition): boolean {
  return (
    one.generation < other.generation || (one.generation === other.generation && one.bytes < other.bytes)
  );
}

let knownBoot: string | null = null;

/** Names the current boot of the machine. */
function boot(): string {
  knownBoot ??= readBootId() ?? Math.round((Date.now() / 1000 - uptime()) / 60).toString(36);
  return knownBoot;
}

function readBootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").replaceAll(/[^0-9a-f]/g, "");
  } catch {
    return null;
  }
}
