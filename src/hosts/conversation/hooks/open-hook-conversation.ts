/** Opens a conversation whose client uses hooks. */
import type { Turn } from "../../../ports/agent.ts";
import { type OpenSeat, openSeat, type SeatSetup } from "../open-seat.ts";
import { createHookAgent } from "./hook-agent.ts";
import type { HookClient } from "./hook-client.ts";
import { HookConversation } from "./hook-conversation.ts";
import { wakeUp } from "./wake-up.ts";

export interface OpenConversation extends OpenSeat {
  readonly conversation: HookConversation;
}

export function openHookConversation(setup: SeatSetup, client: HookClient): OpenConversation {
  const open = openSeat(setup, {
    costUsd: client.record.costUsd,
    agent: (seat, processes) =>
      createHookAgent({
        seat,
        dir: setup.dir,
        processes,
        wake: (turn, signal) => wakeUp(seat, client.waking, whatFor(turn), signal),
      }),
    isFree: () => conversation.host.isFree(),
    notify: (title, body, kind) => conversation.note(title, body, kind),
    observe: (news) => {
      // another process of this conversation leads now: its hook sends the turn
      if (news.type === "role" && news.role !== "owner") open.seat.withdrawOffer();
      conversation.settleOffer();
    },
  });
  const conversation: HookConversation = new HookConversation(open, client);
  return { ...open, conversation };
}

function whatFor({ env, loopId }: Turn): string {
  return env.LOOP_NONCE === undefined ? `task ${loopId} is due` : `goal ${loopId} goes on`;
}
