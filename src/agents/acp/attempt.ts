/**
 * One turn with one agent, from the search for a warm agent to the recorded end. Data that must outlive the runner is
 * in files (turn-files.ts).
 *
 * 1. The prompt is sent once, after the ticket was taken.
 * 2. Whatever stops a turn also stops everything that the agent started: first a request to stop, then the end of the
 *    process group.
 * 3. Nothing here throws because of an agent, the disk or the system.
 */
import type { Failure } from "../../core/goal/goal.ts";
import type { PermissionRules } from "../../core/permissions.ts";
import type { Conversation, ToolServer, Turn, TurnControl, TurnEnd } from "../../ports/agent.ts";
import { writeAtomic } from "../../system/files.ts";
import { failedEnd, makeFailure, refusedEnd } from "../process/reasons.ts";
import { promptFile } from "../process/run-folder.ts";
import { nameMethods } from "./connection/login.ts";
import { PeerGone } from "./connection/peer.ts";
import { within } from "./connection/peer-process.ts";
import type { Pool, PooledAgent } from "./connection/pool.ts";
import { openSession, type Session, type SessionStart, settle, UnknownModel } from "./connection/session.ts";
import { endStrays, membersOf } from "./connection/strays.ts";
import { openEventLog } from "./event-log.ts";
import { type Cause, failureOfError, failureOfResult, needsStatus, withCause } from "./failures/failure.ts";
import type { AcpProfile } from "./profiles.ts";
import { Flood, LeftMode, type PromptLimits, promptText, Silence, sendPrompt } from "./prompt.ts";
import { AcpTurnRecord } from "./record.ts";
import { takeTicket, writeEnd, writeMarks } from "./turn-files.ts";
import { readAcpUsage } from "./usage.ts";

export interface AttemptSettings extends PromptLimits {
  readonly profile: AcpProfile;
  readonly projectDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly permissions: PermissionRules;
  readonly toolServer: ToolServer | null;
  /** Limit for the start and for opening a conversation. */
  readonly startMs: number;
  /** Time between the request to stop and the end of the process group. */
  readonly cancelGraceMs: number;
  readonly killGraceMs: number;
  /** The HTTP status behind an error of this session; null: unknown. */
  readonly readStatus: (sessionId: string, signal: AbortSignal) => Promise<number | null>;
  /** The cause of an error that the agent reported with these words; null: unknown. */
  readonly readCause: (sessionId: string, words: string) => Promise<Cause | null>;
}

interface Ready extends SessionStart {
  readonly seat: PooledAgent;
}

type OkEnd = Extract<TurnEnd, { kind: "ok" }>;

export class TurnAttempt {
  /** Rejects only with the error that `onStarted` threw. */
  readonly end: Promise<TurnEnd>;
  readonly #settings: AttemptSettings;
  readonly #pool: Pool;
  readonly #turn: Turn;
  readonly #control: TurnControl;
  readonly #folder: string;
  readonly #record: AcpTurnRecord;
  readonly #stopping = new AbortController();
  /** The agent that takes the turn, set before its session is ready. */
  #taken: PooledAgent | null = null;
  #ready: Ready | null = null;
  #isAbandoned = false;

  constructor(settings: AttemptSettings, pool: Pool, turn: Turn, control: TurnControl, folder: string) {
    this.#settings = settings;
    this.#pool = pool;
    this.#turn = turn;
    this.#control = control;
    this.#folder = folder;
    this.#record = new AcpTurnRecord(settings.projectDir);
    this.end = this.#run();
  }

