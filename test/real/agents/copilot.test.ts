import { describeAgent } from "../../support/agents/matrix.ts";

describeAgent({
  world: "copilot",
  agent: "copilot",
  process: /copilot.* --acp/,
  classes: { 429: "quota", 500: "outage", 401: "auth" },
  denied: "ends",
  takesTools: true,
  onDemand: true,
});
