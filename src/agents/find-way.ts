/** Finds the installed program of an agent, and so the way to drive it. */
import { type Driver, KNOWN_AGENTS, type NamedAgent } from "../core/agents.ts";
import { findExecutable } from "./find.ts";

export interface FoundWay {
  readonly driver: Driver;
  readonly program: string;
  /** Absolute path. */
  readonly executable: string;
}

/** `side`: one question in its own context, better asked in a process that ends. null: no program is on the PATH. */
export function findWay(
  { name, driver }: NamedAgent,
  use: "work" | "side",
  env: NodeJS.ProcessEnv,
): FoundWay | null {
  const ways = KNOWN_AGENTS[name].ways.filter((way) => driver === null || way.driver === driver);
  const inOrder =
    use === "side"
      ? [...ways].sort((a, b) => Number(b.driver === "stream") - Number(a.driver === "stream"))
      : ways;
  for (const way of inOrder) {
    // in a conversation, use the program that runs it
    const own = way.program === "claude" ? findExecutable(env.LOOP_CLAUDE ?? "", env) : null;
    const executable = own ?? findExecutable(way.program, env);
    if (executable !== null) return { ...way, executable };
  }
  return null;
}
