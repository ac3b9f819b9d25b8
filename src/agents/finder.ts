/** Finds turns that other runners started, also turns that another agent of a chain took (chain.ts). */
import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Agent, Turn } from "../ports/agent.ts";
import { createChain } from "./chain/chain.ts";
import { runFolder } from "./process/run-folder.ts";

/** `agent`: any agent with run folders and tickets. */
export function createFinder(agent: Agent, projectDir: string): Agent {
  return {
    ...agent,
    reconcile: (turn, control) => {
      const members = Array.from({ length: countRuns(projectDir, turn) }, () => agent);
      return createChain(members).reconcile(turn, control);
    },
  };
}

/** The number of the last agent in the chain that has a run folder. */
function countRuns(projectDir: string, turn: Turn): number {
  try {
    const first = runFolder(projectDir, turn);
    const prefix = `${basename(first)}.`;
    const places = readdirSync(dirname(first))
      .filter((name) => name.startsWith(prefix))
      .map((name) => Number(name.slice(prefix.length)));
    return Math.max(1, ...places.filter((place) => Number.isSafeInteger(place) && place < 100));
  } catch {
    return 1;
  }
}
