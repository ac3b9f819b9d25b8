/** Which program of an agent's is here, and so how it is driven. */
import { type Driver, KNOWN_AGENTS, type NamedAgent } from "../core/agents.ts";
import { findExecutable } from "./find.ts";

export interface FoundWay {
  readonly driver: Driver;
  readonly program: string;
  /** Absolute. */
  readonly executable: string;
}

/**
 * `side`: for one question with a context of its own, where a process that ends is better than one that stays. null:
 * none of its programs is on the PATH.
 */
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
    // in a conversation, the very program that it runs in
    const own = way.program === "claude" ? findExecutable(env.LOOP_CLAUDE ?? "", env) : null;
    const executable = own ?? findExecutable(way.program, env);
    if (executable !== null) return { ...way, executable };
  }
  return null;
}
