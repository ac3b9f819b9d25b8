/**
 * How much of a client's transcript is in the ledger: `.loop/sessions/usage-<hash>.json`, one file per transcript. If a
 * file is lost, the transcript is read again.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { LoopError } from "../../errors.ts";
import { readSmall, writeAtomic } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import { cannotWrite } from "../folder/loop-dir.ts";

/** null: there is no readable cursor. */
export function readLedgerCursor(dir: string, transcriptPath: string): string | null {
  return isInside(dirname(dir), join(dir, "sessions")) ? readSmall(cursorPath(dir, transcriptPath)) : null;
}

export function saveLedgerCursor(dir: string, transcriptPath: string, text: string): void {
  const path = cursorPath(dir, transcriptPath);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw cannotWrite(dirname(path), error);
  }
  if (!isInside(dirname(dir), dirname(path)))
    throw new LoopError("surroundings", `${dirname(path)} leads out of the project.`);
  try {
    writeAtomic(path, `${text}\n`, false);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** A hash of the path, because the path comes from a client. */
function cursorPath(dir: string, transcriptPath: string): string {
  const hash = createHash("sha256").update(transcriptPath).digest("hex").slice(0, 16);
  return join(dir, "sessions", `usage-${hash}.json`);
}
