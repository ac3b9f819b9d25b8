/**
 * The files with the lines of the ledger: `ledger.jsonl`, `ledger.2.jsonl`, … A full file is never renamed or cut: a
 * process that has it open may still write to it, and that line counts like every other.
 */
import { closeSync, constants, fstatSync, readdirSync, statSync } from "node:fs";
import type { LedgerEntry } from "../../core/cost/ledger.ts";
import { nullOn, openToChange, readAfter } from "../../system/files.ts";
import { NO_BYTES, segmentNumbers, tailBytes, writeLine } from "../journal/segment.ts";
import { segmentPath } from "../journal/segment-path.ts";
import { decodeLedgerEntry } from "./ledger-line.ts";

/** How far a file was read, and how to recognise the file. */
export interface SegmentMark {
  readonly ino: string;
  readonly offset: number;
  /** The last bytes before the offset. */
  readonly tail: Buffer;
  /** The time of the newest entry so far. */
  readonly latestAt: number;
}

interface SegmentPart {
  readonly entries: readonly LedgerEntry[];
  readonly mark: SegmentMark;
}

const SEGMENT = /^ledger(?:\.(?!1\.)([1-9]\d{0,8}))?\.jsonl$/;

export function ledgerSegments(dir: string): number[] {
  return segmentNumbers(readdirSync(dir), SEGMENT);
}

/** Uses one write(2), so that the lines of other writers are never in between. */
export function appendToSegment(dir: string, lines: string, segmentBytes: number): void {
  const fd = openNewest(dir, segmentBytes);
  try {
    writeLine(fd, Buffer.from(lines));
  } finally {
    closeSync(fd);
  }
}

/** The entries after the mark; null: it is not the same file any more. */
export function readSegment(dir: string, segment: number, mark: SegmentMark | null): SegmentPart | null {
  const path = segmentPath(dir, segment, "ledger");
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  const ino = String(stat?.ino);
  if (stat === undefined || (mark !== null && mark.ino !== ino)) return null;
  if (mark !== null && Number(stat.size) === mark.offset) return { entries: [], mark };
  const { offset, tail, latestAt } = mark ?? { offset: 0, tail: NO_BYTES, latestAt: 0 };
  const bytes = readAfter(path, offset, tail);
  if (bytes === null) return null;
  const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
  const entries = entriesOf(whole);
  return {
    entries,
    mark: {
      ino,
      offset: offset + whole.length,
      tail: Buffer.from(tailBytes(Buffer.concat([tail, whole]))),
      latestAt: entries.reduce((latest, { at }) => Math.max(latest, at), latestAt),
    },
  };
}

/** The entries before the mark. */
export function readAgain(dir: string, segment: number, { offset }: SegmentMark): LedgerEntry[] {
  const bytes = readAfter(segmentPath(dir, segment, "ledger"), 0, NO_BYTES) ?? NO_BYTES;
  return entriesOf(bytes.subarray(0, offset));
}

function openNewest(dir: string, segmentBytes: number): number {
  const newest = ledgerSegments(dir).at(-1) ?? 1;
  const fd = open(segmentPath(dir, newest, "ledger"), constants.O_CREAT);
  if (fstatSync(fd).size < segmentBytes) return fd;
  closeSync(fd);
  const next = segmentPath(dir, newest + 1, "ledger");
  return nullOn("EEXIST", () => open(next, constants.O_CREAT | constants.O_EXCL)) ?? open(next, 0);
}

function open(path: string, flags: number): number {
  return openToChange(path, constants.O_RDWR | constants.O_APPEND | flags);
}

function entriesOf(bytes: Buffer): LedgerEntry[] {
  const lines = bytes.toString("utf8").split("\n");
  return lines.flatMap((line) => decodeLedgerEntry(line) ?? []);
}
