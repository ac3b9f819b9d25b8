/** The agent that a conversation starts beside itself: for tasks that want none, and where nothing is to be had, why. */

import { createMissingAgent } from "../../agents/missing.ts";
import { chooseAgentSpec } from "../../compose/agent-choice.ts";
import { agentFor } from "../../compose/agents.ts";
import { LoopError } from "../../errors.ts";
import type { Agent } from "../../ports/agent.ts";
import { readConfig } from "../../store/files/config-file.ts";

export function headlessAgent(dir: string, root: string, env: NodeJS.ProcessEnv): Agent {
  try {
    return agentFor(chooseAgentSpec({}, readConfig({ dir }), env), root, env);
  } catch (error) {
    if (error instanceof LoopError) return createMissingAgent(error.message);
    throw error;
  }
}
