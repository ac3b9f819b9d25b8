/**
 * Answers the hook events of one conversation. Every process of the conversation (resident server, monitor, single
 * hook) uses this class, so all give the same answers.
 *
 * 1. A hook that can carry a turn waits here until the engine has a turn or the loop rests.
 * 2. A hook that throws allows the stop.
 */
import { type NoticeKind, tellsStand } from "../../../core/base.ts";
import type { Route } from "../../../core/stop/route.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Host } from "../../../engine/parts.ts";
import type { Store } from "../../../ports/store.ts";
import { type ConversationAnswer, NOTHING, tell } from "../answer.ts";
import { type Bound, hasFire, hasTurnOfTask, isResting } from "../bound-loop.ts";
import type { ConversationEvent, PromptRef } from "../event.ts";
import type { Seat } from "../seat.ts";
import { renderVerdict, Standing } from "../standing.ts";
import { askForTool, nearCap } from "./block-cap.ts";
import type { HookClient } from "./hook-client.ts";
import { priceTurns, WRITTEN_AFTER_MS } from "./turn-prices.ts";

export interface HookConversationParts {
  readonly dir: string;
  readonly session: string;
  readonly store: Store;
  readonly seat: Seat;
  readonly engine: Engine;
  readonly client: HookClient;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
}

type EventOf<T extends ConversationEvent["type"]> = Extract<ConversationEvent, { type: T }>;

export class HookConversation {
  readonly #parts: HookConversationParts;
  readonly #standing: Standing;
  #notes: string[] = [];

  constructor(parts: HookConversationParts) {
    this.#parts = parts;
    this.#standing = new Standing({ ...parts, commandName: parts.client.commandName });
  }

  get owner(): string {
    return this.#standing.owner;
  }

  /** Stores the facts that every hook reports. */
  arrive({ transcript }: PromptRef): void {
    const { seat } = this.#parts;
    if (transcript !== null && transcript !== seat.record.transcript) seat.update({ transcript });
  }

  async stop(event: EventOf<"stopped">, signal: AbortSignal): Promise<ConversationAnswer> {
    const { seat, engine, store, client } = this.#parts;
    await this.#takeStop(event);
    await store.catchUp();
    await this.price();
    const first = this.route();
    const isFree = first.kind === "go-on" ? await engine.lead() : true;
    const route = isFree ? this.route() : this.route(this.#standing.otherOwner() ?? "another runner");
    if (route.kind === "allow") return this.#allow(route);
    const { cap } = client;
    const canWake = client.waking.canWake();
    // if nothing can wake the conversation, use the last allowed answer too
    if (nearCap(seat.record.blocks - (canWake ? 0 : 1), cap)) {
      this.#rest();
      const when = canWake ? "in a moment" : "after your next message";
      return tell(
        `[LOOP] ${route.loop} goes on ${when}: the client stops after ${cap} answers without a tool call.`,
      );
    }
    return this.#goOn(event, signal);
  }

  /** Waits for the next turn. If none comes, the answer says why. */
  async #goOn({ promptId }: PromptRef, signal: AbortSignal): Promise<ConversationAnswer> {
    const { seat, client } = this.#parts;
    const offered = await this.offer(promptId, signal);
    if (offered === null) {
      if (signal.aborted) await this.#standing.interrupt();
      return this.#allow(this.#whyStanding());
    }
    const { blocks } = seat.record;
    seat.update({ blocks: blocks + 1 });
    // nothing can wake this conversation again: only a tool call resets the client's count
    const text = client.waking.canWake() ? offered : askForTool(offered, blocks, client.cap);
    return { kind: "context", text };
  }

  /** Why no turn follows. */
  #whyStanding(): Extract<Route, { kind: "allow" }> {
    const route = this.route(this.#standing.otherOwner());
    return route.kind === "allow" ? route : { kind: "allow", row: "gone", word: null, message: null };
  }

  /** The text of the next turn; null: no turn comes now. */
  async offer(promptId: string, signal: AbortSignal): Promise<string | null> {
    const { seat, engine } = this.#parts;
    const offering = seat.offer(promptId, signal);
    engine.nudge();
    this.settleOffer();
    const offered = await offering;
    return offered.kind === "turn" ? offered.text : null;
  }

