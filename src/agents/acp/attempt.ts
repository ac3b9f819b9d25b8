/**
 * One turn with one agent, from the search for a warm one to the end that is written down. What has to outlive the
 * runner is in files (turn-files.ts).
 *
 * 1. The prompt goes out once, after the ticket was taken.
 * 2. What stops a turn stops all that the agent started: it is told, and its group is ended after a grace.
 * 3. Nothing here throws for what an agent, the disk or the system does.
 */
import type { Failure } from "../../core/goal/goal.ts";
import type { PermissionRules } from "../../core/permissions.ts";
import type { Conversation, ToolServer, Turn, TurnControl, TurnEnd } from "../../ports/agent.ts";
import { writeAtomic } from "../../system/files.ts";
import { failedEnd, makeFailure, refusedEnd } from "../process/reasons.ts";
import { promptFile } from "../process/run-folder.ts";
import { PeerGone } from "./connection/peer.ts";
import type { Pool, Seat } from "./connection/pool.ts";
import { openSession, type Session, type SessionStart, settle, UnknownModel } from "./connection/session.ts";
import { endStrays, membersOf } from "./connection/strays.ts";
import { type Cause, failureOfError, failureOfResult, needsStatus, withCause } from "./failures/failure.ts";
import type { AcpProfile } from "./profiles.ts";
import { Flood, type PromptLimits, promptText, Silence, sendPrompt } from "./prompt.ts";
import { createRecord } from "./record.ts";
import { openEventLog, takeTicket, writeEnd, writeMarks } from "./turn-files.ts";
import { readUsage } from "./usage.ts";

export interface AttemptSettings extends PromptLimits {
  readonly profile: AcpProfile;
  readonly projectDir: string;
  readonly permissions: PermissionRules;
  readonly toolServer: ToolServer | null;
  /** For what an agent does before it can take a prompt: opening a conversation. */
  readonly startMs: number;
  /** For what it answers at once. */
  readonly answerMs: number;
  /** From the word to stop to the end of the group. */
  readonly cancelGraceMs: number;
  readonly killGraceMs: number;
  /** The HTTP status behind an error of this session; null: not to be had. */
  readonly readStatus: (sessionId: string, signal: AbortSignal) => Promise<number | null>;
  /** What is behind an error that was told with these words; null: not to be had. */
  readonly readCause: (sessionId: string, words: string) => Promise<Cause | null>;
}

export interface Attempt {
  /** Rejects only with what `onStarted` threw. */
  readonly end: Promise<TurnEnd>;
  /** `failure`: why it is stopped; null: somebody wants it so. Must not reject. */
  stop(failure: Failure | null): Promise<TurnEnd>;
  /** Another owner has the turn: the agent is let be, and is not used again. */
  abandon(): void;
}

interface Ready extends SessionStart {
  readonly seat: Seat;
}

type Partly = Extract<TurnEnd, { kind: "ok" }>;

