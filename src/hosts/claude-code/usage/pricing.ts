/**
 * What turns in the conversation used: tokens from the client's transcript, dollars from what it told its status line.
 * The client writes an answer down about a tenth of a second after the stop, so that a turn is priced after its end.
 */
import type { Usage } from "../../../core/base.ts";
import type { LedgerEntry, UsageEntry } from "../../../core/cost/ledger.ts";
import type { JobId } from "../../../core/goal/goal.ts";
import type { LoopId } from "../../../core/loop.ts";
import { requestGoal } from "../../../engine/goals/goals.ts";
import type { Store } from "../../../ports/store.ts";
import type { Span } from "../../../store/folder/session-records.ts";
import { appendLedger, publishLedger } from "../../../store/ledger/ledger.ts";
import { readLedgerCursor, saveLedgerCursor } from "../../../store/ledger/ledger-cursor.ts";
import type { Seat } from "../../conversation/seat.ts";
import { parseUsageCursor, readNewUsage } from "./usage.ts";

/** By then the client has written down what it had to say. */
export const WRITTEN_AFTER_MS = 400;

export interface Priced {
  readonly id: string;
  readonly loopId: string;
  readonly usage: Usage;
}

export interface Pricing {
  readonly priced: readonly Priced[];
  /** Those that are still to be priced. */
  readonly spans: readonly Span[];
}

export interface PricingParts {
  readonly dir: string;
  readonly seat: Seat;
  readonly store: Store;
  readonly now: () => number;
  /** What the conversation has cost so far, as the client says it. */
  readonly costUsd: () => number | null;
}

/** Prices the turns of a conversation whose time is over, in their goals and in the ledger. */
export async function priceConversation({ dir, seat, store, now, costUsd }: PricingParts): Promise<void> {
  const { transcript, spans } = seat.record;
  const pricing = priceTurns(dir, transcript, spans, costUsd(), now());
  const isChanged =
    pricing.spans.length !== spans.length || pricing.spans.some((span, at) => span !== spans[at]);
  if (isChanged) seat.update({ spans: pricing.spans });
  for (const { id, loopId, usage } of pricing.priced) {
    const loop = store.load(loopId as LoopId);
    const event = { type: "job.priced", jobId: id as JobId, usage } as const;
    if (loop?.kind === "goal") await requestGoal(store, loop, event, now());
  }
  if (pricing.priced.length > 0) publishLedger(dir, now(), () => {});
}

/** Takes what is new in the transcript into the ledger, and prices the turns whose time is over. */
export function priceTurns(
  dir: string,
  transcript: string | null,
  spans: readonly Span[],
  costUsd: number | null,
  now: number,
): Pricing {
  const counted = transcript === null ? spans : count(dir, transcript, spans, now);
  const isOver = ({ toAt }: Span) => toAt !== null && now - toAt >= WRITTEN_AFTER_MS;
  return {
    priced: counted.filter(isOver).map((span) => price(span, counted, costUsd)),
    spans: counted.filter((span) => !isOver(span)),
  };
}

function count(dir: string, transcript: string, spans: readonly Span[], now: number): readonly Span[] {
  const before = parseUsageCursor(readLedgerCursor(dir, transcript));
  // what was said before the first loop is not ours to count, however long it is
  const since = before === null ? (spans[0]?.fromAt ?? now) : null;
  const { entries, cursor } = readNewUsage(transcript, before, since);
  const ownerOf = ({ at }: UsageEntry) =>
    spans.find(({ fromAt, toAt }) => at >= fromAt && at <= (toAt ?? Number.POSITIVE_INFINITY));
  appendLedger(
    dir,
    entries.map((entry): LedgerEntry => {
      const span = ownerOf(entry);
      return span === undefined ? entry : { ...entry, loop: span.loopId };
    }),
  );
  saveLedgerCursor(dir, transcript, JSON.stringify(cursor));
  return spans.map((span) => entries.filter((entry) => ownerOf(entry) === span).reduce(add, span));
}

function add(span: Span, entry: UsageEntry): Span {
  return {
    ...span,
    inputTokens: span.inputTokens + entry.inputTokens + entry.cacheReadTokens + entry.cacheWriteTokens,
    outputTokens: span.outputTokens + entry.outputTokens,
    answers: span.answers + 1,
  };
}

/** Between two turns the client's own total says what one cost; after the last, what it says now. */
function price(span: Span, spans: readonly Span[], costUsd: number | null): Priced {
  const later = spans.find(({ fromAt }) => fromAt > span.fromAt);
  const after = later === undefined ? costUsd : later.costUsd;
  const isKnown = span.costUsd !== null && after !== null && after >= span.costUsd;
  const isCounted = span.answers > 0;
  return {
    id: span.id,
    loopId: span.loopId,
    usage: {
      costUsd: isKnown ? (after ?? 0) - (span.costUsd ?? 0) : null,
      inputTokens: isCounted ? span.inputTokens : null,
      outputTokens: isCounted ? span.outputTokens : null,
    },
  };
}
