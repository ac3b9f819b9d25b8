/** History, conversations and activity of the memory store. */
import { ownerOf, sessionOf } from "../../core/session.ts";
import type { TurnActivity, TurnName } from "../../ports/activity.ts";
import type { HistoryEntry, LoopHistory } from "../../ports/history.ts";
import type { Sessions } from "../../ports/sessions.ts";
import { entryOf, loopsIn, pageOf, receiptsOf } from "../journal/history-page.ts";
import type { MemoryJournal } from "./memory-journal.ts";

export function createMemoryHistory(journal: MemoryJournal): LoopHistory {
  function* behind(position: number): Generator<HistoryEntry> {
    for (const { line, end } of journal.acceptedAt())
      if (end > position && line.type === "loop") yield entryOf(line, String(end));
  }
  const everyLoop = async () => loopsIn([...journal.acceptedAt()].map(({ line }) => line));
  return {
    everyLoop,
    end: async () => String(journal.length),
    receipts: async (query = {}) => receiptsOf(await everyLoop(), query),
    async read(query = {}) {
      const { after = String(journal.start) } = query;
      const position = /^\d+$/.test(after) ? Number(after) : Number.NaN;
      if (!(position >= journal.start && position <= journal.length)) return { kind: "too-old" };
      return pageOf(behind(position), query, () => String(journal.length));
    },
  };
}

const OLD_MS = 14 * 24 * 3600_000;

/** `isRunning`: does the process with this id still run? */
export function createMemorySessions(
  journal: MemoryJournal,
  now: () => number,
  isRunning: (pid: number) => boolean,
): Sessions {
  const { sessions } = journal;
  const isOver = (owner: string): boolean => {
    const record = sessions.get(sessionOf(owner) ?? "")?.record;
    return record === undefined || record.state === "over" || !isRunning(record.client.pid);
  };
  return {
    isOver,
    read: (session) => sessions.get(session)?.record ?? null,
    list: () => [...sessions.values()].map(({ record }) => record),
    stamp(session) {
      const known = sessions.get(session);
      return known === undefined ? null : String(known.stamp);
    },
    write(record) {
      const stamp = (sessions.get(record.session)?.stamp ?? 0) + 1;
      sessions.set(record.session, { record: structuredClone(record), stamp, at: now() });
    },
    flush: async () => {},
    deliveredTo(turnId) {
      const found = [...sessions.values()].find(({ record }) => record.turn?.id === turnId);
      return found === undefined ? null : ownerOf(found.record.session);
    },
    prune(until) {
      for (const [session, { at }] of sessions)
        if (until - at > OLD_MS && isOver(ownerOf(session))) sessions.delete(session);
    },
  };
}

export function createMemoryActivity(journal: MemoryJournal): TurnActivity {
  const keyOf = ({ loopId, turnId }: TurnName) => `${loopId} ${turnId}`;
  return {
    append(turn, events) {
      const key = keyOf(turn);
      journal.activity.set(key, [...(journal.activity.get(key) ?? []), ...structuredClone(events)]);
    },
    async read(turn, { after = "0", limit = Number.POSITIVE_INFINITY } = {}) {
      const all = journal.activity.get(keyOf(turn));
      if (all === undefined) return null;
      const from = Number(after);
      const events = all.slice(from, from + limit);
      return { events, next: String(from + events.length), hasGap: false };
    },
  };
}
