/** The totals of a ledger, of all entries or of one owner. */
import { type LedgerCell, type LedgerFold, NOTHING_USED, type Totals } from "../../src/core/cost/ledger.ts";

type Owner = Partial<Pick<LedgerCell, "session" | "loop" | "story">>;

export function totalsOf({ cells }: LedgerFold, owner: Owner = {}): Totals {
  const isOwned = (cell: LedgerCell) =>
    Object.entries(owner).every(([key, value]) => cell[key as keyof Owner] === value);
  const keys = Object.keys(NOTHING_USED) as (keyof Totals)[];
  const sums = keys.map((key) => {
    const found = cells.filter(isOwned).flatMap(({ totals }) => totals[key] ?? []);
    return [key, found.length === 0 ? NOTHING_USED[key] : found.reduce((sum, each) => sum + each, 0)];
  });
  return Object.fromEntries(sums) as Totals;
}
