/**
 * The engine's own tools over loopback HTTP, for agents that a runner starts. One conversation of an agent's has one
 * token, and what it says is for the turn that the runner says it is in. Nothing of it outlives the runner: an agent
 * that does is left with its last message, which counts as before.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { ToolAccess, ToolServer, Turn } from "../../ports/agent.ts";
import type { Store } from "../../ports/store.ts";
import { localTimeZone, readConfig } from "../../store/files/config-file.ts";
import { VERSION } from "../../version.ts";
import type { McpHttp } from "./http.ts";

export interface ToolServerOptions {
  readonly store: Store;
  /** The folder that `.loop/` is in. */
  readonly project: string;
  readonly now?: () => number;
  readonly newId?: () => string;
}

const INSTRUCTIONS = "How this turn reports to the loop that it is part of.";

export function createToolServer(options: ToolServerOptions): ToolServer & { close(): Promise<void> } {
  let listening: Promise<McpHttp> | null = null;
  return {
    async open() {
      // a port that could not be had is asked for again
      listening ??= listen().catch((error: unknown) => {
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

/** Not before it is needed: most commands start no agent. */
async function listen(): Promise<McpHttp> {
  const { listenMcp } = await import("./http.ts");
  return listenMcp();
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
  const { headers, close } = http.admit(() => ({ ...hello, tools: turnTools(context, turn) }));
  return {
    url: http.url,
    headers,
    serve: (next) => {
      turn = next;
    },
    close,
  };
}
