/** Opens the parts of every conversation: the store, the seat, and the engine that acts for it. */
import { hostname } from "node:os";
import { dirname } from "node:path";
import { createMissingAgent } from "../../agents/missing.ts";
import { chooseAgentSpec } from "../../compose/agent-choice.ts";
import { agentFor } from "../../compose/agents.ts";
import { createEngine, createReconciler } from "../../compose/engine.ts";
import { openStore } from "../../compose/open-store.ts";
import type { ProcessRef } from "../../core/base.ts";
import { ownerOf } from "../../core/session.ts";
import type { Engine, EngineNews } from "../../engine/engine.ts";
import type { Host } from "../../engine/parts.ts";
import { LoopError } from "../../errors.ts";
import type { Agent } from "../../ports/agent.ts";
import type { Notifier } from "../../ports/notifier.ts";
import type { Store } from "../../ports/store.ts";
import { readConfig } from "../../store/files/config-file.ts";
import { procStart } from "../../system/process.ts";
import { Seat } from "./seat.ts";

export interface SeatSetup {
  /** The project's `.loop` folder, which exists. */
  readonly dir: string;
  readonly session: string;
  /** The client's own process. */
  readonly client: ProcessRef;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  readonly say: (message: string) => void;
}

/** The client's part. Called only after `openSeat` has returned. */
interface SeatWiring {
  /** The cost of the conversation so far, as the client reports it. */
  readonly costUsd: () => number | null;
  /** Creates the agent that puts turns into the conversation; `processes` finds turns that ran as processes. */
  readonly agent: (seat: Seat, processes: Agent) => Agent;
  readonly isFree: Host["isFree"];
  /** Left out: the client can start sub-agents for stories. */
  readonly hasSubAgents?: false;
  readonly notify: Notifier["notify"];
  readonly observe: (news: EngineNews) => void;
}

export interface OpenSeat extends SeatSetup {
  readonly store: Store;
  readonly seat: Seat;
  readonly engine: Engine;
}

export function openSeat(setup: SeatSetup, wiring: SeatWiring): OpenSeat {
  const { dir, session, client, env, now, say } = setup;
  const root = dirname(dir);
  const store = openStore(dir, { now, say });
  const { costUsd, hasSubAgents } = wiring;
  const { sessions } = store;
  const seat = new Seat({ sessions, session, client, now, costUsd, onChange: () => engine.nudge() });
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
  return { ...setup, store, seat, engine };
}

/** The agent that a conversation starts as a separate process, for headless tasks. */
function headlessAgent(dir: string, root: string, env: NodeJS.ProcessEnv): Agent {
  try {
    return agentFor(chooseAgentSpec({}, readConfig({ dir }), env), root, env);
  } catch (error) {
    if (error instanceof LoopError) return createMissingAgent(error.message);
    throw error;
  }
}
