/** What the person did in the middle of a turn, typed something or stopped it: from what the hooks told, and from the transcript. */
import type { SessionRecord } from "../../ports/sessions.ts";
import {
  hasQueued,
  isSomeoneQueued,
  readTranscript,
  transcriptLength,
  wasInterrupted,
} from "./usage/transcript.ts";

export function isSomeoneWaiting(record: SessionRecord): boolean {
  const lines = readTranscript(record.transcript, record.offset);
  // The client tells us at once, and writes it down some moments later.
  return isSomeoneQueued(lines, record.taken) || (record.isSomeoneWaiting && !hasQueued(lines));
}

/** Where a new prompt's part of the transcript begins: what was queued before it and still waits is not to be missed. */
export function offsetOf({ offset }: SessionRecord, transcript: string | null): number {
  return isSomeoneQueued(readTranscript(transcript, offset)) ? offset : transcriptLength(transcript);
}

/** Did the person stop the prompt that runs, or ran last? No hook tells. */
export function wasEscaped({ promptId, transcript, offset }: SessionRecord): boolean {
  return promptId !== null && wasInterrupted(readTranscript(transcript, offset), promptId);
}