export function startAttempt(
  settings: AttemptSettings,
  pool: Pool,
  turn: Turn,
  control: TurnControl,
  folder: string,
): Attempt {
  const { profile, projectDir } = settings;
  const record = createRecord(projectDir);
  const stopping = new AbortController();
  /** Who is being asked, from the first question on. */
  let taken: Seat | null = null;
  let ready: Ready | null = null;
  let isAbandoned = false;

  async function run(): Promise<TurnEnd> {
    let now: Ready;
    try {
      now = await makeReady();
    } catch (error) {
      if (stopping.signal.aborted) return { kind: "cancelled" };
      return startFailed(profile, error);
    }
    const { seat } = now;
    const text = promptText(turn, now.isFresh);
    const refusal = claimTurn(seat, text);
    if (refusal !== null) {
      await pool.give(seat, turn);
      return refusal;
    }
    try {
      control.onStarted(seat.peer.process.ref);
    } catch (error) {
      await pool.drop(seat);
      throw error;
    }
    ready = now;
    return finish(seat, await prompt(now, text));
  }

  /** An agent that died while it was idle is found out by the first thing that it is asked. */
  async function makeReady(): Promise<Ready> {
    for (;;) {
      const seat = await pool.take(turn, stopping.signal);
      taken = seat;
      try {
        const start = await startSession(seat);
        await settle(seat.peer, profile, start.session, turn, settings.answerMs);
        stopping.signal.throwIfAborted();
        return { ...start, seat };
      } catch (error) {
        if (error instanceof UnknownModel) await pool.give(seat, turn);
        else await pool.drop(seat);
        if (!(error instanceof PeerGone && seat.isUsed) || stopping.signal.aborted) throw error;
      }
    }
  }

  async function startSession(seat: Seat): Promise<SessionStart> {
    const { conversation } = turn;
    const known = seat.sessions.get(conversation?.id ?? "");
    if (known !== undefined) {
      // the one that was used last is the last
      seat.sessions.delete(known.id);
      seat.sessions.set(known.id, known);
      return { session: known, isFresh: false };
    }
    seat.members = null;
    const { toolServer, startMs } = settings;
    const start = await openSession(seat.peer, profile, projectDir, conversation, toolServer, startMs);
    seat.sessions.set(start.session.id, start.session);
    return start;
  }

  /** null: the turn is ours. */
  function claimTurn(seat: Seat, text: string): TurnEnd | null {
    const { ref, tree } = seat.peer.process;
    try {
      if (text !== turn.text) writeAtomic(promptFile(folder), text, false);
      if (turn.leavesNothing) seat.members ??= membersOf(tree);
      if (stopping.signal.aborted) return { kind: "cancelled" };
      const refusal = takeTicket(folder, turn.token, ref);
      if (refusal !== null) return failedEnd("fault", refusal);
      writeMarks(folder, turn.token, tree.marks);
      return null;
    } catch (error) {
      return refusedEnd("the run folder could not be written to", error);
    }
  }

  async function prompt({ seat, session }: Ready, text: string): Promise<TurnEnd> {
    const log = openEventLog(folder);
    seat.peer.process.clearStderr();
    const rules = settings.permissions;
    const asking = { profile, projectDir, rules, turn, control, record, hasTools: session.access !== null };
    try {
      const { signal } = stopping;
      const result = await sendPrompt(seat.peer, session, text, asking, log, settings, signal);
      const model = session.model?.current ?? null;
      const { usage, totals } = readUsage(profile, record, result, session.totals, model);
      session.totals = totals;
      const hasUsage = usage !== null && usage.outputTokens !== 0;
      const failure = await explain(failureOfResult(profile, result, record, hasUsage), session);
      const end = { ...partly(session), usage };
      return failure === null ? end : { ...end, kind: "failed", failure };
    } catch (error) {
      const end = partly(session);
      session.totals = { ...session.totals, costUsd: end.conversation?.costUsd ?? null };
      return { ...end, kind: "failed", failure: await failureOf(error, seat, session) };
    } finally {
      log.close();
    }
  }

  async function explain(failure: Failure | null, session: Session): Promise<Failure | null> {
    if (failure?.class !== "outage") return failure;
    const cause = await settings.readCause(session.id, record.lastChunk());
    return cause === null ? failure : withCause(failure, cause);
  }

  async function failureOf(error: unknown, seat: Seat, session: Session): Promise<Failure> {
    if (error instanceof Flood || error instanceof Silence) {
      await halt(seat, session, Promise.resolve());
      const type = error instanceof Flood ? "fault" : "outage";
      return makeFailure(type, `${profile.name}: ${error.message}`);
    }
    const failure = failureOfError(profile, error, record);
    if (!needsStatus(failure, error) || stopping.signal.aborted) return failure;
    const status = await settings.readStatus(session.id, stopping.signal);
    return status === null ? failure : failureOfError(profile, error, record, status);
  }

  async function finish(seat: Seat, end: TurnEnd): Promise<TurnEnd> {
    // what stops the turn ends the agent too, and says how it ended
    if (stopping.signal.aborted) return end;
    const { process } = seat.peer;
    if (turn.leavesNothing && !seat.peer.isGone())
      await endStrays(process.tree, seat.members ?? [], settings.killGraceMs);
    writeEnd(folder, turn.token, end, process.stderr());
    if (isAbandoned) await pool.drop(seat);
    else await pool.give(seat, turn);
    return end;
  }

  /** What is known of the turn by now. */
  function partly(session: Session): Partly {
    const model = session.model?.current ?? null;
    const { usage, totals } = readUsage(profile, record, null, session.totals, model);
    const conversation: Conversation = { id: session.id, costUsd: totals.costUsd };
    return { kind: "ok", answer: record.answer(), usage, conversation, activity: record.activity() };
  }

  /** `over`: resolves when the agent has stopped by itself. */
  async function halt(seat: Seat, session: Session, over: Promise<unknown>): Promise<void> {
    seat.peer.notify("session/cancel", { sessionId: session.id });
    await within(over, settings.cancelGraceMs);
    await pool.drop(seat);
  }

  const end = run();
  return {
    end,
    async stop(failure) {
      stopping.abort();
      const over = end.then(
        () => null,
        () => null,
      );
      if (ready !== null) await halt(ready.seat, ready.session, over);
      else if (taken !== null) await pool.drop(taken);
      await over;
      const now = ready;
      const last = now === null ? null : partly(now.session);
      const stopped = stoppedEnd(last, failure);
      if (now !== null) writeEnd(folder, turn.token, stopped, now.seat.peer.process.stderr());
      return stopped;
    },
    abandon() {
      isAbandoned = true;
    },
  };
}

function stoppedEnd(last: Partly | null, failure: Failure | null): TurnEnd {
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

function within(over: Promise<unknown>, ms: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((done) => {
    timer = setTimeout(done, ms);
  });
  return Promise.race([over, late]).finally(() => clearTimeout(timer));
}
