/** Whether the person has typed something that waits for a stop: from what the hooks told, and from the transcript. */
import type { SessionRecord } from "../../store/session-records.ts";
import { hasQueued, isSomeoneQueued, readTranscript, transcriptLength } from "./transcript.ts";

export function isSomeoneWaiting({ transcript, offset, isSomeoneWaiting }: SessionRecord): boolean {
  const lines = readTranscript(transcript, offset);
  // The client tells us at once, and writes it down some moments later.
  return isSomeoneQueued(lines) || (isSomeoneWaiting && !hasQueued(lines));
}

/** Where a new prompt's part of the transcript begins: what was queued before it and still waits is not to be missed. */
export function offsetOf({ offset }: SessionRecord, transcript: string | null): number {
  return isSomeoneQueued(readTranscript(transcript, offset)) ? offset : transcriptLength(transcript);
}
