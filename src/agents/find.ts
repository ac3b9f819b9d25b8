/** Finds the installed programs of agents. Starts nothing. */
import { type AgentWay, KNOWN_AGENTS, type NamedAgent } from "../core/agents.ts";
import { findProgram, lookForProgram, NOT_THERE } from "../system/find-program.ts";

interface FoundWay extends AgentWay {
  /** Absolute path. */
  readonly executable: string;
}

/** The way to drive the agent. `side`: one question in its own context, better asked in a process that ends. null: none. */
export function findWay(
  agent: NamedAgent,
  use: "work" | "side",
  env: NodeJS.ProcessEnv,
  project: string = process.cwd(),
): FoundWay | null {
  const ways = waysOf(agent);
  const inOrder =
    use === "side"
      ? [...ways].sort((a, b) => Number(b.driver === "stream") - Number(a.driver === "stream"))
      : ways;
  for (const way of inOrder) {
    // in a conversation, use the program that runs it
    const own = way.program === "claude" ? findProgram(env.LOOP_CLAUDE ?? "", env, project) : null;
    const executable = own ?? findProgram(way.program, env, project);
    if (executable !== null) return { ...way, executable };
  }
  return null;
}

/** Why `findWay` found nothing, for the middle of a sentence. */
export function whyNoWay(agent: NamedAgent, env: NodeJS.ProcessEnv, project?: string): string {
  const programs = [...new Set(waysOf(agent).map((way) => way.program))];
  return whySkipped(agent, env, project) ?? `\`${programs.join("` or `")}\` ${NOT_THERE}`;
}

/** Why a program of the agent that is on the PATH does not count; null: there is none. */
export function whySkipped(
  agent: NamedAgent,
  env: NodeJS.ProcessEnv,
  project: string = process.cwd(),
): string | null {
  const programs = waysOf(agent).map((way) => way.program);
  const looked = programs.map((name) => ({ name, reason: lookForProgram(name, env, project).reason }));
  const skipped = looked.find(({ reason }) => reason !== "" && reason !== NOT_THERE);
  return skipped === undefined ? null : `\`${skipped.name}\` ${skipped.reason}`;
}

function waysOf({ name, driver }: NamedAgent): readonly AgentWay[] {
  return KNOWN_AGENTS[name].ways.filter((way) => driver === null || way.driver === driver);
}
