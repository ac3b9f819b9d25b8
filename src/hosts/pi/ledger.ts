/** What a conversation of pi used, for the ledger of the project (D7). */
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
      // the moment alone may be that of another answer
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
