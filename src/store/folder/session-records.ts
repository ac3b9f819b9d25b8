/**
 * `.loop/sessions/<id>.json`: what is known of a live conversation, for the processes that belong to it (its server,
 * its monitor, its hooks) and for whoever wants to know whether it is over. Written by these processes only, whole.
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
    // a file is there for everybody once it was written
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
  // lost in a power cut, it is lost together with the conversation
  writeAtomic(path, `${JSON.stringify(record)}\n`, false);
}

export function ensureSessions(dir: string): string {
  const folder = join(dir, "sessions");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isInside(dirname(dir), folder)) throw new Error(`${folder} leads out of the project`);
  return folder;
}

/** Is the conversation that a loop is bound to over? A runner that is not there any more always is. */
export function isSessionOver(dir: string, owner: string): boolean {
  const session = sessionOf(owner);
  const record = session === null ? null : readSessionRecord(dir, session);
  return record === null || record.state === "over" || !isAlive(record.client);
}

/** The conversation that has, or had last, this turn. */
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

/** Records of conversations that are long over, with what else was kept of them. */
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
