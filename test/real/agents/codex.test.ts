import { describeAgent } from "../../support/agents/matrix.ts";

describeAgent({
  world: "codex",
  agent: "codex:acp",
  process: /codex-acp/,
  classes: { 429: "quota", 500: "outage", 401: "auth" },
  denied: "ends",
  takesTools: true,
});
