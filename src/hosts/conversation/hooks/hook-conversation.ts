/**
 * Answers the hook events of one conversation. Every process of the conversation (resident server, monitor, single
 * hook) uses this class, so all give the same answers.
 *
 * 1. A hook that can carry a turn waits here until the engine has a turn or the loop rests.
 * 2. A hook that throws allows the stop.
 */
import { type NoticeKind, tellsStand } from "../../../core/base.ts";
import type { LoopId } from "../../../core/loop.ts";
import type { Route } from "../../../core/stop/route.ts";
import type { Host } from "../../../engine/parts.ts";
import { type ConversationAnswer, NOTHING, tell } from "../answer.ts";
import { hasFire, isResting } from "../bound-loop.ts";
import type { ConversationEvent, PromptRef } from "../event.ts";
import type { OpenSeat } from "../open-seat.ts";
import { renderVerdict, Standing } from "../standing.ts";
import { askForTool, nearCap } from "./block-cap.ts";
import type { HookClient } from "./hook-client.ts";
import { priceTurns, WRITTEN_AFTER_MS } from "./turn-prices.ts";

type Allowed = Extract<Route, { kind: "allow" }>;
type EventOf<T extends ConversationEvent["type"]> = Extract<ConversationEvent, { type: T }>;

export class HookConversation {
  readonly standing: Standing;
  readonly #open: OpenSeat;
  readonly #client: HookClient;
  #notes: string[] = [];

  constructor(open: OpenSeat, client: HookClient) {
    this.standing = new Standing(open, client.commandName);
    this.#open = open;
    this.#client = client;
  }

  /** Stores the facts that every hook reports. */
  arrive({ transcript }: PromptRef): void {
    const { seat } = this.#open;
    if (transcript !== null && transcript !== seat.record.transcript) seat.update({ transcript });
  }

  async stop(event: EventOf<"stopped">, signal: AbortSignal): Promise<ConversationAnswer> {
    const { seat, engine, store } = this.#open;
    await this.#takeStop(event);
    await store.catchUp();
    await this.price();
    const isFree = this.#route().kind !== "go-on" || (await engine.lead());
    const route = this.#route(isFree ? null : (this.standing.otherOwner() ?? "another runner"));
    if (route.kind === "allow") return this.#allow(route);
    const { cap, waking } = this.#client;
    const canWake = waking.canWake();
    // if nothing can wake the conversation, use the last allowed answer too
    if (nearCap(seat.record.blocks - (canWake ? 0 : 1), cap)) {
      this.rest();
      const when = canWake ? "in a moment" : "after your next message";
      return tell(
        `[LOOP] ${route.loop} goes on ${when}: the client stops after ${cap} answers without a tool call.`,
      );
    }
    return this.#goOn(event, signal);
  }

