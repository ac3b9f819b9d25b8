/**
 * The conversation of a resident process: the server, or the monitor without a server. The client may switch to another
 * conversation (`/clear`, `/resume`); the hooks report which one is current.
 *
 * Owns: which conversation is open. Must not open one without a `.loop` folder.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openSessions } from "../../compose/open-store.ts";
import type { ProcessRef } from "../../core/base.ts";
import { isSessionId } from "../../core/session.ts";
import type { Sessions } from "../../ports/sessions.ts";
import { NOTHING } from "../conversation/answer.ts";
import { type AnswerContext, answerEvent } from "../conversation/hooks/answer-event.ts";
import { type OpenConversation, openHookConversation } from "../conversation/hooks/open-hook-conversation.ts";
import type { Client } from "./client.ts";
import { claudeCode } from "./hook-client.ts";
import { type HookAnswer, renderAnswer } from "./hooks/hook-answer.ts";
import { type HookEvent, type HookPayload, parsePayload } from "./hooks/payload.ts";
import { CLAUDE_COMMAND_NAME, claudeEvent, isOurCall } from "./hooks/to-event.ts";
import { hasMonitor } from "./wake.ts";

interface ResidentParts {
  readonly client: Client;
  readonly env: NodeJS.ProcessEnv;
  /** The command line program, for typed commands. */
  readonly command: readonly [string, ...string[]];
  readonly say: (message: string) => void;
  /** true: runs as long as the client and fires what is due; false: answers one hook. */
  readonly stays: boolean;
}

/** Events that may start the engine in a single hook process. */
const ACTING = new Set<HookEvent>(["Stop", "StopFailure", "UserPromptSubmit", "UserPromptExpansion"]);

/** Events that can show an error to the person. */
const SAYING = new Set<HookEvent>(["Stop", "UserPromptExpansion", "SessionStart"]);

/** Events after which no prompt runs. */
const ENDING = new Set<HookEvent>(["Stop", "StopFailure", "SessionStart", "SessionEnd", "Notification"]);

export class Resident {
  readonly #parts: ResidentParts;
  readonly root: string;
  readonly dir: string;
  readonly #sessions: Sessions;
  #session: string;
  #acts: boolean;
  /** The running prompt. It is kept here because `.loop` may be created while it runs. */
  #running: HookPayload | null = null;
  #open: OpenConversation | null = null;

  constructor(parts: ResidentParts) {
    this.#parts = parts;
    this.root = parts.client.root;
    this.dir = join(this.root, ".loop");
    this.#sessions = openSessions(this.dir);
    this.#session = parts.client.session;
    this.#acts = parts.stays;
  }

  get current(): OpenConversation | null {
    return this.#open;
  }

  /** The answer to a hook in the client's form. Never throws: after an error the client continues as usual. */
  async answer(input: unknown, signal: AbortSignal): Promise<string> {
    const payload = parsePayload(input);
    if (payload === null || !isSessionId(payload.session)) return "";
    try {
      this.#acts ||= ACTING.has(payload.event);
      await this.#changeTo(payload.session);
      const answer = await this.#answer(payload, signal);
      this.#notePrompt(payload, answer);
      return renderAnswer(payload.event, answer);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (!SAYING.has(payload.event)) return "";
      return JSON.stringify({ systemMessage: `[LOOP] The ${payload.event} hook failed: ${text}` });
    }
  }

  async #answer(payload: HookPayload, signal: AbortSignal): Promise<HookAnswer> {
    if (isOurCall(payload)) return { kind: "permit" };
    const event = claudeEvent(payload);
    return event === null ? NOTHING : answerEvent(event, this.#context(), signal);
  }

  /** null: there is no `.loop` folder or no valid session id. */
  openIfThere(): OpenConversation | null {
    if (this.#open !== null) return this.#open;
    return existsSync(this.dir) && isSessionId(this.#session) ? this.#openNow() : null;
  }

  /** Opens the conversation if something may become due: `.loop` exists and a monitor can wake the client. */
  lookAround(): void {
    this.#followClient();
    this.#open?.seat.lookAgain();
    this.#open?.conversation.lookAgain();
    if (this.#open !== null || !isSessionId(this.#session)) return;
    if (existsSync(this.dir) && hasMonitor(this.dir, this.#parts.client.process.pid)) this.#openNow();
  }

  /** `isOver`: the client has ended; otherwise another process takes over the conversation. */
  async close(isOver: boolean): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await (isOver ? open?.engine.stop("the conversation ended") : open?.engine.leave());
  }

  #notePrompt(payload: HookPayload, { kind }: HookAnswer): void {
    if (payload.event === "UserPromptSubmit") this.#running = payload;
    if (kind === "local" || ENDING.has(payload.event)) this.#running = null;
  }

  /** After `/clear` no hook comes before the next prompt, but due tasks must not wait for it. */
  #followClient(): void {
    const { client, say } = this.#parts;
    const session = sessionAfter(this.#sessions, this.#session, client.process);
    if (session !== null) void this.#changeTo(session).catch((error: unknown) => say(String(error)));
  }

  async #changeTo(session: string): Promise<void> {
    if (session === this.#session) return;
    this.#session = session;
    await this.close(true);
  }

  #context(): AnswerContext {
    const { env, command } = this.#parts;
    return {
      open: () => this.openIfThere(),
      typed: { command, root: this.root, session: this.#session, env, commandName: CLAUDE_COMMAND_NAME },
      dir: this.dir,
      givesContext: true,
    };
  }

  #openNow(): OpenConversation {
    const { client, env, say } = this.#parts;
    const [dir, session] = [this.dir, this.#session];
    const open = openHookConversation(
      { dir, session, client: client.process, env, say, now: Date.now },
      claudeCode(dir, session, client.process.pid, env),
    );
    this.#open = open;
    if (this.#parts.stays) this.#sessions.prune(Date.now());
    if (this.#running !== null && this.#running.session === session)
      void open.conversation.begin(this.#running).catch((error: unknown) => say(String(error)));
    if (this.#acts) open.engine.start();
    return open;
  }
}

/** The conversation that replaced `session` in the same client; null: no change, or not known yet. */
function sessionAfter(sessions: Sessions, session: string, { pid, start }: ProcessRef): string | null {
  if (sessions.read(session)?.state !== "over") return null;
  const open = sessions
    .list()
    .find(({ client, state }) => client.pid === pid && client.start === start && state !== "over");
  return open?.session ?? null;
}
