/** Reads the usage of turns from the client's transcript and adds it to the ledger and to the turns. */
import type { LedgerEntry, UsageEntry } from "../../../core/cost/ledger.ts";
import type { Span } from "../../../ports/sessions.ts";
import { appendLedger } from "../../../store/ledger/ledger.ts";
import { readLedgerCursor, saveLedgerCursor } from "../../../store/ledger/ledger-cursor.ts";
import { parseUsageCursor, readNewUsage } from "./usage.ts";

export function countUsage(
  dir: string,
  transcript: string,
  turns: readonly Span[],
  now: number,
): readonly Span[] {
  const before = parseUsageCursor(readLedgerCursor(dir, transcript));
  // usage before the first loop does not count
  const since = before === null ? (turns[0]?.fromAt ?? now) : null;
  const { entries, cursor } = readNewUsage(transcript, before, since);
  const turnOf = ({ at }: UsageEntry) =>
    turns.find(({ fromAt, toAt }) => at >= fromAt && at <= (toAt ?? Number.POSITIVE_INFINITY));
  appendLedger(
    dir,
    entries.map((entry): LedgerEntry => {
      const turn = turnOf(entry);
      return turn === undefined ? entry : { ...entry, loop: turn.loopId };
    }),
  );
  saveLedgerCursor(dir, transcript, JSON.stringify(cursor));
  return turns.map((turn) => entries.filter((entry) => turnOf(entry) === turn).reduce(add, turn));
}

function add(turn: Span, entry: UsageEntry): Span {
  return {
    ...turn,
    inputTokens: turn.inputTokens + entry.inputTokens + entry.cacheReadTokens + entry.cacheWriteTokens,
    outputTokens: turn.outputTokens + entry.outputTokens,
    answers: turn.answers + 1,
  };
}
