/**
 * What an event of a client is answered. The conversation behind it is the same as that of Claude Code: a turn goes
 * out with the answer to a stop or to a prompt, and ends with the next stop.
 *
 * 1. Whatever is not plainly this conversation's own loop at work is let happen (D2): the router decides.
 * 2. A text that we sent comes back as a prompt from some clients: it is no word of the person's.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { Usage } from "../../core/base.ts";
import { priceOf } from "../../core/cost/prices.ts";
import type { JobId } from "../../core/goal/goal.ts";
import type { LoopId } from "../../core/loop.ts";
import { requestGoal } from "../../engine/goals/goals.ts";
import { readPrices } from "../../store/files/prices-file.ts";
import { FolderStore } from "../../store/folder/folder-store.ts";
import { isSessionId, ownerOf, readSessionRecord } from "../../store/folder/session-records.ts";
import { answerHook } from "../claude-code/hooks/answer-hook.ts";
import { type HookAnswer, NOTHING, tell } from "../claude-code/hooks/hook-answer.ts";
import type { HookEvent, HookPayload } from "../claude-code/hooks/payload.ts";
import type { OpenConversation } from "../claude-code/open-conversation.ts";
import { boundable, boundTo } from "../conversation/bound-loop.ts";
import { carryOut, type TypedParts } from "../conversation/typed.ts";
import { type ClientEvent, type StopClient, type Told, type TurnFacts, typedAt } from "./clients/client.ts";
import { isSent, lastSaid, rememberSaid, rememberSent } from "./conversation-notes.ts";
import { readRecord } from "./record-lines.ts";

export interface AnswerParts {
  readonly dir: string;
  /** null: there is no `.loop` in this project. */
  readonly open: () => OpenConversation | null;
  readonly typed: TypedParts;
  readonly now: () => number;
}

export async function answerClient(
  client: StopClient,
  event: ClientEvent,
  told: Told,
  parts: AnswerParts,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const { dir } = parts;
  const { session } = told;
  const typed = event === "prompt" ? typedAt(told.prompt) : null;
  if (!isSessionId(session) || (typed === null && !isConcerned(event, session, dir))) return NOTHING;
  if (event === "said") {
    rememberSaid(dir, session, told.answer ?? "");
    return NOTHING;
  }
  if (
    event === "prompt" &&
    typed === null &&
    (isSent(dir, session, told.prompt) || isSteered(client, told, dir))
  )
    return NOTHING;
  const promptId = told.promptId ?? promptIdOf(event, session, dir);
  const payload = toPayload(event, told, promptId, typed);
  if (typed !== null && !client.givesContext) return answerTyped(typed, payload, parts);
  return payload.event === "Stop"
    ? answerStop(client, told, payload, parts, signal)
    : answerHook(payload, parts, signal);
}

/** Of most conversations in a folder with loops no loop knows anything: they are left as they are, without a trace. */
function isConcerned(event: ClientEvent, session: string, dir: string): boolean {
  if (!existsSync(dir)) return false;
  if (readSessionRecord(dir, session) !== null) return true;
  // bound by hand, before anything was typed there
  const store = event === "stop" ? new FolderStore(dir, { now: Date.now, say: () => {} }) : null;
  return store !== null && boundTo(boundable(store), ownerOf(session)) !== undefined;
}

/** It reached the agent in the turn that runs: nobody waits. */
function isSteered({ steers }: StopClient, { promptId, session }: Told, dir: string): boolean {
  const record = readSessionRecord(dir, session);
  return steers && promptId !== "" && record?.state === "busy" && record.promptId === promptId;
}

/** Where the client has no names for prompts, a prompt is the one that was announced last. */
function promptIdOf(event: ClientEvent, session: string, dir: string): string {
  return event === "prompt" ? randomUUID() : (readSessionRecord(dir, session)?.promptId ?? "");
}

const EVENTS: Readonly<Record<Exclude<ClientEvent, "said">, HookEvent>> = {
  stop: "Stop",
  prompt: "UserPromptSubmit",
  start: "SessionStart",
  end: "SessionEnd",
  // whatever ran was stopped
  interrupt: "Notification",
};

