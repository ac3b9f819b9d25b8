/**
 * What the handles of a memory store share, as processes share a disk: the lines, the signs of life, the records of
 * conversations, the activity of turns. Whether a line counts is for each handle to find out, by the same rules as in
 * the folder.
 */
import type { AgentEvent } from "../../ports/agent.ts";
import type { LeaseBid } from "../../ports/lease.ts";
import type { SessionRecord } from "../../ports/sessions.ts";
import { admit, emptyState, type JournalState } from "../journal/admission.ts";
import type { Entry, LoopEntry } from "../journal/entry.ts";

export type NewEntry<E = Entry> = E extends Entry ? Omit<E, "v" | "w"> : never;

export class MemoryJournal {
  readonly lines: Entry[] = [];
  /** The last sign of life under each token. */
  readonly beats = new Map<number, number>();
  readonly watchers = new Set<(writer: string) => void>();
  readonly sessions = new Map<
    string,
    { readonly record: SessionRecord; readonly stamp: number; readonly at: number }
  >();
  readonly activity = new Map<string, AgentEvent[]>();
  asked: LeaseBid | null = null;
  /** What is on disk is JSON; false where only speed is in question. */
  json = true;
  /** For long runs with a single reader, which folds a line as soon as it is there: no more are kept. */
  maxLines = Number.POSITIVE_INFINITY;
  /** For tests of a full disk: a line does not land, or lands and seems not to. */
  fail: (entry: NewEntry) => "lost" | "landed" | null = () => null;
  /** How many old lines were dropped. */
  #dropped = 0;
  #sequence = 0;

  get length(): number {
    return this.#dropped + this.lines.length;
  }

  /** The first position that is still kept. */
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

  /** Puts one snapshot in the place of all lines: what they said stays, how it came to be is forgotten. */
  compact(): void {
    const { lastToken, lease, loops } = this.state();
    const w = `compact.${++this.#sequence}`;
    this.#dropped = this.length;
    this.lines.length = 0;
    this.lines.push({ v: 1, w, at: 0, type: "snapshot", lastToken, lease, loops: [...loops.values()] });
  }

  /** Lines of loops that count, by the same rules as for everybody. */
  accepted(): LoopEntry[] {
    return [...this.acceptedAt()].flatMap(({ line }) => (line.type === "loop" ? [line] : []));
  }

  /** All lines that count, with the position behind each. */
  *acceptedAt(): Generator<{ readonly line: Entry; readonly end: number }> {
    const state = emptyState();
    for (const [index, line] of this.lines.entries())
      if (admit(state, line).kind === "committed") yield { line, end: this.#dropped + index + 1 };
  }

  /** What all lines say together. */
  state(): JournalState {
    const state = emptyState();
    for (const line of this.lines) admit(state, line);
    return state;
  }
}
