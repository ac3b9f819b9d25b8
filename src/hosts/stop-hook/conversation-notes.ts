/**
 * `.loop/sessions/<id>.note`: facts about a conversation that one hook keeps for the next. If the file is lost, a claim
 * may be missed or a loop may pause, nothing worse.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { ensureSessions } from "../../store/folder/session-records.ts";
import { readSmall, writeAtomic } from "../../system/files.ts";
import { currentMask } from "../../system/secrets.ts";

const note = z.object({
  /** The hash of the last text that we sent: clients report it back as a prompt. */
  sent: z.string().nullable().catch(null),
  /** The agent's last message. */
  said: z.string().nullable().catch(null),
});

type Note = z.output<typeof note>;

/** Only the end of a message is kept, because a claim is at the end. */
const MOST_CHARACTERS = 200_000;

export function rememberSent(dir: string, session: string, text: string): void {
  write(dir, session, { sent: hash(text), said: null });
}

/** Is the prompt the text that we sent last? */
export function isSent(dir: string, session: string, prompt: string): boolean {
  return read(dir, session).sent === hash(prompt);
}

export function rememberSaid(dir: string, session: string, text: string): void {
  write(dir, session, { ...read(dir, session), said: currentMask().text(text).slice(-MOST_CHARACTERS) });
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

/** Clients trim the prompts that they report. */
function hash(text: string): string {
  return createHash("sha256").update(text.trim()).digest("hex");
}
