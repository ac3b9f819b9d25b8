/**
 * One conversation of pi as a host of loops: when a turn may start, how it ends, and what the person sees. It runs in
 * pi's own process. The engine decides about loops.
 *
 * 1. We send a message only when pi is free. The conversation has at most one loop turn.
 * 2. The person comes first: a stopped loop pauses, and typed input is waited for.
 */
import { dirname } from "node:path";
import { makeFailure } from "../../agents/process/reasons.ts";
import { isBusy } from "../../core/loop.ts";
import type { Host } from "../../engine/parts.ts";
import type { SeatEnd } from "../../ports/sessions.ts";
import { isResting } from "../conversation/bound-loop.ts";
import type { OpenSeat } from "../conversation/open-seat.ts";
import { resumeAnswer } from "../conversation/resume.ts";
import { renderVerdict, Standing } from "../conversation/standing.ts";
import { PI_COMMAND_NAME } from "./command-name.ts";
import { keepAnswers } from "./ledger.ts";
import { readRetries } from "./runs/retries.ts";
import type { RunEnd } from "./runs/run-end.ts";
import { Runs } from "./runs/runs.ts";
import { piFailureOf } from "./runs/turn-failure.ts";
import type { Terminal } from "./terminal.ts";

/** From a message to the start of its run, not counting a compaction in between. */
const STARTED_WITHIN_MS = 15_000;

export class PiConversation {
  readonly standing: Standing;
  readonly #open: OpenSeat;
  readonly #terminal: Terminal;
  readonly #runs: Runs;
  readonly #waiting = new Set<() => void>();
  /** The current or next run is a loop turn that was cancelled. */
  #isStopping = false;
  #sentAt: number | null = null;
  #wasFree = false;

  constructor(open: OpenSeat, terminal: Terminal) {
    this.standing = new Standing(open, PI_COMMAND_NAME);
    this.#open = open;
    this.#terminal = terminal;
    const { dir, env, now } = open;
    this.#runs = new Runs({
      now,
      isIdle: () => terminal.isIdle(now()),
      retries: () => readRetries(dirname(dir), env),
      onSettled: (end) => void this.#settled(end).catch(terminal.complain),
    });
  }

  /** May a turn begin now? */
  readonly host: Host = {
    isFree: () => {
      return this.#sentAt === null && !this.#runs.isUnderWay && this.#terminal.isFree(this.#open.now());
    },
  };

  /** Resolves with false if the signal came first. */
  whenFree(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const look = () => {
        if (!signal.aborted && !this.host.isFree()) return;
        this.#waiting.delete(look);
        signal.removeEventListener("abort", look);
        resolve(!signal.aborted);
      };
      this.#waiting.add(look);
      signal.addEventListener("abort", look);
      look();
    });
  }

  /** false: the conversation has ended. */
  send(text: string): boolean {
    this.#isStopping = false;
    const isSent = this.#terminal.send(text);
    this.#sentAt = isSent ? this.#open.now() : null;
    return isSent;
  }

  /** Cancels the loop's turn. */
  stop(): void {
    this.#isStopping = this.#sentAt !== null || this.#runs.isUnderWay;
    if (this.#isStopping) this.#terminal.abort();
  }

  started(): void {
    // the turn was cancelled before its run started
    if (this.#isStopping && this.#sentAt !== null) setImmediate(() => this.#terminal.abort());
    this.#sentAt = null;
    this.#runs.start();
    this.#open.seat.update({ state: "busy" });
  }

  ended(messages: readonly unknown[]): void {
    const { dir, session, seat } = this.#open;
    const loopId = seat.running?.loopId ?? null;
    this.#runs.end(messages);
    // a failing ledger must not prevent the end of the turn
    try {
      keepAnswers(dir, session, loopId, messages);
    } catch (error) {
      this.#terminal.complain(error);
    }
  }

  settled(): void {
    this.#runs.settle();
  }

  /** Called several times a second: pi does not report an empty input box or a lost message. */
  look(): void {
    const { engine, seat, now } = this.#open;
    const isLate = this.#sentAt !== null && now() - this.#sentAt > STARTED_WITHIN_MS;
    if (isLate && !this.#terminal.isCompacting(now())) {
      this.#sentAt = null;
      this.#isStopping = false;
      seat.end({ kind: "failed", answer: "", failure: piFailureOf("pi did not accept the prompt") });
    }
    const isFree = this.host.isFree();
    if (isFree && !this.#wasFree) engine.nudge();
    this.#wasFree = isFree;
    if (isFree) for (const look of [...this.#waiting]) look();
  }

  /** The person pressed Esc. pi itself stops a streaming run and reports its end. */
  escaped(): void {
    if (this.#runs.cut() || this.#runs.isUnderWay || this.#terminal.isTyping(this.#open.now())) return;
    const loop = this.standing.bound();
    if (loop?.status === "active" && isBusy(loop)) void this.#interrupt().catch(this.#terminal.complain);
  }

  /** After a compaction the agent may have forgotten its work. */
  compacted(): void {
    const loop = this.standing.bound();
    if (loop?.kind !== "goal") return;
    const turnId = this.#open.seat.running?.id ?? null;
    const answer = resumeAnswer({ goal: loop, loops: [], turnId, commandName: PI_COMMAND_NAME });
    if (answer.kind === "context") this.#terminal.remind(answer.text);
  }

  /** Shows the status of this conversation's loop once when it pauses or ends. */
  sayNews(): void {
    const { seat, now } = this.#open;
    const loop = this.standing.shown();
    if (loop === undefined || !isResting(loop, now())) return;
    const route = this.standing.route(null, false);
    if (route.kind !== "allow" || route.message === null || route.message === seat.record.said) return;
    seat.update({ said: route.message });
    const verdict = renderVerdict(loop);
    const text = verdict === null ? route.message : `${route.message}\n${verdict}`;
    this.#terminal.say(text, route.word === "LOOP_DONE" ? "info" : "warning");
  }

  /** Why no turn follows the typed command; null: a turn follows, or the reason was shown. */
  whyNot(): string | null {
    const route = this.standing.route(this.standing.otherOwner(), false);
    if (route.kind !== "allow" || route.message === null) return null;
    this.#open.seat.update({ said: route.message });
    return route.message;
  }

  async endSession(): Promise<void> {
    this.#runs.close();
    await this.standing.endSession();
  }

  close(): void {
    this.#runs.close();
  }

  async #settled(end: RunEnd | null): Promise<void> {
    const { seat, engine } = this.#open;
    const isStopped = this.#isStopping;
    this.#isStopping = false;
    if (end?.kind === "aborted" && !isStopped) await this.#interrupt();
    // does nothing for a run that the person started
    else seat.end(seatEndOf(end));
    if (!this.#runs.isUnderWay) seat.update({ state: "idle", spans: [] });
    engine.nudge();
  }

  async #interrupt(): Promise<void> {
    await this.standing.interrupt();
    this.sayNews();
  }
}

function seatEndOf(end: RunEnd | null): SeatEnd {
  if (end === null) return { kind: "failed", answer: "", failure: piFailureOf("the agent said nothing") };
  const { answer, toolCalls, edits, usage } = end;
  const used = { edits, ...(usage === null ? {} : { usage }) };
  if (end.kind === "error") return { kind: "failed", answer, failure: piFailureOf(end.error), ...used };
  if (end.kind === "length") return { kind: "failed", answer, failure: TOO_LONG, ...used };
  return { kind: "ok", answer, toolCalls, ...used };
}

const TOO_LONG = makeFailure("timeout", "pi: the answer was too long");
