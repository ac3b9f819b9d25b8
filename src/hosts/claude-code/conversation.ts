/**
 * One conversation of Claude Code as a host of loops: its seat, the engine that acts for it, and what its hooks are
 * answered. The resident server, the monitor that stands in for it and a hook on its own all go through here, so that
 * they give the same answers.
 *
 * 1. Every hook that could carry a turn waits here until the engine has one, or until the loop stands still.
 * 2. Whatever goes wrong, the conversation is let go: a hook that throws allows the stop.
 */

import { renderLoopComplete } from "../../core/backlog/report.ts";
import { type NoticeKind, tellsStand } from "../../core/base.ts";
import { type Route, routeStop } from "../../core/stop/route.ts";
import { renderVerdictBox } from "../../core/text/goal/verdict-box.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Host } from "../../engine/parts.ts";
import type { Store } from "../../ports/store.ts";
import { ownerOf } from "../../store/folder/session-records.ts";
import {
  type Bound,
  boundable,
  boundLoop,
  boundTo,
  hasFire,
  hasTurnOfTask,
  isResting,
  pauseBound,
} from "../conversation/bound-loop.ts";
import type { Seat } from "../conversation/seat.ts";
import { askForTool, capOf, nearCap } from "./hooks/block-cap.ts";
import { type HookAnswer, NOTHING, tell } from "./hooks/hook-answer.ts";
import type { HookPayload } from "./hooks/payload.ts";
import { failureOf } from "./turn-failure.ts";
import { priceConversation, WRITTEN_AFTER_MS } from "./usage/pricing.ts";
import { isSomeoneWaiting, offsetOf, wasEscaped } from "./waiting.ts";
import { hasMonitor, type Waker, wakeIn } from "./wake.ts";

export interface ConversationParts {
  readonly dir: string;
  readonly session: string;
  readonly store: Store;
  readonly seat: Seat;
  readonly waker: Waker;
  readonly engine: Engine;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  /** What the conversation has cost so far, as the client says it. */
  readonly costUsd: () => number | null;
}

export const ESCAPED = "you stopped its turn";

export class Conversation {
  readonly #parts: ConversationParts;
  #notes: string[] = [];

  constructor(parts: ConversationParts) {
    this.#parts = parts;
  }

