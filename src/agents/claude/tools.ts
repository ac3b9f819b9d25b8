/** The engine's own tools for `claude -p`, as an additional MCP server of the turn. */
import type { Agent, ToolServer, Turn, TurnControl } from "../../ports/agent.ts";

const NAME = "loopwright";
const URL_NAME = "LOOP_TOOLS_URL";
const AUTH_NAME = "LOOP_TOOLS_AUTH";

/** A report to the engine is not work, whether it goes to this server or to our plugin. */
export const OUR_TOOLS = /^mcp__(?:loopwright|plugin_loopwright_loop|loop)__/;

/** Each turn has its own server. A turn that is recovered after its runner died continues without it. */
export function withClaudeTools(agent: Agent, server: ToolServer): Agent {
  return {
    ...agent,
    async run(turn, control) {
      // without tools the agent reports in its last message
      const access = await server.open().catch(() => null);
      if (access === null) return agent.run(turn, control);
      try {
        access.serve(turn);
        // everyone on the machine can read a command line, so the token is in the environment
        const own = { [URL_NAME]: access.url, [AUTH_NAME]: access.headers.Authorization ?? "" };
        const onStarted: TurnControl["onStarted"] = (process) => {
          if (process !== null) access.bind(process);
          control.onStarted(process);
        };
        return await agent.run({ ...turn, env: { ...turn.env, ...own } }, { ...control, onStarted });
      } finally {
        access.close();
      }
    },
  };
}

/** Empty for a turn without a server. The client inserts the token. */
export function toolArguments({ env }: Pick<Turn, "env">): Record<"args" | "allowed", readonly string[]> {
  const url = env[URL_NAME];
  if (url === undefined) return { args: [], allowed: [] };
  const server = { type: "http", url, headers: { Authorization: `\${${AUTH_NAME}}` } };
  return {
    args: [`--mcp-config=${JSON.stringify({ mcpServers: { [NAME]: server } })}`],
    allowed: [`mcp__${NAME}__*`],
  };
}
