/** The path of a segment. A separate file, because the fast path of `loop list` loads nothing else of the journal. */
import { join } from "node:path";

export function segmentPath(dir: string, number: number, name: "journal" | "ledger" = "journal"): string {
  return join(dir, number === 1 ? `${name}.jsonl` : `${name}.${number}.jsonl`);
}
