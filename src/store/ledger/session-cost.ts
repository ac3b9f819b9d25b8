/**
 * `.loop/sessions/<session id>.cost`: the cost of a conversation so far. The client reports it only to the status line
 * and not to hooks, so turns in a conversation get their price from this file.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isSessionId } from "../../core/session.ts";
import { readSmallFile, writeAtomic } from "../../system/files.ts";
import { isAmount } from "./ledger-line.ts";

const MAX_BYTES = 64;

/** Does nothing when `.loop` has no folder for sessions. */
export function keepSessionCost(dir: string, session: string, costUsd: number): void {
  const path = costPath(dir, session);
  if (path === null || !isAmount(costUsd)) return;
  const text = `${costUsd}\n`;
  if (readSmallFile(path, MAX_BYTES) !== text) writeAtomic(path, text, false);
}

/** In US dollars since the conversation began; null: unknown. */
export function readSessionCost(dir: string, session: string): number | null {
  const path = costPath(dir, session);
  const text = path === null ? "" : (readSmallFile(path, MAX_BYTES) ?? "").trim();
  const costUsd = text === "" ? Number.NaN : Number(text);
  return isAmount(costUsd) ? costUsd : null;
}

/** null: the id is invalid, or there is no folder for sessions. Does not follow a link. */
function costPath(dir: string, session: string): string | null {
  if (!isSessionId(session)) return null;
  const folder = join(dir, "sessions");
  const isFolder = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? join(folder, `${session}.cost`) : null;
}
