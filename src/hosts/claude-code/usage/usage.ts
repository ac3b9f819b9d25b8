/**
 * Reads the usage of a Claude Code conversation (D7) from its transcript: one JSON object per line, append-only.
 *
 * 1. The transcript repeats an answer for each content block, and each fork repeats it again. The message id plus the
 *    request id identify an answer, so it counts once.
 * 2. Sub-agents have their own files, `<session>/subagents/agent-*.jsonl`. Older clients wrote them into the transcript
 *    itself, marked `isSidechain`.
 * 3. Only the part after the cursor is read. An incomplete last line waits for the next read. A replaced or shortened
 *    file is read from the start; nothing counts twice.
 *
 * Answers have no price, so `costUsd` is not set.
 */
import { closeSync, constants, fstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { UsageEntry } from "../../../core/cost/ledger.ts";
import { NO_LINK, openPlain } from "../../../system/files.ts";
import { parseTranscriptLine, type TranscriptUsage } from "./usage-line.ts";
import { findStart, linesBehind } from "./usage-scan.ts";

interface UsageCursor {
  /** Older entries do not count. */
  readonly since: number | null;
  /** By file name; the transcript itself is "". */
  readonly files: Readonly<Record<string, FileCursor>>;
}

interface FileCursor {
  readonly ino: string;
  readonly offset: number;
  readonly last: LastAnswer | null;
}

/** The newest answer, and the length of the conversation in tokens before it (null: unknown) and after it. */
interface LastAnswer {
  readonly id: string;
  readonly before: number | null;
  readonly after: number;
}

interface NewUsage {
  readonly entries: readonly UsageEntry[];
  readonly cursor: UsageCursor;
}

/** `since` is for the first call without a cursor: reads from about that time. An unreadable transcript has no entries. */
export function readNewUsage(
  transcriptPath: string,
  cursor: UsageCursor | null,
  since: number | null = null,
): NewUsage {
  const from = cursor?.since ?? since;
  const files: Record<string, FileCursor> = { ...cursor?.files };
  const entries: UsageEntry[] = [];
  for (const [name, path] of filesOf(transcriptPath)) {
    const part = readFile(path, name !== "", files[name] ?? null, from);
    if (part === null) continue;
    files[name] = part.cursor;
    entries.push(...part.entries);
  }
  return { entries, cursor: { since: from, files } };
}

export function parseUsageCursor(text: string | null): UsageCursor | null {
  try {
    const { since, files } = JSON.parse(text ?? "null") as UsageCursor;
    const isSound = (since === null || typeof since === "number") && Object.values(files).every(isFileCursor);
    return isSound ? { since, files } : null;
  } catch {
    return null;
  }
}

function isFileCursor({ ino, offset, last }: FileCursor): boolean {
  const isLast =
    last === null || (typeof last.after === "number" && (last.before === null || last.before >= 0));
  return typeof ino === "string" && Number.isSafeInteger(offset) && offset >= 0 && isLast;
}

function filesOf(transcriptPath: string): [name: string, path: string][] {
  if (!transcriptPath.endsWith(".jsonl")) return [];
  const folder = join(transcriptPath.slice(0, -".jsonl".length), "subagents");
  return [
    ["", transcriptPath],
    ...namesIn(folder).map((name): [string, string] => [name, join(folder, name)]),
  ];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^agent-[\w-]+\.jsonl$/.test(name));
  } catch {
    // most conversations have no sub-agents
    return [];
  }
}

function readFile(path: string, isAgents: boolean, cursor: FileCursor | null, since: number | null) {
  const fd = openTranscript(path);
  if (fd === null) return null;
  try {
    const { ino, size } = fstatSync(fd, { bigint: true });
    const known = cursor !== null && cursor.ino === String(ino) && cursor.offset <= size ? cursor : null;
    const start = known?.offset ?? findStart(fd, Number(size), since);
    const answers: TranscriptUsage[] = [];
    let offset = start;
    for (const { text, end } of linesBehind(fd, start, Number(size))) {
      offset = end;
      const line = text === null ? null : parseTranscriptLine(text);
      if (line !== null) answers.push(line);
    }
    const { entries, last } = entriesOf(answers, isAgents, known?.last ?? null);
    const wanted = entries.filter(({ at }) => since === null || at >= since);
    return { entries: wanted, cursor: { ino: String(ino), offset, last } };
  } finally {
    closeSync(fd);
  }
}

/** The path comes from the client: open no device that blocks, and follow no link. */
function openTranscript(path: string): number | null {
  try {
    return openPlain(path, constants.O_RDONLY | NO_LINK);
  } catch {
    // the file does not exist now
  }
  return null;
}

function entriesOf(
  lines: readonly TranscriptUsage[],
  isAgents: boolean,
  known: LastAnswer | null,
): { readonly entries: readonly UsageEntry[]; readonly last: LastAnswer | null } {
  const answers = new Map<string, TranscriptUsage>();
  for (const line of lines) {
    const at = answers.get(line.entry.id)?.entry.at ?? line.entry.at;
    answers.set(line.entry.id, { ...line, entry: { ...line.entry, at } });
  }
  let last = known;
  const entries = [...answers.values()].map(({ entry, isSidechain }) => {
    // a different conversation from the rest of the file: its earlier length is unknown
    if (isSidechain !== isAgents) return { ...entry, addedTokens: entry.outputTokens };
    const asked = entry.inputTokens + entry.cacheReadTokens + entry.cacheWriteTokens;
    const before = last?.id === entry.id ? last.before : (last?.after ?? null);
    last = { id: entry.id, before, after: asked + entry.outputTokens };
    const grown = before === null ? 0 : Math.max(0, asked - before);
    return { ...entry, addedTokens: grown + entry.outputTokens };
  });
  return { entries, last };
}
