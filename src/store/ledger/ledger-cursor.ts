/**
 * How much of a client's transcript is in the ledger: `.loop/sessions/usage-<hash>.json`, one file per transcript. If a
 * file is lost, the transcript is read again.
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { readSmall, writeAtomic } from "../../system/files.ts";
import { isInside, makeInside } from "../../system/inside.ts";
import { whileWriting } from "../folder/loop-dir.ts";

/** null: there is no readable cursor. */
export function readLedgerCursor(dir: string, transcriptPath: string): string | null {
  return isInside(dirname(dir), join(dir, "sessions")) ? readSmall(cursorPath(dir, transcriptPath)) : null;
}

export function saveLedgerCursor(dir: string, transcriptPath: string, text: string): void {
  const path = cursorPath(dir, transcriptPath);
  whileWriting(path, () => {
    makeInside(dirname(dir), dirname(path));
    writeAtomic(path, `${text}\n`, false);
  });
}

/** A hash of the path, because the path comes from a client. */
function cursorPath(dir: string, transcriptPath: string): string {
  const hash = createHash("sha256").update(transcriptPath).digest("hex").slice(0, 16);
  return join(dir, "sessions", `usage-${hash}.json`);
}
