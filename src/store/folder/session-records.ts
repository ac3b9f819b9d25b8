/**
 * `.loop/sessions/<id>.json`: the record of a live conversation. Only the processes of the conversation (its server, its
 * monitor, its hooks) write it, always as a whole. Other processes read it to see whether the conversation is over.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSessionId, ownerOf, sessionOf } from "../../core/session.ts";
import type { SessionRecord, Sessions } from "../../ports/sessions.ts";
import { orNull, readIfThere, writeAtomic } from "../../system/files.ts";
import { makeInside } from "../../system/inside.ts";
import { isAlive } from "../../system/process.ts";

const OLD_MS = 14 * 24 * 3600_000;

export function createSessions(dir: string): Sessions {
  const folder = join(dir, "sessions");
  const pathOf = (session: string) => join(folder, `${session}.json`);
  const names = () => orNull(() => readdirSync(folder)) ?? [];

  function read(session: string): SessionRecord | null {
    return isSessionId(session) ? orNull(() => parseRecord(readIfThere(pathOf(session)), session)) : null;
  }

  function list(): readonly SessionRecord[] {
    const records = names().filter((name) => name.endsWith(".json"));
    return records.flatMap((name) => read(name.slice(0, -".json".length)) ?? []);
  }

  /** An owner that is not a conversation counts as over. */
  function isOver(owner: string): boolean {
    const record = read(sessionOf(owner) ?? "");
    return record === null || record.state === "over" || !isAlive(record.client);
  }

  return {
    read,
    list,
    isOver,
    stamp(session) {
      const stat = statSync(pathOf(session), { bigint: true, throwIfNoEntry: false });
      return stat === undefined ? null : `${stat.ino}.${stat.ctimeNs}`;
    },
    write(record) {
      ensureSessions(dir);
      // no fsync: a power cut ends the conversation too
      writeAtomic(pathOf(record.session), `${JSON.stringify(record)}\n`, false);
    },
    // other processes see a file as soon as it is written
    flush: async () => {},
    deliveredTo(turnId) {
      const record = list().find(({ turn }) => turn?.id === turnId);
      return record === undefined ? null : ownerOf(record.session);
    },
    /** Removes all files of the conversations, not only the records. */
    prune(now) {
      for (const name of names()) {
        const path = join(folder, name);
        const { mtimeMs = now } = statSync(path, { throwIfNoEntry: false }) ?? {};
        const session = name.replace(/\.(?:json|cost)$/, "");
        const isOpen = session !== name && !isOver(ownerOf(session));
        if (now - mtimeMs > OLD_MS && !isOpen) rmSync(path, { force: true });
      }
    },
  };
}

/** null: the text is not the record of this conversation. */
function parseRecord(text: string | null, session: string): SessionRecord | null {
  const record = JSON.parse(text ?? "null") as SessionRecord | null;
  const isWhole = record?.version === 1 && record.session === session && Array.isArray(record.spans);
  return isWhole && typeof record.client?.pid === "number" && hasFields(record) ? record : null;
}

/** Checks the fields that are shown and followed, because anybody can write the file. Old records lack some. */
function hasFields({
  state,
  client,
  turn,
  spans,
  transcript,
  promptId,
  directive,
  said,
}: SessionRecord): boolean {
  const texts: readonly unknown[] = [client.start, transcript, promptId, directive, said];
  const named: readonly unknown[] = [...spans, turn].flatMap((part) =>
    part === null || part === undefined ? [] : [part.id, part.loopId],
  );
  return (
    ["busy", "idle", "over"].includes(state) &&
    texts.every((text) => text === null || text === undefined || typeof text === "string") &&
    spans.every((span) => typeof span === "object" && span !== null) &&
    named.every((name) => typeof name === "string")
  );
}

export function ensureSessions(dir: string): string {
  return makeInside(dirname(dir), join(dir, "sessions"));
}
