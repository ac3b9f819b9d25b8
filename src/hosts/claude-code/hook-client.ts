/** What is different about Claude Code among clients that ask us at their hooks. */

import { readSessionCost } from "../../store/ledger/session-cost.ts";
import type { HookClient } from "../conversation/hooks/hook-client.ts";
import { capOf } from "./hooks/block-cap.ts";
import { CLAUDE_COMMAND_NAME } from "./hooks/to-event.ts";
import { countUsage } from "./usage/turn-usage.ts";
import { isSomeoneWaiting, offsetOf, wasEscaped } from "./waiting.ts";
import { Waker } from "./wake.ts";

/** `pid`: of the client that has the conversation. */
export function claudeCode(dir: string, session: string, pid: number, env: NodeJS.ProcessEnv): HookClient {
  return {
    commandName: CLAUDE_COMMAND_NAME,
    cap: capOf(env),
    waking: new Waker(dir, pid),
    record: {
      isSomeoneWaiting,
      offsetOf,
      wasEscaped,
      // told to its status line
      costUsd: () => readSessionCost(dir, session),
      countUsage: (transcript, turns, now) => countUsage(dir, transcript, turns, now),
    },
  };
}
