/**
 * What a loop in this project could use (D11): agents, tools of the command line, and MCP servers that are configured.
 *
 * 1. Nothing of the repository runs (H2): programs are looked for outside of it only, and started outside of it.
 * 2. Of a configuration only names, kinds and places are kept (H3): no address, argument, variable or header, and no
 *    word of a parser's complaint, which would quote them.
 */

import type { Capabilities } from "./capabilities-file.ts";
import { AGENT_PROGRAMS, askVersions, findPrograms, type LookFor, TOOL_PROGRAMS } from "./programs.ts";
import { readServers } from "./servers.ts";

export interface CapabilitySurroundings {
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  readonly now: number;
  /** What was found the last time: a program whose file has not changed is not asked again. */
  readonly known: Capabilities | null;
  /** How many programs are going to be started. */
  readonly onAsking?: (count: number) => void;
  readonly limitMs?: number;
}

export async function discoverCapabilities(around: CapabilitySurroundings): Promise<Capabilities> {
  const { project, env, known } = around;
  const agents = findPrograms(AGENT_PROGRAMS, project, env);
  const tools = findPrograms(TOOL_PROGRAMS, project, env);
  const look: LookFor = {
    project,
    env,
    limitMs: around.limitMs ?? 5_000,
    known,
    onAsking: around.onAsking ?? (() => {}),
  };
  const asked = await askVersions([...agents.found, ...tools.found], look);
  const servers = readServers(project, env);
  return {
    version: 1,
    at: new Date(around.now).toISOString(),
    agents: asked.programs.slice(0, agents.found.length),
    tools: asked.programs.slice(agents.found.length),
    mcpServers: servers.servers,
    problems: [...agents.problems, ...tools.problems, ...asked.problems, ...servers.problems],
  };
}
