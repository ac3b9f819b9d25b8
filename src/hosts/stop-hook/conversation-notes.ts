/**
 * `.loop/sessions/<id>.note`: what is known of a conversation beside its record, from one hook to the next. Lost, it
 * costs no more than a claim that is not heard or a loop that pauses.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { ensureSessions } from "../../store/folder/session-records.ts";
import { readSmall, writeAtomic } from "../../system/files.ts";

const note = z.object({
  /** Of the text that went out with the last stop: clients announce it as a prompt. */
  sent: z.string().nullable().catch(null),
  /** What the agent said last. */
  said: z.string().nullable().catch(null),
});

type Note = z.output<typeof note>;

/** A message is kept up to here; a claim stands at its end. */
const MOST_CHARACTERS = 200_000;

export function rememberSent(dir: string, session: string, text: string): void {
  write(dir, session, { sent: hash(text), said: null });
}

/** Is the prompt the very text that was sent last? */
export function isSent(dir: string, session: string, prompt: string): boolean {
  return read(dir, session).sent === hash(prompt);
}

export function rememberSaid(dir: string, session: string, text: string): void {
  write(dir, session, { ...read(dir, session), said: text.slice(-MOST_CHARACTERS) });
}

export function lastSaid(dir: string, session: string): string | null {
  return read(dir, session).said;
}

function read(dir: string, session: string): Note {
  try {
    return note.parse(JSON.parse(readSmall(pathOf(dir, session)) ?? "{}"));
  } catch {
    return { sent: null, said: null };
  }
}

function write(dir: string, session: string, value: Note): void {
  ensureSessions(dir);
  writeAtomic(pathOf(dir, session), `${JSON.stringify(value)}\n`, false);
}

function pathOf(dir: string, session: string): string {
  return join(dir, "sessions", `${session}.note`);
}

/** Clients trim what they announce. */
function hash(text: string): string {
  return createHash("sha256").update(text.trim()).digest("hex");
}
