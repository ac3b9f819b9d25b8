/**
 * `.loop/sessions/<id>.json`: the record of a live conversation. Only the processes of the conversation (its server, its
 * monitor, its hooks) write it, always as a whole. Other processes read it to see whether the conversation is over.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSessionId, ownerOf, sessionOf } from "../../core/session.ts";
import type { SessionRecord, Sessions } from "../../ports/sessions.ts";
import { readIfThere, writeAtomic } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import { isAlive } from "../../system/process.ts";

export { isSessionId, ownerOf, sessionOf } from "../../core/session.ts";
export type { SeatEnd, SeatTurn, SessionRecord, Span } from "../../ports/sessions.ts";

const OLD_MS = 14 * 24 * 3600_000;

export function createSessions(dir: string): Sessions {
  return {
    read: (session) => readSessionRecord(dir, session),
    list: () => listSessionRecords(dir),
    stamp: (session) => stampOf(dir, session),
    write: (record) => writeSessionRecord(dir, record),
    // other processes see a file as soon as it is written
    flush: async () => {},
    isOver: (owner) => isSessionOver(dir, owner),
    deliveredTo: (turnId) => deliveredTo(dir, turnId),
    prune: (now) => pruneSessionRecords(dir, now),
  };
}

export function readSessionRecord(dir: string, session: string): SessionRecord | null {
  if (!isSessionId(session)) return null;
  try {
    const text = readIfThere(sessionPath(dir, session));
    const record = text === null ? null : (JSON.parse(text) as SessionRecord | null);
    const isWhole = record?.version === 1 && record.session === session && Array.isArray(record.spans);
    return isWhole && typeof record.client?.pid === "number" ? record : null;
  } catch {
    return null;
  }
}

export function writeSessionRecord(dir: string, record: SessionRecord): void {
  const path = sessionPath(dir, record.session);
  ensureSessions(dir);
  // no fsync: a power cut ends the conversation too
  writeAtomic(path, `${JSON.stringify(record)}\n`, false);
}

export function ensureSessions(dir: string): string {
  const folder = join(dir, "sessions");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isInside(dirname(dir), folder)) throw new Error(`${folder} leads out of the project`);
  return folder;
}

/** Is the conversation of this owner over? An owner that is not a conversation counts as over. */
export function isSessionOver(dir: string, owner: string): boolean {
  const session = sessionOf(owner);
  const record = session === null ? null : readSessionRecord(dir, session);
  return record === null || record.state === "over" || !isAlive(record.client);
}

/** The owner of the conversation that has, or last had, this turn. */
export function deliveredTo(dir: string, turnId: string): string | null {
  const record = listSessionRecords(dir).find(({ turn }) => turn?.id === turnId);
  return record === undefined ? null : ownerOf(record.session);
}

function listSessionRecords(dir: string): readonly SessionRecord[] {
  return namesIn(join(dir, "sessions"))
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => readSessionRecord(dir, name.slice(0, -".json".length)) ?? []);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Removes all files of conversations that ended long ago. */
export function pruneSessionRecords(dir: string, now: number): void {
  const folder = join(dir, "sessions");
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const { mtimeMs = now } = statSync(path, { throwIfNoEntry: false }) ?? {};
    const session = name.replace(/\.(?:json|cost)$/, "");
    const isOpen = session !== name && !isSessionOver(dir, ownerOf(session));
    if (now - mtimeMs > OLD_MS && !isOpen) rmSync(path, { force: true });
  }
}

function stampOf(dir: string, session: string): string | null {
  const stat = statSync(sessionPath(dir, session), { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino}.${stat.ctimeNs}`;
}

function sessionPath(dir: string, session: string): string {
  return join(dir, "sessions", `${session}.json`);
}
