/** The conversation in which a command was typed, when it was typed in one (`/loopwright …`). */
import { isSessionId, ownerOf } from "../../store/folder/session-records.ts";

/** As loops name it; null: in a terminal. Set by the host, never by a person. */
export function hostSession(env: NodeJS.ProcessEnv): string | null {
  const session = env.LOOP_SESSION ?? "";
  return isSessionId(session) ? ownerOf(session) : null;
}
