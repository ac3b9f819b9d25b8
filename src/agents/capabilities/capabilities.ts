/**
 * What a loop in this project can use (D11): agents, command-line tools and configured MCP servers.
 *
 * 1. Nothing from the repository runs (H2): programs are searched and started outside of it.
 * 2. Only names, kinds and places of a configuration are kept (H3): no address, argument, variable or header, and no
 *    parser message, which may quote them.
 */

import type { Capabilities } from "./capabilities-file.ts";
import { AGENT_PROGRAMS, askVersions, findPrograms, type LookFor, TOOL_PROGRAMS } from "./programs.ts";
import { readServers } from "./servers.ts";

export async function discoverCapabilities(
  around: LookFor & { readonly now: number },
): Promise<Capabilities> {
  const { project, env } = around;
  const agents = findPrograms(AGENT_PROGRAMS, project, env);
  const tools = findPrograms(TOOL_PROGRAMS, project, env);
  const asked = await askVersions([...agents.found, ...tools.found], around);
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
