/** What each hook of the client is answered. The one table for the resident server and for a hook on its own. */
import type { Goal } from "../../../core/goal/goal.ts";
import type { Loop } from "../../../core/loop.ts";
import { type Bound, pauseBound } from "../../conversation/bound-loop.ts";
import { resumeAnswer, withMissed } from "../../conversation/resume.ts";
import { backpropOf, recordTool } from "../../conversation/tool-use.ts";
import { carryOut, type TypedParts, typedIn } from "../../conversation/typed.ts";
import type { OpenConversation } from "../open-conversation.ts";
import { type HookAnswer, NOTHING } from "./hook-answer.ts";
import type { HookPayload } from "./payload.ts";

export interface AnswerContext {
  /** null: there is no `.loop` in this project. */
  readonly open: () => OpenConversation | null;
  readonly typed: TypedParts;
  readonly dir: string;
  readonly now: () => number;
}

export async function answerHook(
  payload: HookPayload,
  context: AnswerContext,
  signal: AbortSignal,
): Promise<HookAnswer> {
  if (payload.event === "PreToolUse") return isOurTool(payload.tool) ? { kind: "permit" } : NOTHING;
  const typed = isPrompt(payload.event) ? typedIn(payload.prompt) : null;
  if (typed !== null)
    return payload.event === "UserPromptExpansion" ? answerTyped(typed, payload, context, signal) : NOTHING;
  const open = context.open();
  if (open === null) return NOTHING;
  const { conversation } = open;
  conversation.arrive(payload);
  switch (payload.event) {
    case "Stop":
      return conversation.stop(payload, signal);
    case "StopFailure":
      return conversation.stopFailure(payload);
    case "UserPromptSubmit":
      return conversation.submit(payload, signal);
    case "PostToolUse":
    case "PostToolUseFailure":
      return noteTool(payload, open, context);
    case "UserPromptExpansion":
      return NOTHING;
    case "Notification":
      await conversation.idle();
      return NOTHING;
    case "SessionStart":
      await open.store.catchUp();
      // in the middle of a prompt, where it became too long; one that was typed is a prompt of its own
      if (payload.source !== "compact" || payload.promptId !== open.seat.record.promptId) conversation.rest();
      return resumeAnswer({
        goal: goalOf(conversation.bound()),
        loops: loopsFound(payload, open, context),
        turnId: payload.source === "compact" ? turnUnderWay(open) : null,
      });
    case "SessionEnd":
      return endSession(open, context);
  }
}

/** Carried out here; the model is asked only where a loop of this conversation goes on with its turn. */
async function answerTyped(
  typed: string,
  payload: HookPayload,
  context: AnswerContext,
  signal: AbortSignal,
): Promise<HookAnswer> {
  // First of all: from here on the conversation is busy, and nothing that the command sets going wakes it.
  await context.open()?.conversation.begin(payload);
  const carried = await carryOut(typed, { ...context.typed, session: payload.session });
  const open = context.open();
  if (open === null) return { kind: "local", text: carried.text };
  const { conversation, store } = open;
  await conversation.begin(payload);
  await store.catchUp();
  const loop = carried.mayGoOn ? conversation.bound() : undefined;
  if (loop?.status === "active" && (await open.engine.lead())) {
    const text = await conversation.offer(payload.promptId, signal);
    if (text !== null) return { kind: "context", text, message: carried.text };
  }
  const why = carried.mayGoOn ? conversation.whyNot() : null;
  conversation.rest();
  return {
    kind: "local",
    text: [carried.text, why].filter((part) => part !== null && part !== "").join("\n"),
  };
}

function goalOf(loop: Bound | undefined): Goal | undefined {
  return loop?.kind === "goal" ? loop : undefined;
}

function isPrompt(event: HookPayload["event"]): boolean {
  return event === "UserPromptSubmit" || event === "UserPromptExpansion";
}

const OUR_TOOLS = /^mcp__plugin_loopwright_loop__(?!hook$)/;

function isOurTool(tool: string): boolean {
  return OUR_TOOLS.test(tool);
}

/** What is due is nobody's fault where another process runs, or where this conversation only became shorter. */
function loopsFound(
  { source }: HookPayload,
  open: OpenConversation,
  context: AnswerContext,
): readonly Loop[] {
  const { store, conversation } = open;
  const now = context.now();
  const lease = store.lease();
  const isRunElsewhere =
    lease !== null && lease.owner !== conversation.owner && store.holderState(lease, now) === "alive";
  const loops = [...store.loops()];
  return source === "compact" || isRunElsewhere ? loops : withMissed(loops, now);
}

function turnUnderWay({ seat }: OpenConversation): string | null {
  const { turn } = seat.record;
  return turn?.end === null ? turn.id : null;
}

function noteTool(payload: HookPayload, { seat }: OpenConversation, { dir, now }: AnswerContext): HookAnswer {
  const { turn, blocks } = seat.record;
  const isUnderWay = turn !== null && turn.end === null;
  recordTool(dir, payload, isUnderWay ? turn.loopId : null, now());
  const isOurs = isUnderWay && payload.agentId === "";
  if (isOurs || blocks > 0)
    seat.update({ blocks: 0, ...(isOurs ? { turn: { ...turn, toolCalls: turn.toolCalls + 1 } } : {}) });
  const directive = isOurs ? backpropOf(dir, payload, now()) : "as before";
  if (directive !== "as before") seat.update({ directive });
  return NOTHING;
}

/** A stopped loop stays stopped: it goes on when a person says so, here or elsewhere. */
async function endSession(
  { conversation, seat, store }: OpenConversation,
  { now }: AnswerContext,
): Promise<HookAnswer> {
  await store.catchUp();
  const loop = conversation.bound();
  if (loop?.status === "active") await pauseBound(store, loop, "its conversation ended", now());
  seat.end({ kind: "interrupted", reason: "its conversation ended" });
  await conversation.price();
  seat.update({ state: "over" });
  await store.publish();
  return NOTHING;
}
