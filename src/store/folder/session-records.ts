/**
 * `.loop/sessions/<id>.json`: what is known of a live conversation, for the processes that belong to it (its server,
 * its monitor, its hooks) and for whoever wants to know whether it is over. Written by these processes only, whole.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProcessRef, Usage } from "../../core/base.ts";
import type { Failure } from "../../core/goal/goal.ts";
import { readIfThere, writeAtomic } from "../../system/files.ts";
import { isInside } from "../../system/inside.ts";
import { isAlive } from "../../system/process.ts";

/** Of clients that tell it at once. */
interface Used {
  readonly usage?: Usage;
  readonly edits?: Readonly<Record<string, number>>;
}

/** How a turn in a conversation ended. */
export type SeatEnd =
  | ({ readonly kind: "ok"; readonly answer: string; readonly toolCalls: number } & Used)
  | ({ readonly kind: "failed"; readonly answer: string; readonly failure: Failure } & Used)
  /** The person stopped it, or the conversation is over. */
  | { readonly kind: "interrupted"; readonly reason: string };

/** The turn of ours that the conversation has. */
export interface SeatTurn {
  /** The fire or the job, and its loop. */
  readonly id: string;
  readonly loopId: string;
  readonly token: number;
  readonly deliveredAt: number;
  /** The client's name for the prompt that it runs under. */
  readonly promptId: string;
  readonly toolCalls: number;
  readonly end: SeatEnd | null;
}

/** The time of a turn of ours, until what it used is known: the client writes that down some moments later. */
export interface Span {
  readonly id: string;
  readonly loopId: string;
  readonly fromAt: number;
  /** null: it is under way. */
  readonly toAt: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly answers: number;
  /** What the client said that the conversation had cost before it; null: it does not say. */
  readonly costUsd: number | null;
}

export interface SessionRecord {
  readonly version: 1;
  readonly session: string;
  readonly client: ProcessRef;
  readonly transcript: string | null;
  readonly state: "busy" | "idle" | "over";
  /** The prompt that runs, or ran last. */
  readonly promptId: string | null;
  /** The person typed something that the agent has not seen yet. */
  readonly isSomeoneWaiting: boolean;
  /** Of what was queued since `offset`, how much has had its turn, whether or not the client has written that down. */
  readonly taken: number;
  /** Times in a row that a stop was answered with more work, without a call of a tool in between. */
  readonly blocks: number;
  readonly turn: SeatTurn | null;
  readonly spans: readonly Span[];
  /** Stands before the next turn of a goal: a test failed on the way (D10). */
  readonly directive: string | null;
  /** How long the transcript was when the prompt came. */
  readonly offset: number;
  /** What the person was told last, so that it is said once. */
  readonly said: string | null;
}

/** What a client may call a session, as part of a file's name. */
const SAFE = /^[A-Za-z0-9-]{1,64}$/;
const OLD_MS = 14 * 24 * 3600_000;
/** How owners and loops name a conversation. */
const PREFIX = "session:";

export function ownerOf(session: string): string {
  return `${PREFIX}${session}`;
}

/** null: not a conversation's. */
export function sessionOf(owner: string | null): string | null {
  return owner?.startsWith(PREFIX) ? owner.slice(PREFIX.length) : null;
}

/** An empty name, or one that could lead elsewhere, binds to nothing. */
export function isSessionId(text: string): boolean {
  return SAFE.test(text);
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
  for (const name of namesIn(join(dir, "sessions"))) {
    if (!name.endsWith(".json")) continue;
    const record = readSessionRecord(dir, name.slice(0, -".json".length));
    if (record?.turn?.id === turnId) return ownerOf(record.session);
  }
  return null;
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

function sessionPath(dir: string, session: string): string {
  return join(dir, "sessions", `${session}.json`);
}
