/** What a turn in the conversation used: tokens from the transcript, dollars from what the client told its status line. */
import { dirname } from "node:path";
import type { Usage } from "../../core/base.ts";
import { readSessionCost } from "../../store/session-cost.ts";
import type { SeatTurn } from "../../store/session-records.ts";
import { recordUsage } from "./usage.ts";

/** Takes what is new into the ledger as well. null: nothing is known. */
export function turnUsage(
  dir: string,
  session: string,
  transcript: string | null,
  turn: SeatTurn | null,
): Usage | null {
  if (transcript === null || dirname(transcript) === transcript) return null;
  const owner = turn === null ? {} : { loop: turn.loopId };
  const { entries } = recordUsage(dir, transcript, owner, turn?.deliveredAt ?? null);
  if (turn === null) return null;
  const costUsd = costSince(readSessionCost(dir, session), turn.costUsd);
  if (entries.length === 0)
    return costUsd === null ? null : { costUsd, inputTokens: null, outputTokens: null };
  const sum = (of: (entry: (typeof entries)[number]) => number) =>
    entries.reduce((total, entry) => total + of(entry), 0);
  return {
    costUsd,
    inputTokens: sum((entry) => entry.inputTokens + entry.cacheReadTokens + entry.cacheWriteTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
  };
}

function costSince(now: number | null, before: number | null): number | null {
  return now === null || before === null ? null : Math.max(0, now - before);
}