  get owner(): string {
    return ownerOf(this.#parts.session);
  }

  /** Notes what every hook tells. */
  arrive({ transcript }: HookPayload): void {
    const { seat } = this.#parts;
    if (transcript !== null && transcript !== seat.record.transcript) seat.update({ transcript });
  }

  async stop(payload: HookPayload, signal: AbortSignal): Promise<HookAnswer> {
    const { seat, engine, store } = this.#parts;
    await this.#takeStop(payload);
    await store.catchUp();
    await this.price();
    const first = this.route();
    const isFree = first.kind === "go-on" ? await engine.lead() : true;
    const route = isFree ? this.route() : this.route(this.#otherOwner() ?? "another runner");
    if (route.kind === "allow") return this.#allow(route);
    const cap = capOf(this.#parts.env);
    const canWake = this.#canWake();
    // what nobody can wake takes the last answer too
    if (nearCap(seat.record.blocks - (canWake ? 0 : 1), cap)) {
      this.#rest();
      const when = canWake ? "in a moment" : "after your next message";
      return tell(
        `[LOOP] ${route.loop} goes on ${when}: the client stops after ${cap} answers without a tool call.`,
      );
    }
    return this.#goOn(payload, signal);
  }

  /** The hook waits for the next turn; when none comes, why is said. */
  async #goOn(payload: HookPayload, signal: AbortSignal): Promise<HookAnswer> {
    const { seat } = this.#parts;
    const offered = await this.offer(payload.promptId, signal);
    if (offered === null) {
      if (signal.aborted) await this.#interrupt();
      return this.#allow(this.#standing());
    }
    const { blocks } = seat.record;
    seat.update({ blocks: blocks + 1 });
    // nobody could wake it again: a tool call in between is all that keeps it going
    const text = this.#canWake() ? offered : askForTool(offered, blocks, capOf(this.#parts.env));
    return { kind: "context", text };
  }

  /** Why nothing comes next. */
  #standing(): Extract<Route, { kind: "allow" }> {
    const route = this.route(this.#otherOwner());
    return route.kind === "allow" ? route : { kind: "allow", row: "gone", word: null, message: null };
  }

  /** The text of the next turn that goes to the conversation; null: none comes now. */
  async offer(promptId: string, signal: AbortSignal): Promise<string | null> {
    const { seat, engine } = this.#parts;
    const offering = seat.offer(promptId, signal);
    engine.nudge();
    this.settleOffer();
    const offered = await offering;
    return offered.kind === "turn" ? offered.text : null;
  }

  /** Called at every change: a hook must not wait for a loop that stands still. */
  settleOffer(): void {
    const { seat } = this.#parts;
    if (seat.isWaiting && this.#standsStill()) seat.withdrawOffer();
  }

  /** `null` from the model's side: its turn ended by an error of the API. */
  async stopFailure(payload: HookPayload): Promise<HookAnswer> {
    const { seat, engine } = this.#parts;
    const { turn } = seat.record;
    if (turn?.end === null && turn.promptId === payload.promptId)
      seat.end({ kind: "failed", answer: "", failure: failureOf(payload) });
    else if (turn?.end === null) await this.#interrupt();
    this.#rest();
    engine.nudge();
    return NOTHING;
  }

  /** A prompt that is not for us: the person talks, or the client woke up. */
  async submit(payload: HookPayload, signal: AbortSignal): Promise<HookAnswer> {
    const { seat, waker } = this.#parts;
    const wake = wakeIn(payload.prompt);
    const { promptId, state } = seat.record;
    const isRunning = state === "busy" && promptId === payload.promptId && promptId !== "";
    // it came into a turn that runs, and is given once more after that
    if (wake !== null && isRunning) return NOTHING;
    if (wake !== null) return this.#woken(payload, waker.isPending(wake), signal);
    if (isRunning) {
      seat.update({ isSomeoneWaiting: true });
      return NOTHING;
    }
    const paused = await this.#takePrompt(payload);
    if (paused !== null) seat.update({ said: paused });
    return tell(paused);
  }

  /** A new prompt of the person's begins. The line for them when that stopped a loop. */
  async #takePrompt({ promptId, transcript }: HookPayload): Promise<string | null> {
    const { seat } = this.#parts;
    const { turn } = seat.record;
    const paused =
      turn !== null && turn.end === null && turn.promptId !== promptId ? await this.#interrupt() : null;
    seat.update({
      state: "busy",
      promptId,
      isSomeoneWaiting: false,
      taken: 0,
      blocks: 0,
      offset: offsetOf(seat.record, transcript),
    });
    return paused;
  }

  /** A prompt that was answered here and went no further. */
  rest(): void {
    this.#rest();
    this.#parts.engine.nudge();
  }

  /** The client says that it has been idle for a while: whatever ran was stopped, or is over. */
  async idle(): Promise<void> {
    const { seat } = this.#parts;
    if (seat.isWaiting) return;
    if (seat.record.turn?.end === null) await this.#interrupt();
    this.rest();
  }

  /** Why no turn follows, for the person. */
  whyNot(): string | null {
    const route = this.route(this.#otherOwner());
    return route.kind === "allow" ? route.message : null;
  }

  /** Said to the person with the next answer. How the goal of this conversation stands is said anyway. */
  note(title: string, body: string, kind: NoticeKind): void {
    if (!tellsStand(kind)) this.#notes.push(`[LOOP] ${title}: ${body}`);
  }

  /** Before one of our own commands is carried out: it is a prompt like any other. */
  begin(payload: HookPayload): Promise<string | null> {
    this.arrive(payload);
    this.#parts.seat.update({ said: null });
    return this.#takePrompt(payload);
  }

  async #woken(payload: HookPayload, isPending: boolean, signal: AbortSignal): Promise<HookAnswer> {
    const { seat, waker } = this.#parts;
    if (!isPending) return { kind: "local", text: "[LOOP] What this wake-up was for is not due any more." };
    seat.update({
      state: "busy",
      promptId: payload.promptId,
      isSomeoneWaiting: false,
      taken: 0,
      blocks: 0,
      offset: offsetOf(seat.record, payload.transcript),
    });
    waker.settle();
    // the process that woke it may be another one of this conversation
    const text = (await this.#parts.engine.lead()) ? await this.offer(payload.promptId, signal) : null;
    if (text !== null) return { kind: "context", text };
    this.rest();
    return { kind: "local", text: "[LOOP] What this wake-up was for is not due any more." };
  }

  /** What would become of a stop now. */
  route(otherOwner: string | null = null, isWaitedFor = isSomeoneWaiting(this.#parts.seat.record)): Route {
    const { session, store, now, env } = this.#parts;
    return routeStop({
      session,
      now: now(),
      broken: null,
      off: env.LOOP_DISABLE_SCHEDULER === "1" ? "LOOP_DISABLE_SCHEDULER=1 turns loops off here" : null,
      loop: boundLoop(boundable(store), ownerOf(session), session),
      otherOwner,
      isSomeoneWaiting: isWaitedFor,
    });
  }

  /** The loop of this conversation that has not ended. */
  bound(): Bound | undefined {
    return boundable(this.#parts.store).findLast(
      ({ session, status }) => session === this.owner && status !== "ended",
    );
  }

  /** May a turn begin now? */
  readonly host: Host = {
    isFree: () => {
      const { seat } = this.#parts;
      if (seat.isWaiting) {
        // typed while the checks ran: the person comes first
        if (!isSomeoneWaiting(seat.record)) return true;
        seat.withdrawOffer();
        return false;
      }
      if (seat.record.state === "busy") this.#noticeEscape();
      return seat.record.state === "idle" && this.#canWake();
    },
  };

  /** Prices the turns whose time is over; asked at every stop, and some moments after it. */
  price(): Promise<void> {
    return priceConversation(this.#parts);
  }

  /** Ends what the stop ends. */
  async #takeStop(payload: HookPayload): Promise<void> {
    const { seat } = this.#parts;
    const { turn } = seat.record;
    if (turn?.end === null) {
      if (turn.promptId === payload.promptId)
        seat.end({ kind: "ok", answer: payload.answer, toolCalls: turn.toolCalls });
      else await this.#interrupt();
    }
    // a prompt that nobody announced was waiting in the queue
    const { promptId, taken } = seat.record;
    if (promptId !== payload.promptId)
      seat.update({ promptId: payload.promptId, blocks: 0, taken: taken + 1 });
  }

  /** Esc fires no hook: the next one to come finds the turn unended, or the transcript tells. */
  #noticeEscape(): void {
    const { seat } = this.#parts;
    if (!wasEscaped(seat.record)) return;
    seat.update({ state: "idle" });
    void this.#interrupt().catch(() => {});
  }

  /** Asked now and then: all that is due waits for the end of a task's turn, and no hook tells of an Esc in it. */
  lookAgain(): void {
    const { seat, store } = this.#parts;
    if (!seat.isWaiting && hasTurnOfTask(store, seat.record)) this.#noticeEscape();
  }

  /** Obeyed at once: the goal pauses until the person says otherwise. */
  async #interrupt(): Promise<string | null> {
    const { seat, store, now, engine } = this.#parts;
    const loop = this.bound();
    let message: string | null = null;
    if (loop?.status === "active") {
      await pauseBound(store, loop, ESCAPED, now());
      const route = this.route(null, false);
      message = route.kind === "allow" ? route.message : null;
    }
    seat.end({ kind: "interrupted", reason: ESCAPED });
    engine.nudge();
    return message;
  }

  #allow(route: Extract<Route, { kind: "allow" }>): HookAnswer {
    const { seat } = this.#parts;
    const isNews = route.message !== null && route.message !== seat.record.said;
    if (isNews) seat.update({ said: route.message });
    // what the person typed comes now: nothing of ours may wake the conversation before it
    if (route.row === "a person waits") seat.update({ isSomeoneWaiting: false });
    else this.rest();
    this.#priceLater();
    const news = isNews ? [route.message, this.#verdict(route)] : [];
    const lines = [...this.#notes, ...news.filter((line) => line !== null)];
    this.#notes = [];
    return tell(lines.length === 0 ? null : lines.join("\n"));
  }

  #verdict({ row }: Route): string | null {
    const loop = row === "ended" ? boundTo(boundable(this.#parts.store), this.owner) : undefined;
    if (loop?.kind === "backlog") return renderLoopComplete(loop.iteration, loop.stories);
    return loop?.end?.status === "done" ? renderVerdictBox(loop) : null;
  }

  #otherOwner(): string | null {
    const owner = this.#parts.store.lease()?.owner ?? null;
    return owner === this.owner ? null : owner;
  }

  /** For a conversation that is not stopped again soon. */
  #priceLater(): void {
    if (this.#parts.seat.record.spans.length === 0) return;
    setTimeout(() => void this.price().catch(() => {}), WRITTEN_AFTER_MS + 100).unref();
  }

  #rest(): void {
    this.#parts.seat.update({ state: "idle", isSomeoneWaiting: false, blocks: 0 });
  }

  #canWake(): boolean {
    const { dir, seat } = this.#parts;
    return hasMonitor(dir, seat.record.client.pid);
  }

  #standsStill(): boolean {
    const loop = this.bound();
    const { store, now } = this.#parts;
    return !hasFire(store, this.owner, now()) && (loop === undefined || isResting(loop, now()));
  }
}
