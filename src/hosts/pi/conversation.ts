/**
 * One conversation of pi as a host of loops: when a turn may start, how it ends, and what the person sees. It runs in
 * pi's own process. The engine decides about loops.
 *
 * 1. We send a message only when pi is free. The conversation has at most one loop turn.
 * 2. The person comes first: a stopped loop pauses, and typed input is waited for.
 */
import { makeFailure } from "../../agents/process/reasons.ts";
import { isBusy } from "../../core/loop.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Host } from "../../engine/parts.ts";
import type { SeatEnd } from "../../ports/sessions.ts";
import type { Store } from "../../ports/store.ts";
import { type Bound, isResting } from "../conversation/bound-loop.ts";
import { resumeAnswer } from "../conversation/resume.ts";
import type { Seat } from "../conversation/seat.ts";
import { renderVerdict, Standing } from "../conversation/standing.ts";
import { PI_COMMAND_NAME } from "./command-name.ts";
import { keepAnswers } from "./ledger.ts";
import { readRetries } from "./runs/retries.ts";
import type { RunEnd } from "./runs/run-end.ts";
import { Runs } from "./runs/runs.ts";
import { piFailureOf } from "./runs/turn-failure.ts";
import type { Terminal } from "./terminal.ts";

interface PiConversationParts {
  readonly dir: string;
  readonly root: string;
  readonly session: string;
  readonly store: Store;
  readonly seat: Seat;
  readonly engine: Engine;
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
}

/** From a message to the start of its run, not counting a compaction in between. */
const STARTED_WITHIN_MS = 15_000;

export class PiConversation {
  readonly #parts: PiConversationParts;
  readonly #standing: Standing;
  readonly #runs: Runs;
  readonly #waiting = new Set<() => void>();
  /** The current or next run is a loop turn that was cancelled. */
  #isStopping = false;
  #sentAt: number | null = null;
  #wasFree = false;

  constructor(parts: PiConversationParts) {
    this.#parts = parts;
    this.#standing = new Standing({ ...parts, commandName: PI_COMMAND_NAME });
    const { terminal, root, env, now } = parts;
    this.#runs = new Runs({
      now,
      isIdle: () => terminal.isIdle(now()),
      retries: () => readRetries(root, env),
      onSettled: (end) => void this.#settled(end).catch(terminal.complain),
    });
  }

  get owner(): string {
    return this.#standing.owner;
  }

  /** May a turn begin now? */
  readonly host: Host = {
    isFree: () => {
      const { terminal, now } = this.#parts;
      return this.#sentAt === null && !this.#runs.isUnderWay && terminal.isFree(now());
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

  send(text: string): boolean {
    const { terminal, now } = this.#parts;
    this.#isStopping = false;
    const isSent = terminal.send(text);
    this.#sentAt = isSent ? now() : null;
    return isSent;
  }

  /** Cancels the loop's turn. */
  stop(): void {
    this.#isStopping = this.#sentAt !== null || this.#runs.isUnderWay;
    if (this.#isStopping) this.#parts.terminal.abort();
  }

  started(): void {
    const { seat, terminal } = this.#parts;
    // the turn was cancelled before its run started
    if (this.#isStopping && this.#sentAt !== null) setImmediate(() => terminal.abort());
    this.#sentAt = null;
    this.#runs.start();
    seat.update({ state: "busy" });
  }

  ended(messages: readonly unknown[]): void {
    const { dir, session, seat, terminal } = this.#parts;
    const { turn } = seat.record;
    this.#runs.end(messages);
    // a failing ledger must not prevent the end of the turn
    try {
      keepAnswers(dir, session, turn?.end === null ? turn.loopId : null, messages);
    } catch (error) {
      terminal.complain(error);
    }
  }

  settled(): void {
    this.#runs.settle();
  }

  /** Called several times a second: pi does not report an empty input box or a lost message. */
  look(): void {
    const { terminal, engine, seat, now } = this.#parts;
    if (this.#sentAt !== null && now() - this.#sentAt > STARTED_WITHIN_MS && !terminal.isCompacting(now())) {
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
    const { terminal, now } = this.#parts;
    if (this.#runs.cut() || this.#runs.isUnderWay || terminal.isTyping(now())) return;
    const loop = this.bound();
    if (loop?.status === "active" && isBusy(loop)) void this.#interrupt().catch(terminal.complain);
  }

  /** After a compaction the agent may have forgotten its work. */
  compacted(): void {
    const { seat, terminal } = this.#parts;
    const loop = this.bound();
    if (loop?.kind !== "goal") return;
    const { turn } = seat.record;
    const turnId = turn?.end === null ? turn.id : null;
    const answer = resumeAnswer({ goal: loop, loops: [], turnId, commandName: PI_COMMAND_NAME });
    if (answer.kind === "context") terminal.remind(answer.text);
  }

  /** The loop of this conversation that has not ended. */
  bound(): Bound | undefined {
    return this.#standing.bound();
  }

  /** Shows the status of this conversation's loop once when it pauses or ends. */
  sayNews(): void {
    const { seat, terminal, now } = this.#parts;
    const loop = this.#standing.shown();
    if (loop === undefined || !isResting(loop, now())) return;
    const route = this.#standing.route(null, false);
    if (route.kind !== "allow" || route.message === null || route.message === seat.record.said) return;
    seat.update({ said: route.message });
    const verdict = renderVerdict(loop);
    const text = verdict === null ? route.message : `${route.message}\n${verdict}`;
    terminal.say(text, route.word === "LOOP_DONE" ? "info" : "warning");
  }

  /** Why no turn follows the typed command; null: a turn follows, or the reason was shown. */
  whyNot(): string | null {
    const route = this.#standing.route(this.#standing.otherOwner(), false);
    if (route.kind !== "allow" || route.message === null) return null;
    this.#parts.seat.update({ said: route.message });
    return route.message;
  }

  async endSession(): Promise<void> {
    this.#runs.close();
    await this.#standing.endSession();
  }

  close(): void {
    this.#runs.close();
  }

  async #settled(end: RunEnd | null): Promise<void> {
    const { seat, engine } = this.#parts;
    const isStopped = this.#isStopping;
    this.#isStopping = false;
    if (end?.kind === "aborted" && !isStopped) await this.#interrupt();
    // does nothing for a run that the person started
    else seat.end(seatEndOf(end));
    if (!this.#runs.isUnderWay) seat.update({ state: "idle", spans: [] });
    engine.nudge();
  }

  async #interrupt(): Promise<void> {
    await this.#standing.interrupt();
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
