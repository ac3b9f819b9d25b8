/**
 * `loop hook <client> <event>`: the event is JSON on stdin, the answer is in the client's own form on stdout, and
 * nothing else; whatever goes wrong, it exits with 0 and lets things happen.
 */
import { existsSync, readFileSync } from "node:fs";
import { findProject } from "../../store/folder/loop-dir.ts";
import { commandBeside } from "../claude-code/client.ts";
import type { HookAnswer } from "../claude-code/hooks/hook-answer.ts";
import { loopDirOf, type OpenConversation, openConversation } from "../claude-code/open-conversation.ts";
import { openLog } from "../conversation/debug-log.ts";
import { answerClient } from "./answer.ts";
import { clientProcess } from "./client-process.ts";
import {
  type ClientEvent,
  type Fields,
  isFields,
  type StopClient,
  type Told,
  typedAt,
} from "./clients/client.ts";

const STOPPED_BY = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** With these a person can be told what went wrong. */
const SAYING: ReadonlySet<ClientEvent> = new Set<ClientEvent>(["stop", "prompt"]);

export async function runClientHook(
  client: StopClient,
  event: ClientEvent,
  text: string,
  script: string,
): Promise<string> {
  const told = readTold(client, text);
  const root = findProject(told.cwd || process.cwd());
  const log = openLog(root, process.env);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of STOPPED_BY) process.once(signal, stop);
  const seat = new LazyConversation(told.session, loopDirOf(root), {
    acts: event === "stop" || (event === "prompt" && typedAt(told.prompt) !== null),
    env: hostEnv(client),
    say: (message) => log("hook", message),
  });
  try {
    const parts = {
      ...{ dir: seat.dir, open: () => seat.open(), now: Date.now },
      typed: { command: commandBeside(script), root, session: told.session, env: hostEnv(client) },
    };
    const answer = await answerClient(client, event, told, parts, stopping.signal);
    const rendered = client.render(event, inWordsOf(client, answer));
    log("hook", `${client.name} ${event} ${text} -> ${rendered}`);
    return rendered;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log("hook", `${client.name} ${event} ${text} -> ${reason}`);
    const message = `[LOOP] The ${event} was let go: ${reason}`;
    return SAYING.has(event) ? client.render(event, { kind: "tell", message }) : "";
  } finally {
    await seat.leave();
    for (const signal of STOPPED_BY) process.off(signal, stop);
  }
}

/** The end of stdin may never come where somebody else holds it open: a hook's input always ends. */
export async function main(client: StopClient, event: ClientEvent): Promise<void> {
  try {
    const answer = await runClientHook(client, event, readFileSync(0, "utf8"), process.argv[1] ?? "");
    if (answer !== "") process.stdout.write(answer);
  } catch (error) {
    process.stderr.write(`loop hook: ${String(error)}\n`);
  }
}

/** Some put a mark before their JSON that Windows likes; the ids of some have letters that names of files do not. */
function readTold(client: StopClient, text: string): Told {
  const told = client.read(parse(text.replace(/^\uFEFF/, "")));
  return { ...told, session: told.session.replaceAll("_", "-") };
}

function parse(text: string): Fields {
  try {
    const input: unknown = JSON.parse(text);
    return isFields(input) ? input : {};
  } catch {
    return {};
  }
}

/** Our own commands, as they are typed in this client. */
function inWordsOf({ word }: StopClient, answer: HookAnswer): HookAnswer {
  const inWords = (text: string) => text.replaceAll("/loopwright", word);
  if (answer.kind === "tell") return { ...answer, message: inWords(answer.message) };
  if (answer.kind === "local") return { ...answer, text: inWords(answer.text) };
  if (answer.kind !== "context" || answer.message === undefined) return answer;
  return { ...answer, message: inWords(answer.message) };
}

interface HookOptions {
  /** Takes the lease and sets going what comes next; otherwise it only writes down what it was told. */
  readonly acts: boolean;
  readonly env: NodeJS.ProcessEnv;
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
    this.#open = openConversation({
      ...{ dir: this.dir, session: this.#session, client: clientProcess() },
      // Claude Code's own limit holds nowhere else
      env: { ...this.#options.env, CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "0" },
      say: this.#options.say,
    });
    if (this.#options.acts) this.#open.engine.start();
    return this.#open;
  }

  async leave(): Promise<void> {
    await this.#open?.engine.leave();
  }
}
