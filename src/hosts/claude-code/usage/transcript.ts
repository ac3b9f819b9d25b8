/**
 * Reads from the client's transcript whether the person typed something or stopped the turn. Reads only the end of the
 * file, and trusts only structured fields.
 */
import { closeSync, constants, fstatSync, readSync } from "node:fs";
import type { SessionRecord } from "../../../ports/sessions.ts";
import { lookAt, NO_LINK, openPlain } from "../../../system/files.ts";
import { parseFields } from "../../conversation/fields.ts";

/** Almost always more than a turn writes between two reads. */
const MOST_BYTES = 1024 * 1024;

export function isSomeoneWaiting(record: SessionRecord): boolean {
  const lines = readTranscript(record.transcript, record.offset);
  // The hook reports a new prompt at once; the transcript has it some moments later.
  return isSomeoneQueued(lines, record.taken) || (record.isSomeoneWaiting && !hasQueued(lines));
}

/** The transcript offset where a new prompt begins. Prompts that still wait in the queue stay included. */
export function offsetOf({ offset }: SessionRecord, transcript: string | null): number {
  return isSomeoneQueued(readTranscript(transcript, offset)) ? offset : transcriptLength(transcript);
}

/** Did the person stop the current or last prompt? No hook reports it. */
export function wasEscaped({ promptId, transcript, offset }: SessionRecord): boolean {
  return promptId !== null && wasInterrupted(readTranscript(transcript, offset), promptId);
}

export function transcriptLength(path: string | null): number {
  return path === null ? 0 : lookAt(path).size;
}

/** The lines after `offset`, at most the newest megabyte. Incomplete lines are left out. */
export function readTranscript(path: string | null, offset: number): readonly TranscriptLine[] {
  if (path === null) return [];
  let text: string;
  try {
    text = readFrom(path, offset, MOST_BYTES);
  } catch {
    return [];
  }
  // most lines are long messages; the first or last line may be incomplete
  const lines = text.split("\n").filter((line) => INTERESTING.test(line));
  return lines.map(parseFields).filter((line) => line !== null) as TranscriptLine[];
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
 * Did the person type something that has not reached the agent yet? `taken`: this many prompts are known to have
 * started, even if the transcript does not show it yet.
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
    // removed from the middle: the prompt reached the agent between two tool calls
    else if (operation === "remove") waiting.splice(Math.max(0, waiting.indexOf(content)), 1);
  }
  waiting.splice(0, Math.max(0, taken - written.length));
  // the client also queues wake-ups from monitors
  return waiting.some((content) => !isNotification(content));
}

/** `content` is not a string for a pasted image. */
function isNotification(content: unknown): boolean {
  return typeof content === "string" && content.startsWith("<task-notification>");
}

/** Was any prompt queued, waiting or not? */
export function hasQueued(lines: readonly TranscriptLine[]): boolean {
  return lines.some(
    ({ type, operation, content }) =>
      type === "queue-operation" && operation === "enqueue" && !isNotification(content),
  );
}

/** Did the person stop the turn of this prompt? */
export function wasInterrupted(lines: readonly TranscriptLine[], promptId: string): boolean {
  return lines.some(
    (line) => line.type === "user" && line.promptId === promptId && saysInterrupted(line.message?.content),
  );
}

function saysInterrupted(content: unknown): boolean {
  if (!Array.isArray(content)) return false;
  return content.some(
    (part: { readonly type?: unknown; readonly text?: unknown } | null) =>
      // a quote by a tool or a person is never a separate part that starts with this text
      part?.type === "text" && String(part.text).startsWith("[Request interrupted by user"),
  );
}

/** The file after `offset`, at most its newest `most` bytes. */
export function readFrom(path: string, offset: number, most = Number.POSITIVE_INFINITY): string {
  const fd = openPlain(path, constants.O_RDONLY | NO_LINK);
  try {
    const { size } = fstatSync(fd);
    const from = Math.max(offset, size - most, 0);
    const bytes = Buffer.alloc(Math.max(0, size - from));
    const read = readSync(fd, bytes, 0, bytes.length, from);
    return bytes.toString("utf8", 0, read);
  } finally {
    closeSync(fd);
  }
}
