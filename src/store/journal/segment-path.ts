/** The path of a segment of the journal. A separate file, because the fast path of `loop list` loads nothing else. */
import { join } from "node:path";

export function segmentPath(dir: string, generation: number): string {
  return join(dir, generation === 1 ? "journal.jsonl" : `journal.${generation}.jsonl`);
}
