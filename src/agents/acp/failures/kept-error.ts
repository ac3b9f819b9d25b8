/** Reads the kind of an error from the events of a session, for agents that only send words. */
import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod";
import { readEndOf } from "../../../system/files.ts";
import { lenient, Text } from "../../stream/stream-events.ts";
import type { Cause } from "./failure.ts";

/** The agent writes the event at about the time the turn ends. */
const TRIES = 10;
const PAUSE_MS = 50;
const TAIL_BYTES = 256 * 1024;

const Kept = z.object({
  type: z.literal("session.error"),
  data: z.object({
    message: z.string(),
    errorType: Text,
    statusCode: lenient(z.number().int()),
  }),
});

/** Finds the last error with these words; null: not found. Never rejects. */
export async function readKeptError(path: string, words: string): Promise<Cause | null> {
  for (let tries = 1; ; tries++) {
    const found = findError(readEnd(path), words);
    if (found !== null || tries === TRIES) return found;
    await pause(PAUSE_MS);
  }
}

function findError(lines: readonly string[], words: string): Cause | null {
  for (const line of lines.toReversed()) {
    const error = parseError(line);
    if (error !== null && error.message.trim() === words.trim())
      return { kind: error.errorType ?? null, status: error.statusCode ?? null };
  }
  return null;
}

function parseError(line: string): z.infer<typeof Kept>["data"] | null {
  // most lines are other events
  if (!line.includes("session.error")) return null;
  try {
    return Kept.safeParse(JSON.parse(line)).data?.data ?? null;
  } catch {
    return null;
  }
}

function readEnd(path: string): readonly string[] {
  try {
    return readEndOf(path, TAIL_BYTES).split("\n");
  } catch {
    return [];
  }
}