function toPayload(
  event: Exclude<ClientEvent, "said">,
  told: Told,
  promptId: string,
  typed: string | null,
): HookPayload {
  const stopped = { ok: EVENTS[event], interrupted: "Notification", failed: "StopFailure" } as const;
  return {
    event: typed === null ? (event === "stop" ? stopped[told.end] : EVENTS[event]) : "UserPromptExpansion",
    session: told.session,
    promptId,
    cwd: told.cwd,
    prompt: typed === null ? told.prompt : `/loopwright ${typed}`,
    answer: told.answer ?? "",
    source: told.source,
    error: told.end === "failed" ? "unknown" : "",
    ...{ transcript: null, agentId: "", errorDetails: "", tool: "", toolUseId: "" },
    ...{ toolInput: null, toolResponse: null, durationMs: null },
  };
}

async function answerStop(
  client: StopClient,
  told: Told,
  payload: HookPayload,
  parts: AnswerParts,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const { dir } = parts;
  const { session } = told;
  const open = parts.open();
  if (open === null) return NOTHING;
  const facts = factsOf(client, told);
  const { turn } = open.seat.record;
  if (turn?.end === null && facts !== null && facts.toolCalls > 0)
    open.seat.update({ turn: { ...turn, toolCalls: turn.toolCalls + facts.toolCalls } });
  const isLast = client.cap > 0 && open.seat.record.blocks >= client.cap;
  // nothing that it were answered would reach the agent: what comes next waits for the person
  if (isLast) open.seat.update({ isSomeoneWaiting: true });
  const said = facts?.answer ?? told.answer ?? lastSaid(dir, session) ?? "";
  const answer = await answerHook({ ...payload, answer: said }, parts, signal);
  if (turn?.end === null && facts?.usage)
    await price(open, turn.id, turn.loopId, priced(facts.usage, dir, parts), parts.now());
  // before the client can announce it
  if (answer.kind === "context") rememberSent(dir, session, answer.text);
  return isLast && answer.kind === "nothing" ? tell(whyNow(client, open)) : answer;
}

function whyNow({ title, cap }: StopClient, { conversation }: OpenConversation): string | null {
  const loop = conversation.bound();
  if (loop?.status !== "active") return null;
  return `[LOOP] ${loop.id} goes on after your next message: ${title} lets a loop answer ${cap} stops in a row.`;
}

function factsOf({ readTurn }: StopClient, told: Told): TurnFacts | null {
  if (told.facts !== null || readTurn === null || told.transcript === null) return told.facts;
  const lines = readRecord(told.transcript);
  return lines.length === 0 ? null : readTurn(lines, told);
}

function priced(usage: Usage, dir: string, { typed }: AnswerParts): Usage {
  if (usage.costUsd !== null || usage.model === undefined) return usage;
  const found = priceOf(usage, usage.model, readPrices({ dir }, typed.env));
  return found === null
    ? usage
    : { ...usage, costUsd: found.costUsd, costFrom: "prices", pricesDate: found.from.date };
}

async function price(
  { store }: OpenConversation,
  jobId: string,
  loopId: string,
  usage: Usage,
  now: number,
): Promise<void> {
  const loop = store.load(loopId as LoopId);
  if (loop?.kind === "goal")
    await requestGoal(store, loop, { type: "job.priced", jobId: jobId as JobId, usage }, now);
}

/** The model cannot be told anything with the answer: the loop's first turn comes with the stop of this prompt. */
async function answerTyped(typed: string, payload: HookPayload, parts: AnswerParts): Promise<HookAnswer> {
  await parts.open()?.conversation.begin(payload);
  const carried = await carryOut(typed, { ...parts.typed, session: payload.session });
  const open = parts.open();
  if (open === null) return { kind: "local", text: carried.text };
  const { conversation, store } = open;
  await conversation.begin(payload);
  await store.catchUp();
  if (carried.mayGoOn && conversation.bound()?.status === "active") return NOTHING;
  conversation.rest();
  return { kind: "local", text: carried.text };
}
