/** Writes the usage of a pi conversation to the project's ledger (D7). */
import type { LedgerEntry } from "../../core/cost/ledger.ts";
import { appendLedger, publishLedger } from "../../store/ledger/ledger.ts";
import { parseAnswers } from "./runs/run-end.ts";

export function keepAnswers(
  dir: string,
  session: string,
  loop: string | null,
  messages: readonly unknown[],
): void {
  const entries = parseAnswers(messages).map(
    ({ at, model, costUsd, ...tokens }, index): LedgerEntry => ({
      // two answers may have the same time
      kind: "usage",
      id: `${session}-${at}-${index}`,
      at,
      session,
      model,
      ...tokens,
      ...(costUsd === 0 ? {} : { costUsd }),
      ...(loop === null ? {} : { loop }),
    }),
  );
  if (entries.length === 0) return;
  appendLedger(dir, entries);
  publishLedger(dir, entries.at(-1)?.at ?? 0, () => {});
}
