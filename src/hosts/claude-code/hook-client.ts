/** Claude Code as a client with hooks. */
import { readSessionCost } from "../../store/ledger/session-cost.ts";
import type { HookClient } from "../conversation/hooks/hook-client.ts";
import { capOf } from "./hooks/block-cap.ts";
import { CLAUDE_COMMAND_NAME } from "./hooks/to-event.ts";
import { isSomeoneWaiting, offsetOf, wasEscaped } from "./usage/transcript.ts";
import { countUsage } from "./usage/turn-usage.ts";
import { wakingBy } from "./wake.ts";

/** `pid`: the process of the client. */
export function claudeCode(dir: string, session: string, pid: number, env: NodeJS.ProcessEnv): HookClient {
  return {
    commandName: CLAUDE_COMMAND_NAME,
    cap: capOf(env),
    waking: wakingBy(dir, pid),
    record: {
      isSomeoneWaiting,
      offsetOf,
      wasEscaped,
      // the client reports its cost to the status line
      costUsd: () => readSessionCost(dir, session),
      countUsage: (transcript, turns, now) => countUsage(dir, transcript, turns, now),
    },
  };
}
