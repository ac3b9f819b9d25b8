/** Agents as files name them: one, or several of which the next takes over from the one before. */
import * as z from "zod";
import { parseAgentList } from "../core/agents.ts";
import type { AgentSpec } from "../core/goal/terms.ts";

/** One error for both forms: zod would say of each what it is not. */
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
