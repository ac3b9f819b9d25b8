/** The engine's own tools for `claude -p`: a server of the turn's own beside those of the person. */
import type { Agent, ToolAccess, ToolServer, Turn } from "../../ports/agent.ts";

const NAME = "loopwright";
const URL_NAME = "LOOP_TOOLS_URL";
const AUTH_NAME = "LOOP_TOOLS_AUTH";

/** What an agent says to us is no work, here or in a plugin of ours that the person has. */
export const OUR_TOOLS = /^mcp__(?:loopwright|plugin_loopwright_loop|loop)__/;

/** The tools come and go with each turn. A turn that is found again after its runner died goes on without them. */
export function withClaudeTools(agent: Agent, server: ToolServer): Agent {
  return {
    ...agent,
    async run(turn, control) {
      // without tools the agent reports in its last message
      const access = await server.open().catch(() => null);
      if (access === null) return agent.run(turn, control);
      try {
        access.serve(turn);
        return await agent.run({ ...turn, env: { ...turn.env, ...environmentOf(access) } }, control);
      } finally {
        access.close();
      }
    },
  };
}

/** Everybody on the machine can read a command line: the token is in the environment, and the client puts it in. */
function environmentOf({ url, headers }: ToolAccess): Readonly<Record<string, string>> {
  return { [URL_NAME]: url, [AUTH_NAME]: headers.Authorization ?? "" };
}

export interface ToolArguments {
  readonly args: readonly string[];
  /** Rules for `--allowedTools`. */
  readonly allowed: readonly string[];
}

/** None for a turn that has no server. */
export function toolArguments({ env }: Pick<Turn, "env">): ToolArguments {
  const url = env[URL_NAME];
  if (url === undefined) return { args: [], allowed: [] };
  const server = { type: "http", url, headers: { Authorization: `\${${AUTH_NAME}}` } };
  return {
    args: [`--mcp-config=${JSON.stringify({ mcpServers: { [NAME]: server } })}`],
    allowed: [`mcp__${NAME}__*`],
  };
}
