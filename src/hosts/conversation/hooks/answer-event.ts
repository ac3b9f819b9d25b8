/** Answers each event of a conversation. All clients with hooks use this table. */
import type { Loop } from "../../../core/loop.ts";
import { type ConversationAnswer, NOTHING } from "../answer.ts";
import type { ConversationEvent } from "../event.ts";
import { resumeAnswer, withMissed } from "../resume.ts";
import { noteTool, type UsedTool } from "../tool-use.ts";
import { carryOutTyped, type TypedParts } from "../typed.ts";
import type { OpenConversation } from "./open-hook-conversation.ts";

export interface AnswerContext {
  /** null: there is no `.loop` in this project. */
  readonly open: () => OpenConversation | null;
  readonly typed: TypedParts;
  readonly dir: string;
  /** Can the answer to a prompt add context for the model? If not, a loop starts at the stop of that prompt. */
  readonly givesContext: boolean;
}

export async function answerEvent(
  event: ConversationEvent,
  context: AnswerContext,
  signal: AbortSignal,
): Promise<ConversationAnswer> {
  if (event.type === "typed") return answerTyped(event, context, signal);
  const open = context.open();
  if (open === null) return NOTHING;
  const { conversation } = open;
  conversation.arrive(event);
  switch (event.type) {
    case "stopped":
      return conversation.stop(event, signal);
    case "failed":
      return conversation.stopFailure(event);
    case "prompted":
      return conversation.submit(event, signal);
    case "tool":
      takeTool(event.used, open);
      return NOTHING;
    case "idle":
      await conversation.idle();
      return NOTHING;
    case "session-started":
      return answerStart(event, open, context);
    case "session-ended":
      await conversation.end();
      return NOTHING;
    case "other":
      return NOTHING;
  }
}

/** Runs the command here. The model gets a turn only if a loop of this conversation continues. */
async function answerTyped(
  prompt: Extract<ConversationEvent, { type: "typed" }>,
  context: AnswerContext,
  signal: AbortSignal,
): Promise<ConversationAnswer> {
  // Before the command runs: a busy conversation is not woken by anything that the command starts.
  await context.open()?.conversation.begin(prompt);
  const carried = await carryOutTyped(prompt.words, context.typed);
  const open = context.open();
  if (open === null) return { kind: "local", text: carried.text };
  const { conversation, store } = open;
  await conversation.begin(prompt);
  await store.catchUp();
  const isGoingOn = carried.mayGoOn && conversation.standing.bound()?.status === "active";
  // the loop's first turn comes at the stop of this prompt
  if (isGoingOn && !context.givesContext) return NOTHING;
  if (isGoingOn && (await open.engine.lead())) {
    const text = await conversation.offer(prompt.promptId, signal);
    if (text !== null) return { kind: "context", text, message: carried.text };
  }
  const why = carried.mayGoOn && context.givesContext ? conversation.whyNot() : null;
  conversation.rest();
  return {
    kind: "local",
    text: [carried.text, why].filter((part) => part !== null && part !== "").join("\n"),
  };
}

async function answerStart(
  { isCompacted, promptId }: Extract<ConversationEvent, { type: "session-started" }>,
  open: OpenConversation,
  context: AnswerContext,
): Promise<ConversationAnswer> {
  const { conversation, seat, store } = open;
  await store.catchUp();
  // an automatic compaction happens inside a running prompt; a typed /compact is a prompt of its own
  if (!isCompacted || promptId !== seat.record.promptId) conversation.rest();
  const bound = conversation.standing.bound();
  return resumeAnswer({
    goal: bound?.kind === "goal" ? bound : undefined,
    loops: loopsFound(isCompacted, open),
    turnId: isCompacted ? (seat.running?.id ?? null) : null,
    commandName: context.typed.commandName,
  });
}

/** Missed tasks are not reported after a compaction, or while another process runs the loops. */
function loopsFound(isCompacted: boolean, { store, conversation, now }: OpenConversation): readonly Loop[] {
  const lease = store.lease();
  const isRunElsewhere =
    lease !== null &&
    lease.owner !== conversation.standing.owner &&
    store.holderState(lease, now()) === "alive";
  const loops = [...store.loops()];
  return isCompacted || isRunElsewhere ? loops : withMissed(loops, now());
}

/** Counts calls in a loop's turn. Any tool call resets the client's count of stop answers. */
function takeTool(used: UsedTool, open: OpenConversation): void {
  const { seat } = open;
  const turn = used.isOfSubAgent ? null : seat.running;
  if (turn !== null) seat.update({ blocks: 0, turn: { ...turn, toolCalls: turn.toolCalls + 1 } });
  else if (seat.record.blocks > 0) seat.update({ blocks: 0 });
  noteTool(open, used);
}
