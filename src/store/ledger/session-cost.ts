/**
 * `.loop/sessions/<session id>.cost`: what a conversation has cost so far, as its client told the status line. Hooks
 * are not told, so this is how turns in a conversation get a price.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isSessionId } from "../../core/session.ts";
import { writeAtomic } from "../../system/files.ts";
import { readSmallFile } from "../../system/small-file.ts";

const MAX_BYTES = 64;

/** Keeps it for the engine, where conversations are kept at all. */
export function keepSessionCost(dir: string, session: string, costUsd: number): void {
  const path = costPath(dir, session);
  if (path === null || !isCost(costUsd)) return;
  const text = `${costUsd}\n`;
  if (readSmallFile(path, MAX_BYTES) !== text) writeAtomic(path, text, false);
}

/** In dollars since the conversation began; null: nobody told. */
export function readSessionCost(dir: string, session: string): number | null {
  const path = costPath(dir, session);
  const text = path === null ? "" : (readSmallFile(path, MAX_BYTES) ?? "").trim();
  const costUsd = text === "" ? Number.NaN : Number(text);
  return isCost(costUsd) ? costUsd : null;
}

/** null: no such conversation can be kept here. A link in place of the folder is not followed. */
function costPath(dir: string, session: string): string | null {
  if (!isSessionId(session)) return null;
  const folder = join(dir, "sessions");
  const isFolder = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? join(folder, `${session}.cost`) : null;
}

function isCost(costUsd: number): boolean {
  return Number.isFinite(costUsd) && costUsd >= 0;
}
