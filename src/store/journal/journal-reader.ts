/**
 * Reads the lines that count in all kept segments, oldest first. It remembers its place, so the next read costs only the
 * new lines. Changes nothing on disk.
 */
import { readAfter } from "../../system/files.ts";
import { openSigner } from "../signed/origin.ts";
import type { Signer } from "../signed/signer.ts";
import { admit, emptyState, type JournalState, startSegment } from "./admission.ts";
import { checksum } from "./checksum.ts";
import type { Entry } from "./entry.ts";
import { generations, linesOf, NO_BYTES, startFor, tailBefore, tailBytes } from "./segment.ts";
import { segmentPath } from "./segment-path.ts";

/** A place after a line. It stays valid while the segment is kept. */
export type JournalPlace = string;

export class JournalReader {
  readonly #dir: string;
  readonly #signer: Signer | null;
  readonly #state: JournalState = emptyState();
  #generation = 0;
  #offset = 0;
  #tail: Buffer = NO_BYTES;

  constructor(dir: string) {
    this.#dir = dir;
    this.#signer = openSigner(dir);
  }

  /** A reader that continues after the place; null: the place no longer exists. */
  static resume(dir: string, place: JournalPlace): JournalReader | null {
    const reader = new JournalReader(dir);
    const [generation, offset] = place.split(".").map(Number);
    if (generation === undefined || offset === undefined) return null;
    if (generation > 0) {
      reader.#generation = startFor(dir, generations(dir), generation, reader.#signer);
      reader.#readTo(generation, offset);
    }
    return reader.place === place && reader.isInPlace() ? reader : null;
  }

  /** Do the lines before this place still exist? false after the journal was cut, replaced or retired. */
  isInPlace(): boolean {
    if (this.#generation === 0) return (generations(this.#dir)[0] ?? 1) === 1;
    const tail = tailBefore(segmentPath(this.#dir, this.#generation), this.#offset);
    return tail?.equals(this.#tail) === true;
  }

  /** Contains a checksum of the bytes before the place, to detect a journal that was cut or replaced. */
  get place(): JournalPlace {
    return `${this.#generation}.${this.#offset}.${checksum(this.#tail.toString("latin1"))}`;
  }

  /** Reads up to the current end. Call it again to read new lines. `place` is after the last line. */
  *read(): Generator<Entry> {
    for (;;) {
      // look for the next segment first: a segment is complete before the next one is created
      const next = generations(this.#dir).find((generation) => generation > this.#generation);
      if (this.#generation > 0) yield* this.#readSegment();
      if (next === undefined) return;
      this.#enter(next);
    }
  }

  *#readSegment(until = Number.POSITIVE_INFINITY): Generator<Entry> {
    const bytes = readAfter(segmentPath(this.#dir, this.#generation), this.#offset, this.#tail);
    if (bytes === null) return;
    const [from, before] = [this.#offset, this.#tail];
    for (const { entry, end } of linesOf(bytes, this.#signer)) {
      if (from + end > until) return;
      const verdict = admit(this.#state, entry);
      this.#offset = from + end;
      this.#tail = Buffer.from(tailBytes(Buffer.concat([before, tailBytes(bytes.subarray(0, end))])));
      if (verdict.kind === "committed" && typeof entry === "object") yield entry;
    }
  }

  #readTo(generation: number, offset: number): void {
    while (this.#generation > 0 && this.#generation < generation) {
      for (const _ of this.#readSegment());
      this.#enter(this.#generation + 1);
    }
    if (this.#generation > 0) for (const _ of this.#readSegment(offset));
  }

  #enter(generation: number): void {
    startSegment(this.#state, this.#generation > 0 && generation === this.#generation + 1);
    this.#generation = generation;
    this.#offset = 0;
    this.#tail = NO_BYTES;
  }
}
