/** What every conversation is put together from: the store, its seat, and the engine that acts for it. */
import { hostname } from "node:os";
import { dirname } from "node:path";
import { createEngine, createReconciler } from "../../compose/engine.ts";
import { openStore } from "../../compose/open-store.ts";
import type { ProcessRef } from "../../core/base.ts";
import { ownerOf } from "../../core/session.ts";
import type { Engine, EngineNews } from "../../engine/engine.ts";
import type { Host } from "../../engine/parts.ts";
import type { Agent } from "../../ports/agent.ts";
import type { Notifier } from "../../ports/notifier.ts";
import type { Store } from "../../ports/store.ts";
import { procStart } from "../../system/process.ts";
import { headlessAgent } from "./headless-agent.ts";
import { Seat } from "./seat.ts";

export interface SeatSetup {
  /** `.loop` of the project; it is there. */
  readonly dir: string;
  readonly session: string;
  /** The client's own process. */
  readonly client: ProcessRef;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  readonly say: (message: string) => void;
}

/** How the conversation itself takes part. Called only after `openSeat` has returned. */
export interface SeatWiring {
  /** The cost of the conversation so far, as the client says it. */
  readonly costUsd: () => number | null;
  /** Who takes turns into the conversation; `processes` finds turns that were processes of their own. */
  readonly agent: (seat: Seat, processes: Agent) => Agent;
  readonly isFree: Host["isFree"];
  /** Left out: the client starts the agents of stories itself. */
  readonly hasSubAgents?: false;
  readonly notify: Notifier["notify"];
  readonly observe: (news: EngineNews) => void;
}

export interface OpenSeat {
  readonly store: Store;
  readonly seat: Seat;
  readonly engine: Engine;
}

export function openSeat(setup: SeatSetup, wiring: SeatWiring): OpenSeat {
  const { dir, session, client, env, now, say } = setup;
  const root = dirname(dir);
  const store = openStore(dir, { now, say });
  const { costUsd, hasSubAgents } = wiring;
  const seat = new Seat({
    sessions: store.sessions,
    session,
    client,
    now,
    costUsd,
    onChange: () => engine.nudge(),
  });
  const engine: Engine = createEngine({
    store,
    project: root,
    agent: wiring.agent(seat, createReconciler(root)),
    self: { owner: ownerOf(session), pid: process.pid, procStart: procStart(process.pid), host: hostname() },
    firing: env.LOOP_DISABLE_SCHEDULER !== "1",
    backlogs: true,
    conversation: {
      host: { isFree: wiring.isFree },
      headless: () => headlessAgent(dir, root, env),
      ...(hasSubAgents === undefined ? {} : { hasSubAgents }),
    },
    notifier: { notify: wiring.notify },
    observe: (news) => {
      if (news.type === "problem") say(news.message);
      wiring.observe(news);
    },
  });
  return { store, seat, engine };
}
