/**
 * The engine's tools over loopback HTTP, for agents that a runner starts. Each agent conversation has one token, and its
 * calls count for the turn that the runner has set. The server ends with the runner; an agent that runs longer can still
 * report in its last message.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { ToolAccess, ToolServer, Turn } from "../../ports/agent.ts";
import type { Store } from "../../ports/store.ts";
import { localTimeZone, readConfig } from "../../store/files/config-file.ts";
import { VERSION } from "../../version.ts";
import type { McpHttp } from "./http.ts";

interface ToolServerOptions {
  readonly store: Store;
  /** The folder that contains `.loop/`. */
  readonly project: string;
  readonly now?: () => number;
  readonly newId?: () => string;
}

const INSTRUCTIONS = "Use these tools to report from this turn to its loop.";

export function createToolServer(options: ToolServerOptions): ToolServer & { close(): Promise<void> } {
  let listening: Promise<McpHttp> | null = null;
  return {
    async open() {
      // loaded on demand: most commands start no agent
      listening ??= import("./http.ts")
        .then(({ listenMcp }) => listenMcp())
        .catch((error: unknown) => {
          // try again at the next call
          listening = null;
          throw error;
        });
      return openAccess(options, await listening);
    },
    async close() {
      const http = await listening?.catch(() => null);
      listening = null;
      await http?.close();
    },
  };
}

async function openAccess(options: ToolServerOptions, http: McpHttp): Promise<ToolAccess> {
  const { store, project, now = Date.now, newId = () => randomBytes(4).toString("hex") } = options;
  const { turnTools } = await import("../../tools/turn-tools.ts");
  const config = readConfig({ dir: join(project, ".loop") });
  const ownToken = () => {
    const lease = store.lease();
    return lease?.pid === process.pid ? lease.token : null;
  };
  const context = { ...config, store, now, newId, tz: localTimeZone(config), ownToken };
  const hello = { name: "loopwright", version: VERSION, instructions: INSTRUCTIONS };
  let turn: Turn | null = null;
  const { headers, bind, close } = http.admit(() => ({ ...hello, tools: turnTools(context, turn) }));
  return {
    url: http.url,
    headers,
    serve: (next) => {
      turn = next;
    },
    bind,
    close,
  };
}
