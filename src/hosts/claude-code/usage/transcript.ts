/**
 * The client's record of the conversation, as far as a stop needs it: is somebody waiting, was the turn interrupted?
 * Only its end is read, however long it is, and only structured fields count.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

/** More than a turn writes between two looks in all but odd cases. */
const MOST_BYTES = 1024 * 1024;

export function transcriptLength(path: string | null): number {
  if (path === null) return 0;
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Lines from `offset` on, the newest megabyte of them; a line that is not whole is left out. */
export function readTranscript(path: string | null, offset: number): readonly TranscriptLine[] {
  if (path === null) return [];
  let text: string;
  try {
    text = readFrom(path, offset);
  } catch {
    return [];
  }
  const lines: TranscriptLine[] = [];
  for (const line of text.split("\n")) {
    // most lines are messages, and long
    if (!INTERESTING.test(line)) continue;
    try {
      lines.push(JSON.parse(line) as TranscriptLine);
    } catch {
      // the first or the last one, cut
    }
  }
  return lines;
}

const INTERESTING = /"type":"queue-operation"|\[Request interrupted by user/;

export interface TranscriptLine {
  readonly type?: string;
  readonly operation?: string;
  readonly content?: unknown;
  readonly promptId?: string;
  readonly interruptedMessageId?: string;
  readonly message?: { readonly role?: string; readonly content?: unknown };
}

/**
 * Did the person type something that has not reached the agent yet? `taken`: so much is known to have had its turn,
 * though the line that says so may still be to come.
 */
export function isSomeoneQueued(lines: readonly TranscriptLine[], taken = 0): boolean {
  const written = lines.filter(
    ({ type, operation }) => type === "queue-operation" && operation === "dequeue",
  );
  let waiting: unknown[] = [];
  for (const { type, operation, content } of lines) {
    if (type !== "queue-operation") continue;
    if (operation === "enqueue") waiting.push(content);
    else if (operation === "popAll") waiting = [];
    else if (operation === "dequeue") waiting.shift();
    // taken out of the middle: it reached the agent between two calls of tools
    else if (operation === "remove") waiting.splice(Math.max(0, waiting.indexOf(content)), 1);
  }
  waiting.splice(0, Math.max(0, taken - written.length));
  // the client queues wake-ups of monitors in the same way
  return waiting.some((content) => !isNotification(content));
}

/** A picture that was pasted is no text. */
function isNotification(content: unknown): boolean {
  return typeof content === "string" && content.startsWith("<task-notification>");
}

/** Has anything been queued at all, waiting or not? */
export function hasQueued(lines: readonly TranscriptLine[]): boolean {
  return lines.some(
    ({ type, operation, content }) =>
      type === "queue-operation" && operation === "enqueue" && !isNotification(content),
  );
}

/** Was the turn of this prompt stopped by the person? */
export function wasInterrupted(lines: readonly TranscriptLine[], promptId: string): boolean {
  return lines.some(
    (line) => line.type === "user" && line.promptId === promptId && saysInterrupted(line.message?.content),
  );
}

function saysInterrupted(content: unknown): boolean {
  if (!Array.isArray(content)) return false;
  return content.some(
    (part: { readonly type?: unknown; readonly text?: unknown } | null) =>
      // what a tool or a person quotes is never a part of its own that begins so
      part?.type === "text" && String(part.text).startsWith("[Request interrupted by user"),
  );
}

function readFrom(path: string, offset: number): string {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    const from = Math.max(offset, size - MOST_BYTES, 0);
    const bytes = Buffer.alloc(Math.max(0, size - from));
    const read = readSync(fd, bytes, 0, bytes.length, from);
    return bytes.toString("utf8", 0, read);
  } finally {
    closeSync(fd);
  }
}
