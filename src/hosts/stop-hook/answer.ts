/**
 * Answers an event of a client. A turn is sent as the answer to a stop or a prompt, and ends at the next stop.
 *
 * 1. A stop is blocked only for this conversation's own active loop (D2). The router decides.
 * 2. Some clients report the text that we sent as a new prompt. The person did not type it.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { pricedUsage } from "../../agents/prices.ts";
import { openSessions, openStore } from "../../compose/open-store.ts";
import type { Usage } from "../../core/base.ts";
import { isSessionId, ownerOf } from "../../core/session.ts";
import type { SessionRecord } from "../../ports/sessions.ts";
import { readPrices } from "../../store/files/prices-file.ts";
import { type ConversationAnswer, NOTHING, tell } from "../conversation/answer.ts";
import { boundable, boundTo } from "../conversation/bound-loop.ts";
import type { ConversationEvent } from "../conversation/event.ts";
import { type AnswerContext, answerEvent } from "../conversation/hooks/answer-event.ts";
import type { OpenConversation } from "../conversation/hooks/open-hook-conversation.ts";
import { keepPrice } from "../conversation/hooks/turn-prices.ts";
import { type ClientEvent, type StopClient, type Told, type TurnFacts, typedAt } from "./clients/client.ts";
import { isSent, lastSaid, rememberSaid, rememberSent } from "./conversation-notes.ts";
import { readClientRecord } from "./record-lines.ts";
import { clientEvent } from "./to-event.ts";

export async function answerClient(
  client: StopClient,
  event: ClientEvent,
  told: Told,
  context: AnswerContext,
  signal: AbortSignal,
): Promise<ConversationAnswer> {
  const { dir } = context;
  const { session } = told;
  if (!isSessionId(session)) return NOTHING;
  const typed = event === "prompt" ? typedAt(told.prompt) : null;
  const record = openSessions(dir).read(session);
  if (typed === null && record === null && !isBoundByHand(event, session, dir)) return NOTHING;
  if (event === "said") {
    rememberSaid(dir, session, told.answer ?? "");
    return NOTHING;
  }
  const isAnnounced = () => isSent(dir, session, told.prompt) || isSteered(client, told, record);
  if (event === "prompt" && typed === null && isAnnounced()) return NOTHING;
  const promptId = told.promptId ?? promptIdOf(event, record);
  const happened = clientEvent(event, told, promptId, typed);
  return happened.type === "stopped"
    ? answerStop(client, told, happened, context, signal)
    : answerEvent(happened, context, signal);
}

/** Most conversations have no loop and get no record. But a loop may be bound to one without a typed command. */
function isBoundByHand(event: ClientEvent, session: string, dir: string): boolean {
  if (event !== "stop" || !existsSync(dir)) return false;
  const store = openStore(dir, { now: Date.now, say: () => {} });
  return boundTo(boundable(store), ownerOf(session)) !== undefined;
}

/** The prompt reached the agent in the running turn, so the person does not wait. */
function isSteered({ steers }: StopClient, { promptId }: Told, record: SessionRecord | null): boolean {
  return steers && promptId !== "" && record?.state === "busy" && record.promptId === promptId;
}

/** For clients without prompt ids: the last reported prompt is the current one. */
function promptIdOf(event: ClientEvent, record: SessionRecord | null): string {
  return event === "prompt" ? randomUUID() : (record?.promptId ?? "");
}

async function answerStop(
  client: StopClient,
  told: Told,
  stopped: Extract<ConversationEvent, { type: "stopped" }>,
  context: AnswerContext,
  signal: AbortSignal,
): Promise<ConversationAnswer> {
  const { dir } = context;
  const { session } = told;
  const open = context.open();
  if (open === null) return NOTHING;
  const facts = factsOf(client, told);
  const turn = open.seat.running;
  if (turn !== null && facts !== null && facts.toolCalls > 0)
    open.seat.update({ turn: { ...turn, toolCalls: turn.toolCalls + facts.toolCalls } });
  const isLast = client.cap > 0 && open.seat.record.blocks >= client.cap;
  // the client ignores further answers: the next turn waits for the person's next message
  if (isLast) open.seat.update({ isSomeoneWaiting: true });
  const said = facts?.answer ?? told.answer ?? lastSaid(dir, session) ?? "";
  const answer = await answerEvent({ ...stopped, answer: said }, context, signal);
  if (turn !== null && facts?.usage)
    await keepPrice(open.store, turn, priced(facts.usage, context), open.now());
  // before the client can report it
  if (answer.kind === "context") rememberSent(dir, session, answer.text);
  return isLast && answer.kind === "nothing" ? tell(whyNow(client, open)) : answer;
}

function whyNow({ title, cap }: StopClient, { conversation }: OpenConversation): string | null {
  const loop = conversation.standing.bound();
  if (loop?.status !== "active") return null;
  return `[LOOP] ${loop.id} goes on after your next message: ${title} lets a loop answer ${cap} stops in a row.`;
}

function factsOf({ readTurn }: StopClient, told: Told): TurnFacts | null {
  if (told.facts !== null || readTurn === null || told.transcript === null) return told.facts;
  const lines = readClientRecord(told.transcript);
  return lines.length === 0 ? null : readTurn(lines, told);
}

/** Reads the price tables only when needed. */
function priced(usage: Usage, { dir, typed }: AnswerContext): Usage {
  return usage.costUsd === null ? pricedUsage(usage, readPrices({ dir }, typed.env)) : usage;
}
