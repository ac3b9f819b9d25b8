/**
 * The plugin's resident process: an MCP server that the client starts with every conversation and ends with it. The
 * agent has its tools from here, and the hooks have their answers.
 */
import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";
import { usageError } from "../../errors.ts";
import { readSmall, writeAtomic } from "../../system/files.ts";
import { answers } from "../../system/process-table.ts";
import { VERSION } from "../../version.ts";
import { conversationTools, type ToolPlace } from "../conversation/conversation-tools.ts";
import { openLog } from "../conversation/debug-log.ts";
import { commandBeside } from "../conversation/typed.ts";
import { serveMcp } from "../mcp/server.ts";
import type { McpTool } from "../mcp/tool.ts";
import { readClient, withoutClient } from "./client.ts";
import { parsePayload } from "./hooks/payload.ts";
import { Resident } from "./resident.ts";

/** How soon a `.loop` that somebody made, or a monitor that came up, is noticed. */
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
  // a client that was killed closes our stdin too; this is for the one whose pipe somebody else holds open
  if (!answers(client.process.pid)) void leave();
  else if (!isRevived) resident.lookAround();
}, LOOK_MS);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void leave());

const place: ToolPlace = {
  root: client.root,
  dir: resident.dir,
  openIfThere: () => resident.openIfThere(),
};

void serveMcp({
  name: "loop",
  version: VERSION,
  tools: [hookTool(), ...conversationTools(() => place)],
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
 * A client may start another server in the place of one that was killed, because a hook calls it. By then that hook
 * has a process of its own, as all hooks have since: two that answer one stop would make two turns of it. So the
 * hooks keep to their processes in this conversation, and this server has tools for the agent only.
 */
function wasHereBefore(): boolean {
  const said = client.serverFile === null ? null : readSmall(client.serverFile);
  const [pid = "", start = ""] = said?.split("\n") ?? [];
  return start !== "" && start === client.process.start && !answers(Number(pid));
}

/** For the hooks' own guard, which reads the first line: while we are here they need not start anything. */
function sayThere(): void {
  if (client.serverFile === null) return;
  try {
    mkdirSync(dirname(client.serverFile), { recursive: true });
    writeAtomic(client.serverFile, `${process.pid}\n${client.process.start ?? ""}\n`, false);
  } catch (error) {
    log("server", `hooks will start a process each: ${String(error)}`);
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
