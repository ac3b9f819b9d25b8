/**
 * The engine's tools over stdio, for agents that take no MCP server over HTTP. Every agent can start a program: it
 * passes each line on to the HTTP server and prints the answer.
 */
import type { McpServerStdio } from "@agentclientprotocol/sdk";
import type { ToolAccess } from "../../../ports/agent.ts";

/** Runs with `node -e`, so that it works from any bundle. The token is in the environment: others can read arguments. */
export function bridgeOf({ url, headers }: ToolAccess): McpServerStdio {
  return {
    name: "loopwright",
    command: process.execPath,
    args: ["-e", `(${bridge})(process,require)`],
    env: [
      { name: "LOOP_TOOLS_URL", value: url },
      { name: "LOOP_TOOLS_HEADERS", value: JSON.stringify(headers) },
    ],
  };
}

/** Its source text runs in another process: it may only use its arguments and globals. */
function bridge(self: NodeJS.Process, load: NodeJS.Require): void {
  const { createInterface } = load("node:readline") as typeof import("node:readline");
  const { LOOP_TOOLS_URL: url = "", LOOP_TOOLS_HEADERS: given = "{}" } = self.env;
  const headers = { ...JSON.parse(given), "Content-Type": "application/json" };
  const accept = { ...headers, Accept: "application/json, text/event-stream" };
  let open = 0;
  let isOver = false;
  const end = () => {
    if (isOver && open === 0) self.exit(0);
  };
  const idOf = (line: string): unknown => {
    try {
      return JSON.parse(line).id;
    } catch {
      return undefined;
    }
  };
  const pass = async (line: string): Promise<void> => {
    try {
      const answer = await fetch(url, { method: "POST", headers: accept, body: line });
      const text = (await answer.text()).trim();
      if (answer.ok && text !== "") self.stdout.write(`${text}\n`);
      if (answer.ok) return;
      throw new Error(`the tools are gone (HTTP ${answer.status})`);
    } catch (error) {
      const id = idOf(line);
      if (id === undefined) return;
      const message = error instanceof Error ? error.message : "";
      self.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32603, message } })}\n`);
    }
  };
  createInterface({ input: self.stdin })
    .on("line", (line) => {
      if (line.trim() === "") return;
      open++;
      void pass(line).finally(() => {
        open--;
        end();
      });
    })
    .on("close", () => {
      isOver = true;
      end();
    });
}
