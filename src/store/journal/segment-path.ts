/** Where a segment of the journal is. A file of its own: the fast path of `loop list` asks for nothing else. */
import { join } from "node:path";

export function segmentPath(dir: string, generation: number): string {
  return join(dir, generation === 1 ? "journal.jsonl" : `journal.${generation}.jsonl`);
}
