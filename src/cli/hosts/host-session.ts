/** The conversation in which a command was typed, when it was typed in one. Set by the host, never by a person. */
import { isSessionId, ownerOf } from "../../core/session.ts";

/** As loops name it; null: in a terminal. */
export function hostSession(env: NodeJS.ProcessEnv): string | null {
  const session = env.LOOP_SESSION ?? "";
  return isSessionId(session) ? ownerOf(session) : null;
}

/** What is typed in a conversation to reach us: there, or, where nobody says, in Claude Code. */
export function commandNameIn(env: NodeJS.ProcessEnv): string {
  return env.LOOP_COMMAND_NAME ?? "/loopwright";
}
