/** One line of the ledger. A torn, merged or invalid line is ignored. */
import type { LedgerEntry } from "../../core/cost/ledger.ts";
import { orNull } from "../../system/files.ts";

/** Ids and names come from clients and tools, so their length is limited. */
const MAX_NAME = 256;

export function encodeLedgerEntry(entry: LedgerEntry): string {
  const fits = (_: string, value: unknown) =>
    typeof value === "string" && value.length > MAX_NAME ? value.slice(0, MAX_NAME) : value;
  const line = JSON.stringify(entry, fits);
  if (decodeLedgerEntry(line) === null) throw new TypeError(`not an entry of the ledger: ${line}`);
  return `${line}\n`;
}

/** null: the line is not an entry. */
export function decodeLedgerEntry(line: string): LedgerEntry | null {
  const entry = orNull(() => JSON.parse(line) as Fields | null);
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

/** A finite number that is not negative. */
export function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
