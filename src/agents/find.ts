/** Finds the installed programs of agents. Starts nothing. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { type AgentWay, KNOWN_AGENTS, type NamedAgent } from "../core/agents.ts";
import { quietly } from "./quietly.ts";

/** The absolute path of the program that a shell would start for `name`. */
export function findExecutable(name: string, env: NodeJS.ProcessEnv): string | null {
  if (name === "" || name.includes("\0")) return null;
  if (name.includes("/")) return isExecutable(name) ? resolve(name) : null;
  // An empty entry means the current folder, maybe an untrusted repository: only absolute entries count.
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  const look = () => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  };
  return quietly(look) ?? false;
}

interface FoundWay extends AgentWay {
  /** Absolute path. */
  readonly executable: string;
}

/** The way to drive the agent. `side`: one question in its own context, better asked in a process that ends. null: no program is on the PATH. */
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
