/** Puts a conversation of pi together: store, seat, engine and what they tell each other. */

import { hostname } from "node:os";
import { dirname } from "node:path";
import { withPrices } from "../../agents/prices.ts";
import { createEngine, createReconciler } from "../../compose/engine.ts";
import { type NoticeKind, tellsStand } from "../../core/base.ts";
import { renderStatusLine } from "../../core/text/status-line.ts";
import { progressOf, progressParts } from "../../core/views/progress.ts";
import type { Engine, EngineNews } from "../../engine/engine.ts";
import { readPrices } from "../../store/files/prices-file.ts";
import { FolderStore } from "../../store/folder/folder-store.ts";
import { ownerOf } from "../../store/folder/session-records.ts";
import { procStart } from "../../system/process.ts";
import { headlessAgent } from "../conversation/headless-agent.ts";
import { Seat } from "../conversation/seat.ts";
import { PiConversation } from "./conversation.ts";
import { createPiAgent } from "./pi-agent.ts";
import type { Terminal } from "./terminal.ts";

export interface PiSetup {
  /** `.loop` of the project; it is there. */
  readonly dir: string;
  readonly session: string;
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  readonly onNews: (news: EngineNews) => void;
}

export interface OpenPi {
  readonly dir: string;
  readonly conversation: PiConversation;
  readonly store: FolderStore;
  readonly engine: Engine;
  readonly seat: Seat;
  /** `loop:2 (passive)`; empty: there is nothing to tell. */
  statusLine(): string;
}

const COLUMNS = 100;

export function openPi({ dir, session, terminal, env, onNews }: PiSetup): OpenPi {
  const root = dirname(dir);
  const now = Date.now;
  const client = { pid: process.pid, start: procStart(process.pid) };
  const say = (message: string) => terminal.say(`[LOOP] ${message}`, "warning");
  const store = new FolderStore(dir, { now, say });
  const seat = new Seat({
    dir,
    session,
    client,
    now,
    costUsd: () => null,
    onChange: () => engine.nudge(),
  });
  const agent = withPrices(
    createPiAgent({
      seat,
      now,
      processes: createReconciler(root),
      whenFree: (signal) => conversation.whenFree(signal),
      send: (text) => conversation.send(text),
      stop: () => conversation.stop(),
    }),
    readPrices({ dir }, env),
  );
  const engine: Engine = createEngine({
    store,
    project: root,
    agent,
    self: { owner: ownerOf(session), pid: client.pid, procStart: client.start, host: hostname() },
    firing: env.LOOP_DISABLE_SCHEDULER !== "1",
    backlogs: true,
    conversation: {
      host: { isFree: () => conversation.host.isFree() },
      headless: () => headlessAgent(dir, root, env),
      hasSubAgents: false,
    },
    notifier: { notify: (title, body, kind) => note(terminal, title, body, kind) },
    observe: (news) => {
      if (news.type === "problem") say(news.message);
      onNews(news);
    },
  });
  const conversation: PiConversation = new PiConversation({
    dir,
    root,
    session,
    store,
    seat,
    engine,
    terminal,
    env,
    now,
  });
  return { dir, conversation, store, engine, seat, statusLine: () => statusLineOf(store, session, now()) };
}

/** How the goal of this conversation stands is said anyway. */
function note(terminal: Terminal, title: string, body: string, kind: NoticeKind): void {
  if (tellsStand(kind)) return;
  terminal.say(`[LOOP] ${title}: ${body}`, "warning");
}

function statusLineOf(store: FolderStore, session: string, now: number): string {
  const held = store.lease();
  const lease = held !== null && store.holderState(held, now) === "alive" ? held : null;
  const progress = progressOf(progressParts(store.loops(), lease, now));
  return renderStatusLine(progress, { session, now, columns: COLUMNS });
}