  /** Waits for the next turn. If none comes, the answer says why. */
  async #goOn({ promptId }: PromptRef, signal: AbortSignal): Promise<ConversationAnswer> {
    const { seat } = this.#open;
    const { waking, cap } = this.#client;
    const offered = await this.offer(promptId, signal);
    if (offered === null) {
      if (signal.aborted) await this.standing.interrupt();
      return this.#allow(this.#whyStanding());
    }
    const { blocks } = seat.record;
    seat.update({ blocks: blocks + 1 });
    // nothing can wake this conversation again: only a tool call resets the client's count
    const text = waking.canWake() ? offered : askForTool(offered, blocks, cap);
    return { kind: "context", text };
  }

  /** Why no turn follows. */
  #whyStanding(): Allowed {
    const route = this.#route(this.standing.otherOwner());
    return route.kind === "allow" ? route : { kind: "allow", row: "gone", word: null, message: null };
  }

  /** The text of the next turn; null: no turn comes now. */
  offer(promptId: string, signal: AbortSignal): Promise<string | null> {
    const offered = this.#open.seat.offer(promptId, signal);
    this.settleOffer();
    return offered;
  }

  /** Called at every change: a hook must not wait for a loop that rests. */
  settleOffer(): void {
    const { seat, store, now } = this.#open;
    if (!seat.isWaiting || hasFire(store, this.standing.owner, now())) return;
    const loop = this.standing.bound();
    if (loop === undefined || isResting(loop, now())) seat.withdrawOffer();
  }

  /** The turn ended with an error of the client. */
  async stopFailure({ promptId, failure }: EventOf<"failed">): Promise<ConversationAnswer> {
    const { seat } = this.#open;
    if (seat.running?.promptId === promptId) seat.end({ kind: "failed", answer: "", failure });
    else if (seat.running !== null) await this.standing.interrupt();
    this.rest();
    return NOTHING;
  }

  /** A prompt that is not a loop command: the person wrote to the agent, or a wake-up arrived. */
  async submit(event: EventOf<"prompted">, signal: AbortSignal): Promise<ConversationAnswer> {
    const { seat } = this.#open;
    const { wake } = event;
    const { promptId, state } = seat.record;
    const isRunning = state === "busy" && promptId === event.promptId && promptId !== "";
    // the wake-up arrived during a running turn; it is sent again after that turn
    if (wake !== null && isRunning) return NOTHING;
    if (wake !== null) return this.#woken(event, this.#client.waking.isPending(wake), signal);
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
    const { running } = this.#open.seat;
    const isStopped = running !== null && running.promptId !== prompt.promptId;
    const paused = isStopped ? await this.#interrupt() : null;
    this.#start(prompt);
    return paused;
  }

  #start({ promptId, transcript }: PromptRef): void {
    const { seat } = this.#open;
    seat.update({
      state: "busy",
      promptId,
      isSomeoneWaiting: false,
      taken: 0,
      blocks: 0,
      offset: this.#client.record.offsetOf(seat.record, transcript),
    });
  }

  /** A prompt was answered here and did not reach the model. */
  rest(): void {
    this.#open.seat.update({ state: "idle", isSomeoneWaiting: false, blocks: 0 });
  }

  /** The client reports that it is idle: the running turn was stopped or has ended. */
  async idle(): Promise<void> {
    const { seat } = this.#open;
    if (seat.isWaiting) return;
    if (seat.running !== null) await this.standing.interrupt();
    this.rest();
  }

  /** The message for the person that says why no turn follows. */
  whyNot(): string | null {
    return this.#whyStanding().message;
  }

  /** Shown to the person with the next answer. The status of this conversation's goal is shown anyway. */
  note(title: string, body: string, kind: NoticeKind): void {
    if (!tellsStand(kind)) this.#notes.push(`[LOOP] ${title}: ${body}`);
  }

  /** Called before a loop command runs: the command is a prompt like any other. */
  begin(prompt: PromptRef): Promise<string | null> {
    this.arrive(prompt);
    this.#open.seat.update({ said: null });
    return this.#takePrompt(prompt);
  }

  async #woken(prompt: PromptRef, isPending: boolean, signal: AbortSignal): Promise<ConversationAnswer> {
    if (!isPending) return NOT_DUE;
    this.#start(prompt);
    this.#client.waking.settle();
    // another process of this conversation may have sent the wake-up
    const text = (await this.#open.engine.lead()) ? await this.offer(prompt.promptId, signal) : null;
    if (text !== null) return { kind: "context", text };
    this.rest();
    return NOT_DUE;
  }

  /** The decision for a stop at this moment. */
  #route(otherOwner: string | null = null): Route {
    return this.standing.route(otherOwner, this.#isSomeoneWaiting());
  }

  /** May a turn begin now? */
  readonly host: Host = {
    isFree: () => {
      const { seat } = this.#open;
      if (seat.isWaiting) {
        // the person typed while the checks ran: the person comes first
        if (!this.#isSomeoneWaiting()) return true;
        seat.withdrawOffer();
        return false;
      }
      if (seat.record.state === "busy") this.#noticeEscape();
      return seat.record.state === "idle" && this.#client.waking.canWake();
    },
  };

  /** Prices the turns that have ended. Called at every stop and shortly after it. */
  price(): Promise<void> {
    return priceTurns(this.#open, this.#client.record);
  }

  /** The conversation ended, and so did its turn. */
  end(): Promise<void> {
    return this.standing.endSession(() => this.price());
  }

  async #takeStop({ promptId, answer }: EventOf<"stopped">): Promise<void> {
    const { seat } = this.#open;
    const { running } = seat;
    if (running?.promptId === promptId) seat.end({ kind: "ok", answer, toolCalls: running.toolCalls });
    else if (running !== null) await this.standing.interrupt();
    // an unannounced prompt was waiting in the client's queue
    const { promptId: known, taken } = seat.record;
    if (known !== promptId) seat.update({ promptId, blocks: 0, taken: taken + 1 });
  }

  /** Esc fires no hook: the next hook finds an open turn, or the transcript shows the interrupt. */
  #noticeEscape(): void {
    const { seat } = this.#open;
    if (!this.#client.record.wasEscaped(seat.record)) return;
    seat.update({ state: "idle" });
    void this.standing.interrupt().catch(() => {});
  }

  /** Called regularly: due tasks wait for a task's turn to end, and no hook reports an Esc in that turn. */
  lookAgain(): void {
    const { seat, store } = this.#open;
    const { running } = seat;
    const isOfTask = running !== null && store.load(running.loopId as LoopId)?.kind === "task";
    if (!seat.isWaiting && isOfTask) this.#noticeEscape();
  }

  /** Returns a message for the person if a loop was paused. */
  async #interrupt(): Promise<string | null> {
    if (!(await this.standing.interrupt())) return null;
    const route = this.standing.route(null, false);
    return route.kind === "allow" ? route.message : null;
  }

  #allow(route: Allowed): ConversationAnswer {
    const { seat } = this.#open;
    const isNews = route.message !== null && route.message !== seat.record.said;
    if (isNews) seat.update({ said: route.message });
    // the person's queued prompt runs next: do not wake the conversation before it
    if (route.row === "a person waits") seat.update({ isSomeoneWaiting: false });
    else this.rest();
    this.#priceLater();
    const verdict = () => (route.row === "ended" ? renderVerdict(this.standing.shown()) : null);
    const news = isNews ? [route.message, verdict()] : [];
    const lines = [...this.#notes, ...news.filter((line) => line !== null)];
    this.#notes = [];
    return tell(lines.length === 0 ? null : lines.join("\n"));
  }

  /** For a conversation whose next stop is far away. */
  #priceLater(): void {
    if (this.#open.seat.record.spans.length === 0) return;
    setTimeout(() => void this.price().catch(() => {}), WRITTEN_AFTER_MS + 100).unref();
  }

  #isSomeoneWaiting(): boolean {
    return this.#client.record.isSomeoneWaiting(this.#open.seat.record);
  }
}

const NOT_DUE: ConversationAnswer = {
  kind: "local",
  text: "[LOOP] This wake-up is out of date: its turn is not due any more.",
};
