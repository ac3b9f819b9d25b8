/** `loop hook <client> <event>`: answers one hook in the client's own form. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findProject } from "../../store/folder/loop-dir.ts";
import { openLog } from "../conversation/debug-log.ts";
import { parseFields } from "../conversation/fields.ts";
import { NO_RECORD } from "../conversation/hooks/hook-client.ts";
import { runHookProcess, untilStopped } from "../conversation/hooks/hook-process.ts";
import { type OpenConversation, openHookConversation } from "../conversation/hooks/open-hook-conversation.ts";
import { NO_WAKING } from "../conversation/hooks/wake-up.ts";
import type { SeatSetup } from "../conversation/open-seat.ts";
import { commandBeside } from "../conversation/typed.ts";
import { answerClient } from "./answer.ts";
import { clientProcess } from "./client-process.ts";
import { type ClientEvent, type StopClient, type Told, typedAt } from "./clients/client.ts";

const STOPPED_BY = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Events that can show an error to the person. */
const SAYING: ReadonlySet<ClientEvent> = new Set<ClientEvent>(["stop", "prompt"]);

export function runClientHookProcess(client: StopClient, event: ClientEvent): Promise<void> {
  return runHookProcess((text, script) => runClientHook(client, event, text, script));
}

function runClientHook(
  client: StopClient,
  event: ClientEvent,
  text: string,
  script: string,
): Promise<string> {
  return untilStopped(STOPPED_BY, async (stopping) => {
    const told = readTold(client, text);
    const root = findProject(told.cwd || process.cwd());
    const log = openLog(root, process.env);
    const { commandName, givesContext } = client;
    const { session } = told;
    const env = hostEnv(client);
    const dir = join(root, ".loop");
    const acts = event === "stop" || (event === "prompt" && typedAt(told.prompt) !== null);
    const say = (message: string) => log("hook", message);
    const lazy = lazyConversation({ dir, session, env, say, now: Date.now }, commandName, acts);
    try {
      const context = {
        dir,
        open: lazy.open,
        givesContext,
        typed: { command: commandBeside(script), root, session, env, commandName },
      };
      const rendered = client.render(event, await answerClient(client, event, told, context, stopping));
      log("hook", `${client.name} ${event} ${text} -> ${rendered}`);
      return rendered;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log("hook", `${client.name} ${event} ${text} -> ${reason}`);
      const message = `[LOOP] The ${event} hook failed: ${reason}`;
      return SAYING.has(event) ? client.render(event, { kind: "tell", message }) : "";
    } finally {
      await lazy.leave();
    }
  });
}

/** Some clients put a byte order mark before the JSON. Some session ids have characters that file names do not allow. */
function readTold(client: StopClient, text: string): Told {
  const told = client.read(parseFields(text.replace(/^\uFEFF/, "")) ?? {});
  return { ...told, session: told.session.replaceAll("_", "-") };
}

/** Agents started from here default to the client's own agent, except for Cursor, whose agent we do not support. */
function hostEnv({ name }: StopClient): NodeJS.ProcessEnv {
  return name === "cursor" ? process.env : { LOOP_HOST_AGENT: name, ...process.env };
}

/**
 * The conversation of one hook. It opens on demand if `.loop` exists; a command may create `.loop` in between. `acts`:
 * takes the lease and starts the next turn; otherwise the hook only stores facts.
 */
function lazyConversation(setup: Omit<SeatSetup, "client">, commandName: string, acts: boolean) {
  let opened: OpenConversation | null = null;
  return {
    open: () => {
      if (opened !== null || !existsSync(setup.dir)) return opened;
      opened = openHookConversation(
        { ...setup, client: clientProcess() },
        // `answer.ts` counts the client's own limit, because tool calls do not reset it
        { commandName, cap: 0, waking: NO_WAKING, record: NO_RECORD },
      );
      if (acts) opened.engine.start();
      return opened;
    },
    leave: async () => opened?.engine.leave(),
  };
}
