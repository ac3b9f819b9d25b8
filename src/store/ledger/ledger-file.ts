/**
 * The text of `.loop/ledger.json`: totals for people and status lines, and the position up to which the lines are
 * counted, so that the next reader reads only new lines. Its last key is a checksum. A file with a wrong checksum is
 * ignored and made again from the lines.
 */
import { type Counted, type LedgerCell, type LedgerFold, viewLedger } from "../../core/cost/ledger.ts";
import { checksum } from "../journal/checksum.ts";
import type { SegmentMark } from "./ledger-segments.ts";

export interface LedgerState {
  readonly fold: LedgerFold;
  readonly marks: ReadonlyMap<number, SegmentMark>;
}

const LEDGER_VERSION = 1;

const SUM_LENGTH = ',"sum":"00000000"}\n'.length;

export function renderLedger({ fold, marks }: LedgerState, now: number): string {
  const body = JSON.stringify({
    version: LEDGER_VERSION,
    at: new Date(now).toISOString(),
    ...viewLedger(fold),
    fold: {
      segments: [...marks].map(([segment, mark]) => ({
        segment,
        ...mark,
        tail: mark.tail.toString("base64"),
      })),
      cells: fold.cells,
      counted: [...fold.counted].map(([id, counted]) => [id, ...packed(counted)]),
    },
  }).slice(0, -1);
  return `${body},"sum":"${checksum(body)}"}\n`;
}

/** `newer`: a later version of the program wrote the file, so it must not be overwritten. */
export function parseLedger(text: string): LedgerState | "newer" | null {
  const body = text.slice(0, -SUM_LENGTH);
  if (text.slice(-SUM_LENGTH) !== `,"sum":"${checksum(body)}"}\n`) return null;
  try {
    const { version, fold } = JSON.parse(text) as StoredLedger;
    if (version !== LEDGER_VERSION) return version > LEDGER_VERSION ? "newer" : null;
    const cells = fold.cells.map(({ session, loop, story, totals }) => ({ session, loop, story, totals }));
    const counted = new Map(fold.counted.map(([id, ...rest]) => [id, unpacked(rest)]));
    const marks = new Map(
      fold.segments.map(({ segment, tail, ...mark }) => [
        segment,
        { ...mark, tail: Buffer.from(tail, "base64") },
      ]),
    );
    return { fold: { cells, counted }, marks };
  } catch {
    // the checksum is right but the shape is wrong: anybody can compute a checksum
    return null;
  }
}

interface StoredLedger {
  readonly version: number;
  readonly fold: {
    readonly segments: readonly (Omit<SegmentMark, "tail"> & { segment: number; tail: string })[];
    readonly cells: readonly LedgerCell[];
    readonly counted: readonly (readonly [string, ...Packed])[];
  };
}

/** An array, because key names would be most of the file: there are thousands of these. */
type Packed =
  | readonly [cell: number, segment: number]
  | readonly [
      cell: number,
      segment: number,
      inputTokens: number,
      outputTokens: number,
      cacheReadTokens: number,
      cacheWriteTokens: number,
      addedTokens: number,
      costUsd: number | null,
    ];

function packed({ cell, segment, amounts }: Counted): Packed {
  if (amounts === null) return [cell, segment];
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, addedTokens, costUsd } = amounts;
  return [cell, segment, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, addedTokens, costUsd];
}

function unpacked(packed: Packed): Counted {
  const [cell, segment] = packed;
  if (packed.length === 2) return { cell, segment, amounts: null };
  const [, , inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, addedTokens, costUsd] = packed;
  return {
    cell,
    segment,
    amounts: { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, addedTokens, costUsd },
  };
}
