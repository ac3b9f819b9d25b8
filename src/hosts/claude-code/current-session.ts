/** Which conversation a client has open, as its hooks wrote it down. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { ProcessRef } from "../../core/base.ts";
import { readSessionRecord } from "../../store/folder/session-records.ts";

/** The one that came after `session` in the same client; null: it is still that one, or nobody knows yet. */
export function sessionAfter(dir: string, session: string, client: ProcessRef): string | null {
  if (readSessionRecord(dir, session)?.state !== "over") return null;
  const names = readdirSync(join(dir, "sessions")).filter((name) => name.endsWith(".json"));
  const records = names.map((name) => readSessionRecord(dir, name.slice(0, -".json".length)));
  const isOpen = (record: (typeof records)[number]) =>
    record?.client.pid === client.pid && record.client.start === client.start && record.state !== "over";
  return records.find(isOpen)?.session ?? null;
}
