/**
 * What a conversation of Claude Code used (D7), from its transcript: one JSON object per line, only ever appended to.
 *
 * 1. Every answer of the model is there once per block of its content, with the same usage or a growing one, and once
 *    more in the transcript of each fork. Its id is the message's and the request's: all of those count once.
 * 2. Agents that the conversation started have files of their own beside it, `<session>/subagents/agent-*.jsonl`;
 *    older clients wrote them into the transcript itself, marked as `isSidechain`.
 * 3. Only what is behind the cursor is read. A last line without its end is left for the next time. A file that is
 *    another one, or shorter than it was, is read anew, which counts nothing twice.
 *
 * An answer has no price, so `costUsd` is not set. When the client ends it adds a line with the cost of the whole
 * conversation so far, the forked part included: `sessionCostUsd`. That also covers what the client asked models
 * beside the conversation, such as for a title, of which a transcript has nothing else.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { UsageEntry } from "../../../core/cost/ledger.ts";
import { appendLedger } from "../../../store/ledger/ledger.ts";
import { readLedgerCursor, saveLedgerCursor } from "../../../store/ledger/ledger-cursor.ts";
import { parseTranscriptLine, type TranscriptUsage } from "./usage-line.ts";
import { findStart, linesBehind } from "./usage-scan.ts";

export interface UsageCursor {
  /** What is older does not count. */
  readonly since: number | null;
  /** By name; the transcript itself is "". */
  readonly files: Readonly<Record<string, FileCursor>>;
}

interface FileCursor {
  readonly ino: string;
  readonly offset: number;
  readonly last: LastAnswer | null;
}

/** The newest answer, and how long the conversation was before it (null: not known) and after it, in tokens. */
interface LastAnswer {
  readonly id: string;
  readonly before: number | null;
  readonly after: number;
}

export interface NewUsage {
  readonly entries: readonly UsageEntry[];
  readonly cursor: UsageCursor;
  readonly sessionCostUsd: number | null;
}

/**
 * `since` is for the first call (no cursor): a long transcript is then read from about that time on. A transcript that
 * cannot be read has nothing new.
 */
export function readNewUsage(
  transcriptPath: string,
  cursor: UsageCursor | null,
  since: number | null = null,
): NewUsage {
  const from = cursor?.since ?? since;
  const files: Record<string, FileCursor> = { ...cursor?.files };
  const entries: UsageEntry[] = [];
  let sessionCostUsd: number | null = null;
  for (const [name, path] of filesOf(transcriptPath)) {
    const part = readFile(path, name !== "", files[name] ?? null, from);
    if (part === null) continue;
    files[name] = part.cursor;
    entries.push(...part.entries);
    sessionCostUsd = part.costUsd ?? sessionCostUsd;
  }
  return { entries, cursor: { since: from, files }, sessionCostUsd };
}

/**
 * Takes what is new over into the ledger, for this loop and story. What the conversation used before `since`, when the
 * loop began, is the session's alone, and not in the answer. The cursor is saved last: after a crash in between the
 * same is read again, and counts once. So do two hooks that run at once.
 */
export function recordUsage(
  dir: string,
  transcriptPath: string,
  owner: Pick<UsageEntry, "loop" | "story" | "iteration">,
  since: number | null = null,
): NewUsage {
  const before = parseUsageCursor(readLedgerCursor(dir, transcriptPath));
  const usage = readNewUsage(transcriptPath, before, since);
  const isOwn = ({ at }: UsageEntry) => since === null || at >= since;
  const own = usage.entries.filter(isOwn).map((entry) => ({ ...entry, ...owner }));
  appendLedger(dir, [...usage.entries.filter((entry) => !isOwn(entry)), ...own]);
  if (before === null || isFurther(before, usage.cursor))
    saveLedgerCursor(dir, transcriptPath, JSON.stringify(usage.cursor));
  return { ...usage, entries: own };
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

function isFurther(before: UsageCursor, after: UsageCursor): boolean {
  return Object.entries(after.files).some(([name, { offset }]) => before.files[name]?.offset !== offset);
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
    // most conversations start no agents
    return [];
  }
}

interface FileUsage {
  readonly entries: readonly UsageEntry[];
  readonly cursor: FileCursor;
  readonly costUsd: number | null;
}

function readFile(
  path: string,
  isAgents: boolean,
  cursor: FileCursor | null,
  since: number | null,
): FileUsage | null {
  const fd = openTranscript(path);
  if (fd === null) return null;
  try {
    const { ino, size } = fstatSync(fd, { bigint: true });
    const known = cursor !== null && cursor.ino === String(ino) && cursor.offset <= size ? cursor : null;
    const start = known?.offset ?? findStart(fd, Number(size), since);
    const answers: TranscriptUsage[] = [];
    let costUsd: number | null = null;
    let offset = start;
    for (const { text, end } of linesBehind(fd, start, Number(size))) {
      offset = end;
      const line = text === null ? null : parseTranscriptLine(text);
      if (line?.kind === "answer") answers.push(line);
      if (line?.kind === "cost") costUsd = line.costUsd;
    }
    const { entries, last } = entriesOf(answers, isAgents, known?.last ?? null);
    const wanted = entries.filter(({ at }) => since === null || at >= since);
    return { entries: wanted, cursor: { ino: String(ino), offset, last }, costUsd };
  } finally {
    closeSync(fd);
  }
}

/** Its path comes from a client's message: nothing that blocks, and no link in its place. */
function openTranscript(path: string): number | null {
  try {
    const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
    const fd = openSync(path, flags);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
  } catch {
    // not there yet, or not any more
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
    // another conversation than the rest of the file: how long it was before is not known
    if (isSidechain !== isAgents) return { ...entry, addedTokens: entry.outputTokens };
    const asked = entry.inputTokens + entry.cacheReadTokens + entry.cacheWriteTokens;
    const before = last?.id === entry.id ? last.before : (last?.after ?? null);
    last = { id: entry.id, before, after: asked + entry.outputTokens };
    const grown = before === null ? 0 : Math.max(0, asked - before);
    return { ...entry, addedTokens: grown + entry.outputTokens };
  });
  return { entries, last };
}
