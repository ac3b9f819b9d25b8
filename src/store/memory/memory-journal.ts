/**
 * The data that the handles of a memory store share, as processes share a disk: lines, heartbeats, records of
 * conversations, activity of turns. Each handle decides which lines count, by the same rules as the folder store.
 */
import type { AgentEvent } from "../../ports/agent.ts";
import type { LeaseBid } from "../../ports/lease.ts";
import type { SessionRecord } from "../../ports/sessions.ts";
import { admit, emptyState, type JournalState } from "../journal/admission.ts";
import type { Entry, LoopEntry, NewEntry } from "../journal/entry.ts";

export class MemoryJournal {
  readonly lines: Entry[] = [];
  /** The last heartbeat of each token. */
  readonly beats = new Map<number, number>();
  readonly watchers = new Set<(writer: string) => void>();
  readonly sessions = new Map<
    string,
    { readonly record: SessionRecord; readonly stamp: number; readonly at: number }
  >();
  readonly activity = new Map<string, AgentEvent[]>();
  asked: LeaseBid | null = null;
  /** Stores lines as JSON, like a disk. A benchmark sets false. */
  json = true;
  /** The highest number of kept lines, for long runs with one reader that reads each line at once. */
  maxLines = Number.POSITIVE_INFINITY;
  /** For tests of a full disk: the line is lost, or it is written but the write seems to fail. */
  fail: (entry: NewEntry) => "lost" | "landed" | null = () => null;
  /** The number of dropped old lines. */
  #dropped = 0;
  #sequence = 0;

  get length(): number {
    return this.#dropped + this.lines.length;
  }

  /** The first kept position. */
  get start(): number {
    return this.#dropped;
  }

  append(writer: string, entry: NewEntry): string {
    if (this.lines.length >= this.maxLines) {
      this.#dropped += this.lines.length;
      this.lines.length = 0;
    }
    const failure = this.fail(entry);
    const w = `${writer}.${++this.#sequence}`;
    const line = { v: 1, w, ...entry } as Entry;
    if (failure !== "lost") this.lines.push(this.json ? JSON.parse(JSON.stringify(line)) : line);
    if (failure !== null) throw new Error("no space left on device");
    for (const watcher of this.watchers) watcher(writer);
    return w;
  }

  *since(position: number): Generator<Entry> {
    for (let index = position - this.#dropped; index < this.lines.length; index++)
      yield this.lines[index] as Entry;
  }

  /** Replaces all lines with one snapshot: the state stays, its history is dropped. */
  compact(): void {
    const { lastToken, lease, loops } = this.state();
    const w = `compact.${++this.#sequence}`;
    this.#dropped = this.length;
    this.lines.length = 0;
    this.lines.push({ v: 1, w, at: 0, type: "snapshot", lastToken, lease, loops: [...loops.values()] });
  }

  /** The lines of loops that count. */
  accepted(): LoopEntry[] {
    return [...this.acceptedAt()].flatMap(({ line }) => (line.type === "loop" ? [line] : []));
  }

  /** All lines that count, with the position after each line. */
  *acceptedAt(): Generator<{ readonly line: Entry; readonly end: number }> {
    const state = emptyState();
    for (const [index, line] of this.lines.entries())
      if (admit(state, line, false).kind === "committed") yield { line, end: this.#dropped + index + 1 };
  }

  /** The state after all lines. */
  state(): JournalState {
    const state = emptyState();
    for (const line of this.lines) admit(state, line, false);
    return state;
  }
}
