/** Opens a pi conversation: store, seat, engine and their connections. */
import { withPrices } from "../../agents/prices.ts";
import { type NoticeKind, tellsStand } from "../../core/base.ts";
import { renderStatusLine } from "../../core/text/status-line.ts";
import { progressOf } from "../../core/views/progress.ts";
import type { EngineNews } from "../../engine/engine.ts";
import type { Store } from "../../ports/store.ts";
import { readPrices } from "../../store/files/prices-file.ts";
import { procStart } from "../../system/process.ts";
import { type OpenSeat, openSeat } from "../conversation/open-seat.ts";
import { PI_COMMAND_NAME } from "./command-name.ts";
import { PiConversation } from "./conversation.ts";
import { createPiSeatAgent } from "./pi-agent.ts";
import type { Terminal } from "./terminal.ts";

interface PiSetup {
  /** The project's `.loop` folder, which exists. */
  readonly dir: string;
  readonly session: string;
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  readonly onNews: (news: EngineNews) => void;
}

export interface OpenPi extends OpenSeat {
  readonly conversation: PiConversation;
  /** `loop:2 (passive)`; empty: nothing to show. */
  statusLine(): string;
}

const COLUMNS = 100;

export function openPi({ dir, session, terminal, env, onNews }: PiSetup): OpenPi {
  const now = Date.now;
  const client = { pid: process.pid, start: procStart(process.pid) };
  const say = (message: string) => terminal.say(`[LOOP] ${message}`, "warning");
  const open = openSeat(
    { dir, session, client, env, now, say },
    {
      costUsd: () => null,
      agent: (seat, processes) =>
        withPrices(
          createPiSeatAgent({ seat, now, processes, conversation: () => conversation }),
          readPrices({ dir }, env),
        ),
      isFree: () => conversation.host.isFree(),
      hasSubAgents: false,
      notify: (title, body, kind) => note(terminal, title, body, kind),
      observe: onNews,
    },
  );
  const conversation: PiConversation = new PiConversation(open, terminal);
  return { ...open, conversation, statusLine: () => statusLineOf(open.store, session, now()) };
}

/** The status of this conversation's goal is shown anyway. */
function note(terminal: Terminal, title: string, body: string, kind: NoticeKind): void {
  if (tellsStand(kind)) return;
  terminal.say(`[LOOP] ${title}: ${body}`, "warning");
}

function statusLineOf(store: Store, session: string, now: number): string {
  const held = store.lease();
  const lease = held !== null && store.holderState(held, now) === "alive" ? held : null;
  const progress = progressOf(store.loops(), lease, now);
  return renderStatusLine(progress, { session, commandName: PI_COMMAND_NAME, now, columns: COLUMNS });
}
