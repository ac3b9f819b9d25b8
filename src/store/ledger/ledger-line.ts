/** One line of the ledger. What is torn, merged with another or nonsense is no entry and counts for nothing. */
import type { LedgerEntry } from "../../core/cost/ledger.ts";

/** Ids and names come from clients and tools; a line stays small whatever they send. */
const MAX_NAME = 256;

export function encodeLedgerEntry(entry: LedgerEntry): string {
  const fits = (_: string, value: unknown) =>
    typeof value === "string" && value.length > MAX_NAME ? value.slice(0, MAX_NAME) : value;
  const line = JSON.stringify(entry, fits);
  if (decodeLedgerEntry(line) === null) throw new TypeError(`not an entry of the ledger: ${line}`);
  return `${line}\n`;
}

/** null for a line that is no entry. */
export function decodeLedgerEntry(line: string): LedgerEntry | null {
  let entry: Partial<Record<string, unknown>> | null;
  try {
    entry = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof entry !== "object" || entry === null || !hasOwner(entry)) return null;
  const isSound = entry.kind === "usage" ? isUsage(entry) : entry.kind === "tool" && isTool(entry);
  return isSound ? (entry as unknown as LedgerEntry) : null;
}

type Fields = Partial<Record<string, unknown>>;

function hasOwner({ id, at, session, loop, story }: Fields): boolean {
  return (
    typeof id === "string" && id !== "" && isAmount(at) && typeof session === "string" && isName(loop, story)
  );
}

function isUsage(entry: Fields): boolean {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = entry;
  return (
    typeof entry.model === "string" &&
    [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens].every(isAmount) &&
    [entry.iteration, entry.addedTokens, entry.costUsd].every((x) => x === undefined || isAmount(x))
  );
}

function isTool({ tool, ok, ms }: Fields): boolean {
  return typeof tool === "string" && typeof ok === "boolean" && (ms === undefined || isAmount(ms));
}

function isName(...values: unknown[]): boolean {
  return values.every((value) => value === undefined || typeof value === "string");
}

function isAmount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