  /** Called at every change: a hook must not wait for a loop that rests. */
  settleOffer(): void {
    const { seat } = this.#parts;
    if (seat.isWaiting && this.#standsStill()) seat.withdrawOffer();
  }

  /** The turn ended with an error of the client. */
  async stopFailure({ promptId, failure }: EventOf<"failed">): Promise<ConversationAnswer> {
    const { seat, engine } = this.#parts;
    const { turn } = seat.record;
    if (turn?.end === null && turn.promptId === promptId) seat.end({ kind: "failed", answer: "", failure });
    else if (turn?.end === null) await this.#standing.interrupt();
    this.#rest();
    engine.nudge();
    return NOTHING;
  }

  /** A prompt that is not a loop command: the person wrote to the agent, or a wake-up arrived. */
  async submit(event: EventOf<"prompted">, signal: AbortSignal): Promise<ConversationAnswer> {
    const { seat, client } = this.#parts;
    const { wake } = event;
    const { promptId, state } = seat.record;
    const isRunning = state === "busy" && promptId === event.promptId && promptId !== "";
    // the wake-up arrived during a running turn; it is sent again after that turn
    if (wake !== null && isRunning) return NOTHING;
    if (wake !== null) return this.#woken(event, client.waking.isPending(wake), signal);
    if (isRunning) {
      seat.update({ isSomeoneWaiting: true });
      return NOTHING;
    }
    const paused = await this.#takePrompt(event);
    if (paused !== null) seat.update({ said: paused });
    return tell(paused);
  }

  /** A new prompt of the person begins. Returns a message for the person if the prompt paused a loop. */
  async #takePrompt(prompt: PromptRef): Promise<string | null> {
    const { turn } = this.#parts.seat.record;
    const isStopped = turn !== null && turn.end === null && turn.promptId !== prompt.promptId;
    const paused = isStopped ? await this.#interrupt() : null;
    this.#start(prompt);
    return paused;
  }

