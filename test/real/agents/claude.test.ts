import { describeAgent } from "../../support/agents/matrix.ts";

describeAgent({
  world: "claude-acp",
  agent: "claude:acp",
  process: /claude-agent-acp/,
  classes: { 429: "quota", 500: "outage", 401: "auth" },
  denied: "told",
  takesTools: true,
});
