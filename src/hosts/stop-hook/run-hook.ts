/** `loop hook <client> <event>`: one hook of a client, answered in the client's own form. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findProject } from "../../store/folder/loop-dir.ts";
import { openLog } from "../conversation/debug-log.ts";
import { NO_RECORD } from "../conversation/hooks/hook-client.ts";
import { parseInput, runHookProcess, untilStopped } from "../conversation/hooks/hook-process.ts";
import { type OpenConversation, openHookConversation } from "../conversation/hooks/open-hook-conversation.ts";
import { NO_WAKING } from "../conversation/hooks/wake-up.ts";
import { commandBeside } from "../conversation/typed.ts";
import { answerClient } from "./answer.ts";
import { clientProcess } from "./client-process.ts";
import { type ClientEvent, type StopClient, type Told, typedAt } from "./clients/client.ts";

const STOPPED_BY = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** With these a person can be told what went wrong. */
const SAYING: ReadonlySet<ClientEvent> = new Set<ClientEvent>(["stop", "prompt"]);

export function runClientHook(
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
    const seat = new LazyConversation(session, join(root, ".loop"), {
      acts: event === "stop" || (event === "prompt" && typedAt(told.prompt) !== null),
      env,
      commandName,
      say: (message) => log("hook", message),
    });
    try {
      const context = {
        dir: seat.dir,
        open: () => seat.open(),
        now: Date.now,
        givesContext,
        typed: { command: commandBeside(script), root, session, env, commandName },
      };
      const rendered = client.render(event, await answerClient(client, event, told, context, stopping));
      log("hook", `${client.name} ${event} ${text} -> ${rendered}`);
      return rendered;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log("hook", `${client.name} ${event} ${text} -> ${reason}`);
      const message = `[LOOP] The ${event} was let go: ${reason}`;
      return SAYING.has(event) ? client.render(event, { kind: "tell", message }) : "";
    } finally {
      await seat.leave();
    }
  });
}

export function runClientHookProcess(client: StopClient, event: ClientEvent): Promise<void> {
  return runHookProcess((text, script) => runClientHook(client, event, text, script));
}

/** Some put a mark before their JSON that Windows likes; the ids of some have letters that names of files do not. */
function readTold(client: StopClient, text: string): Told {
  const told = client.read(parseInput(text.replace(/^\uFEFF/, "")) ?? {});
  return { ...told, session: told.session.replaceAll("_", "-") };
}

interface HookOptions {
  /** Takes the lease and sets going what comes next; otherwise it only writes down what it was told. */
  readonly acts: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly commandName: string;
  readonly say: (message: string) => void;
}

/** What is started from here takes the client's own agent where nothing else is said; Cursor's is none of ours. */
function hostEnv({ name }: StopClient): NodeJS.ProcessEnv {
  return name === "cursor" ? process.env : { LOOP_HOST_AGENT: name, ...process.env };
}

/** The conversation of one hook: opened when it is asked for and there is a `.loop`, which may be made meanwhile. */
class LazyConversation {
  readonly dir: string;
  readonly #session: string;
  readonly #options: HookOptions;
  #open: OpenConversation | null = null;

  constructor(session: string, dir: string, options: HookOptions) {
    this.dir = dir;
    this.#session = session;
    this.#options = options;
  }

  open(): OpenConversation | null {
    if (this.#open !== null || !existsSync(this.dir)) return this.#open;
    const { env, say, commandName, acts } = this.#options;
    this.#open = openHookConversation(
      { dir: this.dir, session: this.#session, client: clientProcess(), env, say, now: Date.now },
      // a limit of the client's own is counted in `answer.ts`: calls of tools do not lift it
      { commandName, cap: 0, waking: NO_WAKING, record: NO_RECORD },
    );
    if (acts) this.#open.engine.start();
    return this.#open;
  }

  async leave(): Promise<void> {
    await this.#open?.engine.leave();
  }
}
