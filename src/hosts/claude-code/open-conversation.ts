/** Puts a conversation together: store, seat, engine and what they tell each other. */

import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { createEngine, createReconciler } from "../../compose/engine.ts";
import type { ProcessRef } from "../../core/base.ts";
import type { Engine, EngineNews } from "../../engine/engine.ts";
import type { Turn } from "../../ports/agent.ts";
import { FolderStore } from "../../store/folder/folder-store.ts";
import { ownerOf } from "../../store/folder/session-records.ts";
import { readSessionCost } from "../../store/ledger/session-cost.ts";
import { procStart } from "../../system/process.ts";
import { headlessAgent } from "../conversation/headless-agent.ts";
import { Seat } from "../conversation/seat.ts";
import { Conversation } from "./conversation.ts";
import { createConversationAgent } from "./conversation-agent.ts";
import { Waker } from "./wake.ts";

export interface ConversationSetup {
  /** `.loop` of the project; it is there. */
  readonly dir: string;
  readonly session: string;
  /** The client's own process. */
  readonly client: ProcessRef;
  readonly env: NodeJS.ProcessEnv;
  readonly say: (message: string) => void;
  readonly now?: () => number;
}

export interface OpenConversation {
  readonly conversation: Conversation;
  readonly store: FolderStore;
  readonly engine: Engine;
  readonly seat: Seat;
}

export function openConversation(setup: ConversationSetup): OpenConversation {
  const { dir, session, client, env, say, now = Date.now } = setup;
  const root = dirname(dir);
  const store = new FolderStore(dir, { now, say });
  const seat = new Seat({
    dir,
    session,
    client,
    now,
    costUsd: () => readSessionCost(dir, session),
    onChange: () => engine.nudge(),
  });
  const waker = new Waker(dir, client.pid, seat);
  const agent = createConversationAgent({
    seat,
    dir,
    processes: createReconciler(root),
    wake: (turn, signal) => waker.wake(whatFor(turn), signal),
  });
  const engine: Engine = createEngine({
    store,
    project: root,
    agent,
    self: { owner: ownerOf(session), pid: process.pid, procStart: procStart(process.pid), host: hostname() },
    firing: env.LOOP_DISABLE_SCHEDULER !== "1",
    backlogs: true,
    conversation: {
      host: { isFree: () => conversation.host.isFree() },
      headless: () => headlessAgent(dir, root, env),
    },
    notifier: { notify: (title, body, kind) => conversation.note(title, body, kind) },
    observe: (news: EngineNews) => {
      if (news.type === "problem") say(news.message);
      // another process of the conversation has taken it up: the turn goes out with a hook of that one
      if (news.type === "role" && news.role !== "owner") seat.withdrawOffer();
      conversation.settleOffer();
    },
  });
  const conversation: Conversation = new Conversation({
    dir,
    session,
    store,
    seat,
    waker,
    engine,
    env,
    now,
    costUsd: () => readSessionCost(dir, session),
  });
  return { conversation, store, engine, seat };
}

function whatFor({ env, loopId }: Turn): string {
  return env.LOOP_NONCE === undefined ? `task ${loopId} is due` : `goal ${loopId} goes on`;
}

export function loopDirOf(root: string): string {
  return join(root, ".loop");
}
