/**
 * The usage of loops (D7). Any number of short-lived processes write it at the same time.
 *
 * Owns: `.loop/ledger.jsonl`, `.loop/ledger.2.jsonl`, … (the lines, which are the truth) and `.loop/ledger.json` (the
 * totals of the lines). Must not: rewrite or cut a line, take a lock, or depend on `ledger.json`.
 *
 * 1. Entries are one write(2) in append mode. A torn line never counts, and the next writer starts a new line. There is
 *    no fsync, because a hook must not make a person wait: a power cut may lose the last entries.
 * 2. An id counts once, even if several lines or files have it. `ledger.json` keeps the ids of the two newest files.
 *    Older ids are looked up in the files, and only for an entry that is old enough to be there.
 * 3. `ledger.json` contains its own position in the lines. If an older version replaces a newer one, nothing is lost:
 *    the next reader continues from that position.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import {
  EMPTY_FOLD,
  foldLedger,
  forgetSegments,
  type LedgerEntry,
  type LedgerFold,
  type LedgerPart,
  recallIds,
} from "../../core/cost/ledger.ts";
import { quarantine, readSmall, replaceIf } from "../../system/files.ts";
import { whileReading, whileWriting } from "../folder/loop-dir.ts";
import { type LedgerState, parseLedger, renderLedger } from "./ledger-file.ts";
import { encodeLedgerEntry } from "./ledger-line.ts";
import {
  appendToSegment,
  ledgerSegments,
  readAgain,
  readSegment,
  type SegmentMark,
} from "./ledger-segments.ts";

const SEGMENT_BYTES = 512 * 1024;
/** The number of files whose ids are kept. */
const KNOWN_SEGMENTS = 2;
/** The longest time between two lines of one id: an answer grows, or hooks run in parallel. */
const SAME_ID_WITHIN_MS = 10 * 60_000;
const PUBLISH_ATTEMPTS = 3;

/** `dir` is the project's existing `.loop`. After an error the caller may append the same entries again. */
export function appendLedger(
  dir: string,
  entries: readonly LedgerEntry[],
  segmentBytes = SEGMENT_BYTES,
): void {
  if (entries.length === 0) return;
  const lines = entries.map(encodeLedgerEntry).join("");
  whileWriting(join(dir, "ledger.jsonl"), () => appendToSegment(dir, lines, segmentBytes));
}

/** The totals up to now. Writes nothing. */
export function readLedger(dir: string): LedgerFold {
  const stored = readStored(dir);
  return catchUp(dir, isState(stored) ? stored : null).fold;
}

/** Like `readLedger`, and writes the totals to `ledger.json`. */
export function publishLedger(dir: string, now: number, say: (message: string) => void): LedgerFold {
  const path = join(dir, "ledger.json");
  for (let attempt = 1; ; attempt++) {
    const before = stampOf(path);
    const stored = readStored(dir);
    const state = catchUp(dir, isState(stored) ? stored : null);
    if (stored === "newer" || (isState(stored) && isSame(stored, state))) return state.fold;
    const isReplaced = whileWriting(path, () => {
      if (stored === "damaged")
        say(`ledger.json was not written by this program: moved to ${quarantine(path, now)}.`);
      const isWanted = () => attempt === PUBLISH_ATTEMPTS || stored === "damaged" || stampOf(path) === before;
      return replaceIf(path, renderLedger(state, now), isWanted, false);
    });
    if (isReplaced) return state.fold;
  }
}

const NO_STATE: LedgerState = { fold: EMPTY_FOLD, marks: new Map() };

type Stored = LedgerState | "none" | "damaged" | "newer";

function isState(stored: Stored): stored is LedgerState {
  return typeof stored === "object";
}

function readStored(dir: string): Stored {
  const text = readSmall(join(dir, "ledger.json"));
  return text === null ? "none" : (parseLedger(text) ?? "damaged");
}

/** Starts from the stored state if it matches the files, else from the first line. */
function catchUp(dir: string, stored: LedgerState | null): LedgerState {
  return whileReading(join(dir, "ledger.jsonl"), () => {
    const segments = ledgerSegments(dir);
    const state = stored === null ? null : readOn(dir, segments, stored);
    return state ?? readOn(dir, segments, NO_STATE) ?? NO_STATE;
  });
}

/** null: the state belongs to other files. */
function readOn(dir: string, segments: readonly number[], { fold, marks }: LedgerState): LedgerState | null {
  if ([...marks.keys()].some((segment) => !segments.includes(segment))) return null;
  const read = new Map<number, SegmentMark>();
  const parts: LedgerPart[] = [];
  for (const segment of segments) {
    const part = readSegment(dir, segment, marks.get(segment) ?? null);
    if (part === null) return null;
    read.set(segment, part.mark);
    if (part.entries.length > 0) parts.push({ segment, entries: part.entries });
  }
  if (parts.length === 0) return { fold, marks: read };
  const newest = segments.at(-1) ?? 1;
  const known = recallIds(fold, forgottenLines(dir, fold, parts, marks), newest);
  return { fold: forgetSegments(foldLedger(known, parts), firstKnown(newest)), marks: read };
}

function firstKnown(newest: number): number {
  return newest - KNOWN_SEGMENTS + 1;
}

/** Earlier lines with an id of these parts, in files whose ids are no longer kept. */
function forgottenLines(
  dir: string,
  { counted }: LedgerFold,
  parts: readonly LedgerPart[],
  marks: ReadonlyMap<number, SegmentMark>,
): LedgerEntry[] {
  const before = firstKnown(Math.max(...marks.keys()));
  const forgotten = [...marks].filter(([segment]) => segment < before);
  if (forgotten.length === 0) return [];
  const unknown = parts.flatMap(({ entries }) => entries).filter(({ id }) => !counted.has(id));
  const earliest = unknown.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const ids = new Set(unknown.map(({ id }) => id));
  return forgotten
    .filter(([, { latestAt }]) => latestAt + SAME_ID_WITHIN_MS >= earliest)
    .sort(([a], [b]) => a - b)
    .flatMap(([segment, mark]) => readAgain(dir, segment, mark))
    .filter(({ id }) => ids.has(id));
}

function isSame(a: LedgerState, b: LedgerState): boolean {
  return (
    a.marks.size === b.marks.size &&
    [...b.marks].every(([segment, mark]) => a.marks.get(segment)?.offset === mark.offset)
  );
}

function stampOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.ino}-${stat.mtimeNs}`;
}
