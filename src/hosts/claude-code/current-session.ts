/** Which conversation a client has open, as its hooks wrote it down. */
import type { ProcessRef } from "../../core/base.ts";
import type { Sessions } from "../../ports/sessions.ts";

/** The one that came after `session` in the same client; null: it is still that one, or nobody knows yet. */
export function sessionAfter(sessions: Sessions, session: string, { pid, start }: ProcessRef): string | null {
  if (sessions.read(session)?.state !== "over") return null;
  const open = sessions
    .list()
    .find(({ client, state }) => client.pid === pid && client.start === start && state !== "over");
  return open?.session ?? null;
}
