/**
 * One session of pi, from `session_start` to `session_shutdown`: opens the conversation and forwards pi's events.
 *
 * Owns: the timer, and whether the conversation is open. Must not create a `.loop` folder, and must end with the
 * session, because pi may start another session in the same process.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isSessionId } from "../../core/session.ts";
import type { EngineNews, Role } from "../../engine/engine.ts";
import { findProject } from "../../store/folder/loop-dir.ts";
import { resumeAnswer } from "../conversation/resume.ts";
import { noteTool } from "../conversation/tool-use.ts";
import type { PiApi, PiContext, PiEvents } from "./api.ts";
import { PI_COMMAND_NAME } from "./command-name.ts";
import { askMissed } from "./missed.ts";
import { type OpenPi, openPi } from "./open-conversation.ts";
import { piUsedTool } from "./runs/used-tool.ts";
import { Terminal } from "./terminal.ts";

/** How soon a task from another process (A12) or an empty input box is noticed. */
const LOOK_MS = 200;
/** pi redraws the conversation after `session_start`, which erases earlier messages. */
const DRAWN_AFTER_MS = 1_000;
/** The footer shows times, so it becomes outdated by itself. */
const REDRAW_MS = 30_000;

export class PiSession {
  readonly root: string;
  readonly dir: string;
  readonly id: string;
  readonly terminal: Terminal;
  readonly #env: NodeJS.ProcessEnv;
  readonly #timer: NodeJS.Timeout | null;
  readonly #asked = new Set<string>();
  #open: OpenPi | null = null;
  #role: Role | null = null;
  #isBroken = false;
  #drawnAt = 0;
  #isClosed = false;
  /** null: done. */
  #greetAt: number | null;

  /** `isNew`: false if only this extension was reloaded. */
  constructor(pi: PiApi, ctx: PiContext, env: NodeJS.ProcessEnv, isNew: boolean) {
    this.root = findProject(ctx.cwd);
    this.dir = join(this.root, ".loop");
    this.id = ctx.sessionManager.getSessionId();
    this.terminal = new Terminal(pi, ctx);
    this.#env = env;
    this.#greetAt = isNew ? Date.now() + DRAWN_AFTER_MS : null;
    this.terminal.onEscape(() => this.#open?.conversation.escaped());
    // `pi -p` exits after its answer: no task fires in it
    this.#timer = this.terminal.hasPerson ? setInterval(() => this.#look(), LOOK_MS) : null;
    if (this.#timer !== null) this.#look();
  }

  get open(): OpenPi | null {
    return this.#open;
  }

  /** null: there is no `.loop` folder or no valid session id. */
  openIfThere(): OpenPi | null {
    if (this.#open !== null || this.#isClosed) return this.#open;
    if (!isSessionId(this.id) || !existsSync(this.dir)) return null;
    const { dir, id: session, terminal } = this;
    const onNews = (news: EngineNews) => this.#take(news);
    this.#open = openPi({ dir, session, terminal, env: this.#env, onNews });
    this.#open.store.sessions.prune(Date.now());
    this.#open.seat.update({ state: "idle" });
    if (this.#timer !== null) this.#open.engine.start();
    return this.#open;
  }

  /** Tells a new session about its own goal, and about goals of ended conversations. */
  #greet(): void {
    this.#greetAt = null;
    const open = this.#open;
    const own = open?.conversation.standing.bound();
    const asked = { loops: [], turnId: null, commandName: PI_COMMAND_NAME };
    const answer = own?.kind === "goal" ? resumeAnswer({ goal: own, ...asked }) : null;
    const message = answer !== null && "message" in answer ? answer.message : undefined;
    if (message !== undefined) this.terminal.say(message, "warning");
    for (const loop of open?.store.loops() ?? [])
      if (loop.kind === "goal" && loop.status === "active" && this.#isLeft(loop.session))
        this.terminal.say(
          `[LOOP] The conversation of goal ${loop.id} has ended. Go on with the goal here: ${PI_COMMAND_NAME} continue ${loop.id}`,
          "warning",
        );
  }

  #isLeft(owner: string | null): boolean {
    const open = this.#open;
    return (
      owner !== null &&
      owner !== open?.conversation.standing.owner &&
      open?.store.sessions.isOver(owner) === true
    );
  }

  started(): void {
    this.terminal.noteStarted();
    this.#open?.conversation.started();
  }

  compacted(): void {
    this.terminal.noteCompacted();
    this.#open?.conversation.compacted();
  }

  noteTool(event: PiEvents["tool_result"]): void {
    if (this.#open !== null) noteTool(this.#open, piUsedTool(event));
  }

  /** `isOver`: the conversation ends; otherwise only this extension is reloaded. */
  async close(isOver: boolean): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    const open = this.#open;
    this.#open = null;
    try {
      if (open === null) return;
      if (isOver) await open.conversation.endSession();
      open.conversation.close();
      await (isOver ? open.engine.stop("the conversation ended") : open.engine.leave());
    } finally {
      this.terminal.close();
    }
  }

  #look(): void {
    try {
      this.openIfThere();
      this.#isBroken = false;
    } catch (error) {
      // show the error once: it is retried all the time
      if (!this.#isBroken) this.terminal.complain(error);
      this.#isBroken = true;
    }
    this.#open?.conversation.look();
    if (this.#greetAt !== null && Date.now() > this.#greetAt) this.#greet();
    if (Date.now() - this.#drawnAt > REDRAW_MS) this.#draw();
  }

  #take(news: EngineNews): void {
    const open = this.#open;
    if (open === null) return;
    if (news.type === "role") this.#enter(news.role);
    this.#draw();
    open.conversation.sayNews();
    if (this.#role === "owner" && this.terminal.hasPerson)
      void askMissed(open, this.terminal, this.#asked).catch(this.terminal.complain);
  }

  #enter(role: Role): void {
    const isTakenOver = this.#role === "passive" && role === "owner";
    this.#role = role;
    if (isTakenOver && this.#open?.statusLine() !== "")
      this.terminal.say("[LOOP] The loops of this folder run here now: their earlier runner has ended.");
  }

  #draw(): void {
    this.#drawnAt = Date.now();
    this.terminal.showStatus(this.#open?.statusLine() ?? "");
  }
}
