/** The conversation in which a command was typed. The host sets it in the environment. */
import { isSessionId, ownerOf } from "../../core/session.ts";

/** The owner name of the conversation; null: a terminal. */
export function hostSession(env: NodeJS.ProcessEnv): string | null {
  const session = env.LOOP_SESSION ?? "";
  return isSessionId(session) ? ownerOf(session) : null;
}

/** How a person types our command in this conversation; the default is Claude Code's. */
export function commandNameIn(env: NodeJS.ProcessEnv): string {
  return env.LOOP_COMMAND_NAME ?? "/loopwright";
}