  /** `failure`: why the turn is stopped; null: a person stops it. Must not reject. */
  async stop(failure: Failure | null): Promise<TurnEnd> {
    this.#stopping.abort();
    const over = this.end.catch(() => null);
    if (this.#ready !== null) await this.#halt(this.#ready.seat, this.#ready.session, over);
    else if (this.#taken !== null) await this.#pool.drop(this.#taken);
    await over;
    const ready = this.#ready;
    const stopped = stoppedEnd(ready === null ? null : this.#soFar(ready.session), failure);
    if (ready !== null) writeEnd(this.#folder, this.#turn.token, stopped, ready.seat.peer.process.stderr());
    return stopped;
  }

  /** Another runner owns the turn now. The agent continues, and this runner does not use it again. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  async #run(): Promise<TurnEnd> {
    let ready: Ready;
    try {
      ready = await this.#makeReady();
    } catch (error) {
      if (this.#stopping.signal.aborted) return { kind: "cancelled" };
      return startFailed(this.#settings.profile, error);
    }
    const { seat } = ready;
    const text = promptText(this.#turn, ready.isFresh);
    const refusal = this.#claim(seat, text);
    if (refusal !== null) {
      await this.#pool.give(seat, this.#turn);
      return refusal;
    }
    try {
      this.#control.onStarted(seat.peer.process.ref);
    } catch (error) {
      await this.#pool.drop(seat);
      throw error;
    }
    this.#ready = ready;
    return this.#finish(seat, await this.#prompt(ready, text));
  }

  /** The first request shows whether an idle agent has died. */
  async #makeReady(): Promise<Ready> {
    const { profile, answerMs } = this.#settings;
    const { signal } = this.#stopping;
    for (;;) {
      const seat = await this.#pool.take(this.#turn, signal);
      this.#taken = seat;
      try {
        const start = await this.#startSession(seat);
        await settle(seat.peer, profile, start.session, this.#turn, answerMs);
        signal.throwIfAborted();
        return { ...start, seat };
      } catch (error) {
        if (error instanceof UnknownModel) await this.#pool.give(seat, this.#turn);
        else await this.#pool.drop(seat);
        if (!(error instanceof PeerGone && seat.isUsed) || signal.aborted) throw error;
      }
    }
  }

  async #startSession(seat: PooledAgent): Promise<SessionStart> {
    const { conversation } = this.#turn;
    const known = seat.sessions.get(conversation?.id ?? "");
    if (known !== undefined) {
      // most recently used last
      seat.sessions.delete(known.id);
      seat.sessions.set(known.id, known);
      return { session: known, isFresh: false };
    }
    seat.members = null;
    const { profile, projectDir, toolServer, env, startMs } = this.#settings;
    const start = await openSession(seat.peer, profile, projectDir, conversation, toolServer, env, startMs);
    seat.sessions.set(start.session.id, start.session);
    return start;
  }

  /** null: the ticket is ours. */
  #claim(seat: PooledAgent, text: string): TurnEnd | null {
    const { token } = this.#turn;
    const { ref, tree } = seat.peer.process;
    try {
      if (text !== this.#turn.text) writeAtomic(promptFile(this.#folder), text, false);
      seat.members ??= membersOf(tree);
      if (this.#stopping.signal.aborted) return { kind: "cancelled" };
      const refusal = takeTicket(this.#folder, token, ref);
      if (refusal !== null) return failedEnd("fault", refusal);
      writeMarks(this.#folder, token, tree.marks);
      return null;
    } catch (error) {
      return refusedEnd("the run folder could not be written to", error);
    }
  }

  async #prompt({ seat, session }: Ready, text: string): Promise<TurnEnd> {
    const { profile, projectDir, permissions: rules } = this.#settings;
    const record = this.#record;
    const log = openEventLog(this.#folder);
    seat.peer.process.clearStderr();
    const hasTools = session.access !== null;
    const asking = { profile, projectDir, rules, turn: this.#turn, control: this.#control, record, hasTools };
    try {
      const { signal } = this.#stopping;
      const result = await sendPrompt(seat.peer, session, text, asking, log, this.#settings, signal);
      const model = session.model?.current ?? null;
      const { usage, totals } = readAcpUsage(profile, record, result, session.totals, model);
      session.totals = totals;
      const hasUsage = usage !== null && usage.outputTokens !== 0;
      const failure = await this.#explain(failureOfResult(profile, result, record, hasUsage), session);
      const end = { ...this.#soFar(session), usage };
      return failure === null ? end : { ...end, kind: "failed", failure };
    } catch (error) {
      const end = this.#soFar(session);
      session.totals = { ...session.totals, costUsd: end.conversation?.costUsd ?? null };
      return { ...end, kind: "failed", failure: await this.#failureOf(error, seat, session) };
    } finally {
      log.close();
    }
  }

  async #explain(failure: Failure | null, session: Session): Promise<Failure | null> {
    if (failure?.class !== "outage") return failure;
    const cause = await this.#settings.readCause(session.id, this.#record.lastChunk);
    return cause === null ? failure : withCause(failure, cause);
  }

  async #failureOf(thrown: unknown, seat: PooledAgent, session: Session): Promise<Failure> {
    const error = nameMethods(thrown, seat.peer.can.logins);
    const { profile, readStatus } = this.#settings;
    const { signal } = this.#stopping;
    if (error instanceof Flood || error instanceof Silence || error instanceof LeftMode) {
      await this.#halt(seat, session, Promise.resolve());
      const type = error instanceof Silence ? "outage" : "fault";
      return makeFailure(type, `${profile.name}: ${error.message}`);
    }
    const failure = failureOfError(profile, error, this.#record);
    if (!needsStatus(failure, error) || signal.aborted) return failure;
    const status = await readStatus(session.id, signal);
    return status === null ? failure : failureOfError(profile, error, this.#record, status);
  }

  async #finish(seat: PooledAgent, end: TurnEnd): Promise<TurnEnd> {
    // `stop` ends the agent and records the end of the turn
    if (this.#stopping.signal.aborted) return end;
    const { process } = seat.peer;
    if (!seat.peer.isGone()) await endStrays(process.tree, seat.members ?? [], this.#settings.killGraceMs);
    writeEnd(this.#folder, this.#turn.token, end, process.stderr());
    if (this.#isAbandoned) await this.#pool.drop(seat);
    else await this.#pool.give(seat, this.#turn);
    return end;
  }

  /** The turn as far as it is known now. */
  #soFar(session: Session): OkEnd {
    const model = session.model?.current ?? null;
    const record = this.#record;
    const { usage, totals } = readAcpUsage(this.#settings.profile, record, null, session.totals, model);
    const conversation: Conversation = { id: session.id, costUsd: totals.costUsd };
    return { kind: "ok", answer: record.answer(), usage, conversation, activity: record.activity() };
  }

  /** `over` resolves when the agent has stopped by itself. */
  async #halt(seat: PooledAgent, session: Session, over: Promise<unknown>): Promise<void> {
    seat.peer.cancel(session.id);
    await within(over, this.#settings.cancelGraceMs);
    await this.#pool.drop(seat);
  }
}

function stoppedEnd(last: OkEnd | null, failure: Failure | null): TurnEnd {
  if (failure !== null)
    return { ...(last ?? failedEnd(failure.class, failure.reason)), kind: "failed", failure } as TurnEnd;
  return { kind: "cancelled", ...(last?.conversation == null ? {} : { conversation: last.conversation }) };
}

function startFailed(profile: AcpProfile, error: unknown): TurnEnd {
  if (error instanceof UnknownModel) return failedEnd("fault", `${profile.name}: ${error.message}`);
  const isOfSystem = typeof (error as NodeJS.ErrnoException | null)?.code === "string";
  if (isOfSystem) return refusedEnd("the agent could not be started", error);
  const { class: type, reason } = failureOfError(profile, error, null);
  return failedEnd(type, reason);
}
