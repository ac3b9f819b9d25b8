/** Tokens and dollars of turns, from the client's transcript. The client may write it after the stop, so pricing waits. */
import type { Usage } from "../../../core/base.ts";
import type { JobId } from "../../../core/goal/goal.ts";
import type { LoopId } from "../../../core/loop.ts";
import { requestGoal } from "../../../engine/goals/goals.ts";
import type { Span } from "../../../ports/sessions.ts";
import type { Store } from "../../../ports/store.ts";
import { publishLedger } from "../../../store/ledger/ledger.ts";
import type { OpenSeat } from "../open-seat.ts";
import type { ClientRecord } from "./hook-client.ts";

/** The client has completed its transcript by then. */
export const WRITTEN_AFTER_MS = 400;

/** Prices the turns that have ended, in their goals and in the ledger. */
export async function priceTurns({ dir, seat, store, now }: OpenSeat, record: ClientRecord): Promise<void> {
  const { transcript, spans } = seat.record;
  const [at, costUsd] = [now(), record.costUsd()];
  const counted = transcript === null ? spans : record.countUsage(transcript, spans, at);
  const isOver = ({ toAt }: Span) => toAt !== null && at - toAt >= WRITTEN_AFTER_MS;
  const left = counted.filter((span) => !isOver(span));
  const isChanged = left.length !== spans.length || left.some((span, index) => span !== spans[index]);
  if (isChanged) seat.update({ spans: left });
  const over = counted.filter(isOver);
  for (const span of over) await keepPrice(store, span, usageOf(span, counted, costUsd), now());
  if (over.length > 0) publishLedger(dir, now(), () => {});
}

/** Stores the usage of an ended turn. Tasks have no budget. */
export async function keepPrice(
  store: Store,
  { id, loopId }: Pick<Span, "id" | "loopId">,
  usage: Usage,
  now: number,
): Promise<void> {
  const loop = store.load(loopId as LoopId);
  if (loop?.kind === "goal")
    await requestGoal(store, loop, { type: "job.priced", jobId: id as JobId, usage }, now);
}

/** The cost of a turn is the difference between the client's total at its start and at the next turn, or now. */
function usageOf(span: Span, spans: readonly Span[], costUsd: number | null): Usage {
  const later = spans.find(({ fromAt }) => fromAt > span.fromAt);
  const after = later === undefined ? costUsd : later.costUsd;
  const isKnown = span.costUsd !== null && after !== null && after >= span.costUsd;
  const isCounted = span.answers > 0;
  return {
    costUsd: isKnown ? (after ?? 0) - (span.costUsd ?? 0) : null,
    inputTokens: isCounted ? span.inputTokens : null,
    outputTokens: isCounted ? span.outputTokens : null,
  };
}
