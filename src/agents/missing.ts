/** Takes the place of an agent that is not installed: every turn fails with the reason. */
import type { Agent } from "../ports/agent.ts";
import { failedEnd } from "./process/reasons.ts";

export function createMissingAgent(reason: string): Agent {
  return {
    name: "none",
    run: async () => failedEnd("fault", reason),
    reconcile: async () => ({ kind: "lost", reason }),
  };
}
