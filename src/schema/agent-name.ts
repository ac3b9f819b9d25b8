/** The agent in a settings file: one name, or a list in which each agent is the fallback of the one before. */
import * as z from "zod";
import { parseAgentList } from "../core/agents.ts";
import type { AgentSpec } from "../core/goal/goal.ts";

/** One error for both forms; zod's own error would describe each form. */
export const agentChoice = z
  .union([z.string(), z.array(z.string()).max(10)], {
    error: "expected the name of an agent, or a list of names",
  })
  .transform((value, context): AgentSpec => {
    const parsed = parseAgentList(typeof value === "string" ? [value] : value);
    if (parsed.kind === "ok") return parsed.spec;
    context.addIssue(parsed.message);
    return z.NEVER;
  });
