/**
 * The extension for pi: `/loop`, the agent's tools, the footer, and the engine in pi's own process. pi calls this for
 * each session and each reload. Nothing starts before `session_start`.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { PiApi } from "./api.ts";
import { PiSession } from "./session.ts";
import { registerTools } from "./tools.ts";
import { runTyped } from "./typed/command.ts";
import { completeArguments } from "./typed/completions.ts";

export default function loopwright(pi: PiApi): void {
  // judges, stories and headless tasks use pi as their default agent
  const env: NodeJS.ProcessEnv = { LOOP_HOST_AGENT: "pi", ...process.env };
  // this pi is the agent of a headless turn: its engine runs in another process
  if (env.LOOP_FIRE_ID !== undefined) return;
  let session: PiSession | null = null;
  let typing: Promise<void> = Promise.resolve();
  const folder = dirname(fileURLToPath(import.meta.url));

  pi.registerCommand("loop", {
    description: "Loops: 5m <prompt> | until <goal> | list | status | help",
    getArgumentCompletions: (typed) => completeArguments(typed, session?.open?.store.loops() ?? []),
    handler: async (typed) => {
      const here = session;
      if (here === null) return;
      typing = typing.then(() => runTyped(typed, here, { folder, env }));
      // Older versions lose input that is typed while a command runs. `pi -p` exits when this returns.
      if (!here.terminal.hasPerson) await typing;
    },
  });
  registerTools(pi, () => session);

  pi.on("session_start", ({ reason }, ctx) => {
    session = new PiSession(pi, ctx, env, reason !== "reload");
  });
  pi.on("session_shutdown", async ({ reason }) => {
    const closing = session;
    session = null;
    await closing?.close(reason !== "reload");
  });
  pi.on("input", ({ source }) => {
    if (source !== "extension") session?.terminal.noteSubmitted(Date.now());
  });
  pi.on("agent_start", () => session?.started());
  pi.on("agent_end", ({ messages }) => session?.open?.conversation.ended(messages));
  pi.on("agent_settled", () => session?.open?.conversation.settled());
  pi.on("tool_result", (event) => session?.noteTool(event));
  pi.on("session_before_compact", ({ signal }) => session?.terminal.noteCompacting(Date.now(), signal));
  pi.on("session_compact", () => session?.compacted());
  pi.on("session_compact_failed", () => session?.terminal.noteCompacted());
}
