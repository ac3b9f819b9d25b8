/**
 * The conversation that a resident process of the client acts for: the server, or the monitor when there is none.
 * A client may change to another conversation under it (`/clear`, `/resume`): the hooks say which one it is.
 *
 * Owns: which conversation is open here. Must not open one where there is no `.loop`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openSessions } from "../../compose/open-store.ts";
import { isSessionId } from "../../core/session.ts";
import type { Sessions } from "../../ports/sessions.ts";
import { NOTHING } from "../conversation/answer.ts";
import { type AnswerContext, answerEvent } from "../conversation/hooks/answer-event.ts";
import { type OpenConversation, openHookConversation } from "../conversation/hooks/open-hook-conversation.ts";
import type { Client } from "./client.ts";
import { sessionAfter } from "./current-session.ts";
import { claudeCode } from "./hook-client.ts";
import { type HookAnswer, renderAnswer } from "./hooks/hook-answer.ts";
import { type HookEvent, type HookPayload, parsePayload } from "./hooks/payload.ts";
import { CLAUDE_COMMAND_NAME, claudeEvent, isOurCall } from "./hooks/to-event.ts";
import { hasMonitor } from "./wake.ts";

export interface ResidentParts {
  readonly client: Client;
  readonly env: NodeJS.ProcessEnv;
  /** The command line program, for what people type. */
  readonly command: readonly [string, ...string[]];
  readonly say: (message: string) => void;
  /** Stays with the client, and does what is due; otherwise it is there for one hook. */
  readonly stays: boolean;
}

/** What a hook on its own may set going; the others only write down or tell. */
const ACTING: ReadonlySet<HookEvent> = new Set<HookEvent>([
  "Stop",
  "StopFailure",
  "UserPromptSubmit",
  "UserPromptExpansion",
]);

/** With these a person is told what went wrong. */
const SAYING: ReadonlySet<HookEvent> = new Set<HookEvent>(["Stop", "UserPromptExpansion", "SessionStart"]);

/** After these no prompt runs. */
const ENDING: ReadonlySet<HookEvent> = new Set<HookEvent>([
  "Stop",
  "StopFailure",
  "SessionStart",
  "SessionEnd",
  "Notification",
]);

export class Resident {
  readonly #parts: ResidentParts;
  readonly #dir: string;
  readonly #sessions: Sessions;
  #session: string;
  #acts: boolean;
  /** The prompt that runs. Nobody else knows of it before there is a `.loop`, which may be made in the middle of it. */
  #running: HookPayload | null = null;
  #open: { readonly session: string; readonly conversation: OpenConversation } | null = null;

  constructor(parts: ResidentParts) {
    this.#parts = parts;
    this.#dir = join(parts.client.root, ".loop");
    this.#sessions = openSessions(this.#dir);
    this.#session = parts.client.session;
    this.#acts = parts.stays;
  }

  get dir(): string {
    return this.#dir;
  }

  get current(): OpenConversation | null {
    return this.#open?.conversation ?? null;
  }

  /** The answer to a hook, as the client wants it. Never throws: what goes wrong lets things happen. */
  async answer(input: unknown, signal: AbortSignal): Promise<string> {
    const payload = parsePayload(input);
    // a sub-agent's tools count; its end is not the conversation's
    if (payload === null || !isSessionId(payload.session)) return "";
    try {
      this.#acts ||= ACTING.has(payload.event);
      await this.#changeTo(payload.session);
      const answer = await this.#answer(payload, signal);
      this.#notePrompt(payload, answer);
      return renderAnswer(payload.event, answer);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      // once per turn is enough
      if (!SAYING.has(payload.event)) return "";
      return JSON.stringify({ systemMessage: `[LOOP] ${payload.event} was let go: ${text}` });
    }
  }

  async #answer(payload: HookPayload, signal: AbortSignal): Promise<HookAnswer> {
    if (isOurCall(payload)) return { kind: "permit" };
    const event = claudeEvent(payload);
    return event === null ? NOTHING : answerEvent(event, this.#context(), signal);
  }

  /** null: there is no `.loop`, or no name of the conversation. */
  openIfThere(): OpenConversation | null {
    if (this.#open !== null) return this.#open.conversation;
    return existsSync(this.#dir) && isSessionId(this.#session) ? this.#openNow() : null;
  }

  /** Opens the conversation when something could be due in it: there is `.loop`, and somebody who can wake it. */
  lookAround(): void {
    this.#followClient();
    this.current?.seat.lookAgain();
    this.current?.conversation.lookAgain();
    if (this.#open !== null || !isSessionId(this.#session)) return;
    if (existsSync(this.#dir) && hasMonitor(this.#dir, this.#parts.client.process.pid)) this.#openNow();
  }

  /** The client has gone, or somebody else acts for the conversation. */
  async close(isOver: boolean): Promise<void> {
    const open = this.#open?.conversation;
    this.#open = null;
    if (open === undefined) return;
    await (isOver ? open.engine.stop("the conversation ended") : open.engine.leave());
  }

  #notePrompt(payload: HookPayload, { kind }: HookAnswer): void {
    if (payload.event === "UserPromptSubmit") this.#running = payload;
    if (kind === "local" || ENDING.has(payload.event)) this.#running = null;
  }

  /** After a `/clear` no hook comes here before the next prompt, and what is due must not wait for that. */
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
    const { client, env, command } = this.#parts;
    return {
      open: () => this.openIfThere(),
      typed: { command, root: client.root, session: this.#session, env, commandName: CLAUDE_COMMAND_NAME },
      dir: this.#dir,
      now: Date.now,
      givesContext: true,
    };
  }

  #openNow(): OpenConversation {
    const { client, env, say } = this.#parts;
    const [dir, session] = [this.#dir, this.#session];
    const conversation = openHookConversation(
      { dir, session, client: client.process, env, say, now: Date.now },
      claudeCode(dir, session, client.process.pid, env),
    );
    this.#open = { session, conversation };
    if (this.#parts.stays) this.#sessions.prune(Date.now());
    if (this.#running !== null && this.#running.session === session)
      void conversation.conversation.begin(this.#running).catch((error: unknown) => say(String(error)));
    if (this.#acts) conversation.engine.start();
    return conversation;
  }
}
