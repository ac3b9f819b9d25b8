/**
 * The plugin's resident process: an MCP server that the client starts and ends with every conversation. It provides the
 * agent's tools and answers the hooks.
 */
import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";
import { usageError } from "../../errors.ts";
import { readSmall, writeAtomic } from "../../system/files.ts";
import { answers } from "../../system/process-table.ts";
import { VERSION } from "../../version.ts";
import { conversationTools } from "../conversation/conversation-tools.ts";
import { openLog } from "../conversation/debug-log.ts";
import { commandBeside } from "../conversation/typed.ts";
import { serveMcp } from "../mcp/server.ts";
import type { McpTool } from "../mcp/tool.ts";
import { readClient, withoutClient } from "./client.ts";
import { parsePayload } from "./hooks/payload.ts";
import { Resident } from "./resident.ts";

/** How soon a new `.loop` folder or a new monitor is noticed. */
const LOOK_MS = 1_000;

const client = readClient(process.env, process.ppid);
process.env = withoutClient(process.env);
const log = openLog(client.root, process.env);
const resident = new Resident({
  client,
  env: process.env,
  command: commandBeside(process.argv[1] ?? ""),
  say: (message) => log("server", message),
  stays: true,
});

const isRevived = wasHereBefore();
if (!isRevived) sayThere();
const looking = setInterval(() => {
  // A killed client usually closes our stdin, but another process may hold the pipe open.
  if (!answers(client.process.pid)) void leave();
  else if (!isRevived) resident.lookAround();
}, LOOK_MS);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void leave());

void serveMcp({
  name: "loop",
  version: VERSION,
  tools: [hookTool(), ...conversationTools(() => resident)],
  input: process.stdin,
  output: process.stdout,
  onClose: () => void leave(),
});

let isLeaving = false;

async function leave(): Promise<void> {
  if (isLeaving) return;
  isLeaving = true;
  clearInterval(looking);
  if (client.serverFile !== null && !isRevived) rmSync(client.serverFile, { force: true });
  await resident.close(true).catch((error: unknown) => log("server", String(error)));
  process.exit(0);
}

/**
 * A hook call may make the client start a new server after the old one was killed. By then each hook has its own
 * process, and two answers to one stop would create two turns. So this server only serves tools to the agent.
 */
function wasHereBefore(): boolean {
  const said = client.serverFile === null ? null : readSmall(client.serverFile);
  const [pid = "", start = ""] = said?.split("\n") ?? [];
  return start !== "" && start === client.process.start && !answers(Number(pid));
}

/** The hooks' guard reads the first line: while this server runs, hooks start no process. */
function sayThere(): void {
  if (client.serverFile === null) return;
  try {
    mkdirSync(dirname(client.serverFile), { recursive: true });
    writeAtomic(client.serverFile, `${process.pid}\n${client.process.start ?? ""}\n`, false);
  } catch (error) {
    log("server", `each hook will start its own process: ${String(error)}`);
  }
}

function hookTool(): McpTool {
  return {
    name: "hook",
    description: "For the hooks of this plugin.",
    schema: z.looseObject({ hook_event_name: z.string() }),
    isListed: false,
    run: async (input, { signal, isFromModel }) => {
      if (isFromModel) throw usageError("This tool is for hooks.");
      log("asked", JSON.stringify(input));
      if (isRevived && parsePayload(input)?.event !== "PreToolUse") return { text: "{}" };
      const text = await resident.answer(input, signal);
      log("answered", text);
      return { text: text === "" ? "{}" : text };
    },
  };
}
