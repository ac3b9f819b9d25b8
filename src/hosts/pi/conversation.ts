/**
 * One conversation of pi as a host of loops: when a turn may begin in it, how the turn that runs there ends, and what
 * the person is told. All of it in pi's own process; the engine decides what happens to loops.
 *
 * 1. A message of ours is sent only when pi is free. At most one turn of ours is in the conversation.
 * 2. The person comes first: what they stop is paused, what they type is waited for.
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

export interface PiConversationParts {
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

/** From a message to the start of its run. A compaction that comes before it is waited for. */
const STARTED_WITHIN_MS = 15_000;

export class PiConversation {
  readonly #parts: PiConversationParts;
  readonly #standing: Standing;
  readonly #runs: Runs;
  readonly #waiting = new Set<() => void>();
  /** The run that is under way, or about to begin, is a turn of ours that is not wanted any more. */
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
      onSettled: (end) => void this.#settled(end).catch((error: unknown) => this.#complain(error)),
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

  /** Resolves with false when the signal came first. */
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

  /** Our turn is not wanted any more. */
  stop(): void {
    this.#isStopping = this.#sentAt !== null || this.#runs.isUnderWay;
    if (this.#isStopping) this.#parts.terminal.abort();
  }

  started(): void {
    const { seat, terminal } = this.#parts;
    // it was to be stopped before there was anything to stop
    if (this.#isStopping && this.#sentAt !== null) setImmediate(() => terminal.abort());
    this.#sentAt = null;
    this.#runs.start();
    seat.update({ state: "busy" });
  }

  ended(messages: readonly unknown[]): void {
    const { dir, session, seat } = this.#parts;
    const { turn } = seat.record;
    this.#runs.end(messages);
    // what cannot be written down must not keep the turn from its end
    try {
      keepAnswers(dir, session, turn?.end === null ? turn.loopId : null, messages);
    } catch (error) {
      this.#complain(error);
    }
  }

  settled(): void {
    this.#runs.settle();
  }

  /** Several times a second: nobody tells when the input box becomes empty, or that a message was not taken. */
  look(): void {
    const { terminal, engine, seat, now } = this.#parts;
    if (this.#sentAt !== null && now() - this.#sentAt > STARTED_WITHIN_MS && !terminal.isCompacting(now())) {
      this.#sentAt = null;
      this.#isStopping = false;
      seat.end({ kind: "failed", answer: "", failure: piFailureOf("pi did not take the prompt") });
    }
    const isFree = this.host.isFree();
    if (isFree && !this.#wasFree) engine.nudge();
    this.#wasFree = isFree;
    if (isFree) for (const look of [...this.#waiting]) look();
  }

  /** Esc, as the terminal sent it. A run that streams is stopped by pi, and its end tells. */
  escaped(): void {
    const { terminal, now } = this.#parts;
    if (this.#runs.cut() || this.#runs.isUnderWay || terminal.isTyping(now())) return;
    const loop = this.bound();
    if (loop?.status === "active" && isBusy(loop))
      void this.#interrupt().catch((error: unknown) => this.#complain(error));
  }

  /** The agent may have forgotten what it works on. */
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

  /** How the loop of this conversation stands, once, when it has come to rest. */
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

  /** Why no turn follows from what was typed; null: one does, or it was said. */
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
    // of a run of the person's there is no turn that it could end
    else seat.end(seatEndOf(end));
    if (!this.#runs.isUnderWay) seat.update({ state: "idle", spans: [] });
    engine.nudge();
  }

  async #interrupt(): Promise<void> {
    await this.#standing.interrupt();
    this.sayNews();
  }

  #complain(error: unknown): void {
    this.#parts.terminal.say(`[LOOP] ${error instanceof Error ? error.message : String(error)}`, "error");
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

const TOO_LONG = makeFailure("timeout", "pi: its answer grew too long");