  #start({ promptId, transcript }: PromptRef): void {
    const { seat, client } = this.#parts;
    seat.update({
      state: "busy",
      promptId,
      isSomeoneWaiting: false,
      taken: 0,
      blocks: 0,
      offset: client.record.offsetOf(seat.record, transcript),
    });
  }

  /** A prompt was answered here and did not reach the model. */
  rest(): void {
    this.#rest();
    this.#parts.engine.nudge();
  }

  /** The client reports that it is idle: the running turn was stopped or has ended. */
  async idle(): Promise<void> {
    const { seat } = this.#parts;
    if (seat.isWaiting) return;
    if (seat.record.turn?.end === null) await this.#standing.interrupt();
    this.rest();
  }

  /** The message for the person that says why no turn follows. */
  whyNot(): string | null {
    const route = this.route(this.#standing.otherOwner());
    return route.kind === "allow" ? route.message : null;
  }

  /** Shown to the person with the next answer. The status of this conversation's goal is shown anyway. */
  note(title: string, body: string, kind: NoticeKind): void {
    if (!tellsStand(kind)) this.#notes.push(`[LOOP] ${title}: ${body}`);
  }

  /** Called before a loop command runs: the command is a prompt like any other. */
  begin(prompt: PromptRef): Promise<string | null> {
    this.arrive(prompt);
    this.#parts.seat.update({ said: null });
    return this.#takePrompt(prompt);
  }

  async #woken(prompt: PromptRef, isPending: boolean, signal: AbortSignal): Promise<ConversationAnswer> {
    const { client, engine } = this.#parts;
    if (!isPending) return NOT_DUE;
    this.#start(prompt);
    client.waking.settle();
    // another process of this conversation may have sent the wake-up
    const text = (await engine.lead()) ? await this.offer(prompt.promptId, signal) : null;
    if (text !== null) return { kind: "context", text };
    this.rest();
    return NOT_DUE;
  }

  /** The decision for a stop at this moment. */
  route(otherOwner: string | null = null, isWaitedFor = this.#isSomeoneWaiting()): Route {
    return this.#standing.route(otherOwner, isWaitedFor);
  }

  /** The loop of this conversation that has not ended. */
  bound(): Bound | undefined {
    return this.#standing.bound();
  }

  /** May a turn begin now? */
  readonly host: Host = {
    isFree: () => {
      const { seat, client } = this.#parts;
      if (seat.isWaiting) {
        // the person typed while the checks ran: the person comes first
        if (!this.#isSomeoneWaiting()) return true;
        seat.withdrawOffer();
        return false;
      }
      if (seat.record.state === "busy") this.#noticeEscape();
      return seat.record.state === "idle" && client.waking.canWake();
    },
  };

  /** Prices the turns that have ended. Called at every stop and shortly after it. */
  price(): Promise<void> {
    return priceTurns({ ...this.#parts, record: this.#parts.client.record });
  }

  /** The conversation ended, and so did its turn. */
  end(): Promise<void> {
    return this.#standing.endSession(() => this.price());
  }

  async #takeStop({ promptId, answer }: EventOf<"stopped">): Promise<void> {
    const { seat } = this.#parts;
    const { turn } = seat.record;
    if (turn?.end === null) {
      if (turn.promptId === promptId) seat.end({ kind: "ok", answer, toolCalls: turn.toolCalls });
      else await this.#standing.interrupt();
    }
    // an unannounced prompt was waiting in the client's queue
    const { promptId: known, taken } = seat.record;
    if (known !== promptId) seat.update({ promptId, blocks: 0, taken: taken + 1 });
  }

  /** Esc fires no hook: the next hook finds an open turn, or the transcript shows the interrupt. */
  #noticeEscape(): void {
    const { seat, client } = this.#parts;
    if (!client.record.wasEscaped(seat.record)) return;
    seat.update({ state: "idle" });
    void this.#standing.interrupt().catch(() => {});
  }

  /** Called regularly: due tasks wait for a task's turn to end, and no hook reports an Esc in that turn. */
  lookAgain(): void {
    const { seat, store } = this.#parts;
    if (!seat.isWaiting && hasTurnOfTask(store, seat.record)) this.#noticeEscape();
  }

  /** Returns a message for the person if a loop was paused. */
  async #interrupt(): Promise<string | null> {
    if (!(await this.#standing.interrupt())) return null;
    const route = this.route(null, false);
    return route.kind === "allow" ? route.message : null;
  }

  #allow(route: Extract<Route, { kind: "allow" }>): ConversationAnswer {
    const { seat } = this.#parts;
    const isNews = route.message !== null && route.message !== seat.record.said;
    if (isNews) seat.update({ said: route.message });
    // the person's queued prompt runs next: do not wake the conversation before it
    if (route.row === "a person waits") seat.update({ isSomeoneWaiting: false });
    else this.rest();
    this.#priceLater();
    const verdict = () => (route.row === "ended" ? renderVerdict(this.#standing.shown()) : null);
    const news = isNews ? [route.message, verdict()] : [];
    const lines = [...this.#notes, ...news.filter((line) => line !== null)];
    this.#notes = [];
    return tell(lines.length === 0 ? null : lines.join("\n"));
  }

  /** For a conversation whose next stop is far away. */
  #priceLater(): void {
    if (this.#parts.seat.record.spans.length === 0) return;
    setTimeout(() => void this.price().catch(() => {}), WRITTEN_AFTER_MS + 100).unref();
  }

  #rest(): void {
    this.#parts.seat.update({ state: "idle", isSomeoneWaiting: false, blocks: 0 });
  }

  #isSomeoneWaiting(): boolean {
    const { seat, client } = this.#parts;
    return client.record.isSomeoneWaiting(seat.record);
  }

  #standsStill(): boolean {
    const loop = this.bound();
    const { store, now } = this.#parts;
    return !hasFire(store, this.owner, now()) && (loop === undefined || isResting(loop, now()));
  }
}

const NOT_DUE: ConversationAnswer = {
  kind: "local",
  text: "[LOOP] This wake-up is out of date: its turn is not due any more.",
};
