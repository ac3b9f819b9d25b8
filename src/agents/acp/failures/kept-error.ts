/** Reads the kind of an error from the events of a session, for agents that only send words. */
import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod";
import { readEndOf } from "../../../system/files.ts";
import { quietly } from "../../quietly.ts";
import { lenient, parseEvents, Text } from "../../stream/stream-events.ts";
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
    const found = findError(quietly(() => readEndOf(path, TAIL_BYTES)) ?? "", words);
    if (found !== null || tries === TRIES) return found;
    await pause(PAUSE_MS);
  }
}

function findError(text: string, words: string): Cause | null {
  // most lines are other events
  const lines = text.split("\n").filter((line) => line.includes("session.error"));
  const errors = parseEvents(Kept, lines.join("\n")).map(({ data }) => data);
  const error = errors.findLast(({ message }) => message.trim() === words.trim());
  return error === undefined ? null : { kind: error.errorType ?? null, status: error.statusCode ?? null };
}
